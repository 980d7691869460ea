// Where a search looks, and which rows match there.
import { rowTexts, some } from "../../core/finder.js";
/** @import { TypesView } from "../../generated/types.js" */

const OPERATOR = 4;

/**
 * The scopes of a search; types are those of the last state, `final`.
 * @param {TypesView} view
 */
export function scopesOf(view, varsOn, relsOn, final) {
  const { rows, relations } = view;
  const texts = rowTexts(view);
  /** @param {number} row */
  const operators = (row) => [
    ...relsOn[row].map((rel) => relations[rel].name),
    ...rows[row].tokens.filter(({ kind }) => kind === OPERATOR).map(({ text }) => text),
  ];
  /** @param {number} row */
  const variables = (row) => varsOn[row].flatMap((v) => [view.variables[v].name, view.variables[v].what]);
  /** @param {number} row */
  const types = (row) => varsOn[row].flatMap((v) => [final.short[final.lead[v]], final.full[final.lead[v]]]);
  /** @param {number} row */
  const labels = (row) => relsOn[row].map((rel) => relations[rel].label);
  /** @param {number} row */
  const anywhere = (row) => [texts[row], ...variables(row), ...labels(row), ...types(row)];
  return [
    { id: "all", label: "anywhere", has: (/** @type {number} */ row, wanted) => some(anywhere(row), wanted) },
    {
      id: "op",
      label: "operators",
      has: (/** @type {number} */ row, wanted) => some(operators(row), wanted),
    },
    {
      id: "var",
      label: "variables",
      has: (/** @type {number} */ row, wanted) => some(variables(row), wanted),
    },
    { id: "type", label: "types", has: (/** @type {number} */ row, wanted) => some(types(row), wanted) },
  ];
}
