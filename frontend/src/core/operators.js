// Where a page has a reference of operators, their names lead there.
import { h } from "./dom.js";

const OPERATOR = 4;
const FITS = /^[a-z_/]+\.html#op-[a-z0-9-]+$/;

/** Notes, for a view and what is derived from it, where each operator is described: `{ name: address }`; what is no such address is left out. */
export function setOperators(view, addresses) {
  view.reference = new Map(Object.entries(addresses ?? {}).filter(([, address]) => FITS.test(address)));
}

/** The address of an operator's description, or null. */
export const operatorAddress = ({ reference }, name) => reference?.get(name) ?? null;

/** A token of a row as an element: a link, for an operator that is described somewhere. `attributes` are the element's. */
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
