// Where a search looks.
/** @import { TypesView } from "../../generated/types.js" */

/**
 * The scopes of a search, and `typesAt(row)`: the types of the row's variables in the last state, `final`.
 * @param {TypesView} view
 */
export function scopesOf(view, varsOn, relsOn, final) {
  /** @param {number} row */
  const operators = (row) => [
    ...relsOn[row].map((rel) => view.relations[rel].name),
    ...view.rows[row].tokens.filter(({ kind }) => kind === 4).map(({ text }) => text),
  ];
  /** @param {number} row */
  const variables = (row) => varsOn[row].flatMap((v) => [view.variables[v].name, view.variables[v].what]);
  /** @param {number} row */
  const typesAt = (row) =>
    varsOn[row].flatMap((v) => [final.short[final.lead[v]], final.full[final.lead[v]]]);
  return {
    typesAt,
    scopes: [
      { id: "all", label: "anywhere" },
      { id: "op", label: "operators", field: "relation", names: true, texts: operators },
      { id: "var", label: "variables", texts: variables },
      { id: "type", label: "types" },
    ],
  };
}
