// Where a search looks, and which rows match there.
import { rowTexts, some } from "../../core/finder.js";

const OPERATOR = 4;

/** The scopes of a search; types are those of the last state, `final`. */
export function scopesOf(view, varsOn, relsOn, final) {
  const { rows, relations } = view;
  const texts = rowTexts(view);
  const operators = (row) => [
    ...relsOn[row].map((rel) => relations[rel].name),
    ...rows[row].tokens.filter(({ kind }) => kind === OPERATOR).map(({ text }) => text),
  ];
  const variables = (row) => varsOn[row].flatMap((v) => [view.variables[v].name, view.variables[v].what]);
  const types = (row) => varsOn[row].flatMap((v) => [final.short[final.lead[v]], final.full[final.lead[v]]]);
  const labels = (row) => relsOn[row].map((rel) => relations[rel].label);
  const anywhere = (row) => [texts[row], ...variables(row), ...labels(row), ...types(row)];
  return [
    { id: "all", label: "anywhere", has: (row, wanted) => some(anywhere(row), wanted) },
    { id: "op", label: "operators", has: (row, wanted) => some(operators(row), wanted) },
    { id: "var", label: "variables", has: (row, wanted) => some(variables(row), wanted) },
    { id: "type", label: "types", has: (row, wanted) => some(types(row), wanted) },
  ];
}
