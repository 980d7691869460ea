// Where a page has a reference of operators, their names lead there.
import { h } from "./dom.js";
/** @import { BaseView } from "../generated/common.js" */
/** @import { Attributes } from "./types.js" */

/** @typedef {Pick<BaseView, "rows"> & { reference?: Map<string, string> }} View */

const OPERATOR = 4;
const FITS = /^[a-z_/]+\.html#op-[a-z0-9-]+$/;

/**
 * Notes, for a view and what is derived from it, where each operator is described: `{ name: address }`; what is no such address is left out.
 * @param {View} view
 * @param {Record<string, string> | null | undefined} addresses
 */
export function setOperators(view, addresses) {
  view.reference = new Map(Object.entries(addresses ?? {}).filter(([, address]) => FITS.test(address)));
}

/**
 * The address of an operator's description, or null.
 * @param {View} view
 * @param {string} name
 */
export const operatorAddress = ({ reference }, name) => reference?.get(name) ?? null;

/**
 * A token of a row as an element: a link, for an operator that is described somewhere. `attributes` are the element's.
 * @param {View} view
 * @param {number} kind
 * @param {string} text
 * @param {Attributes} attributes
 */
export function tokenElement(view, kind, text, attributes) {
  const href = kind === OPERATOR ? operatorAddress(view, text) : null;
  if (!href) return h("span", attributes, text);
  return h(
    "a",
    {
      ...attributes,
      class: `${attributes.class} op`,
      href,
      tabindex: -1,
      title: `${text}: in the operator reference`,
    },
    text,
  );
}
