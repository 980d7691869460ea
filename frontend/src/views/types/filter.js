// What a search means: which rows match, and which steps concern the rows that are kept.
import { rowText } from "../../core/rowmodel.js";

const OPERATOR = 4;
export const SCOPES = [
  { id: "all", label: "anywhere" },
  { id: "op", label: "operators" },
  { id: "var", label: "variables" },
  { id: "type", label: "types" },
];

/** `match(query, scope)` → the rows that match, in order; types are those of the last state, `final`. */
export function createMatcher(view, varsOn, relsOn, final) {
  const { rows } = view;
  const lower = (text) => text.toLowerCase();
  const texts = rows.map((row) => rowText(row).toLowerCase());

  function operators(row) {
    const named = rows[row].tokens.filter(({ kind }) => kind === OPERATOR).map(({ text }) => lower(text));
    return [...relsOn[row].map((rel) => lower(view.relations[rel].name)), ...named];
  }
  const variables = (row) =>
    varsOn[row].flatMap((v) => [lower(view.variables[v].name), lower(view.variables[v].what)]);
  const types = (row) =>
    varsOn[row].flatMap((v) => [lower(final.short[final.lead[v]]), lower(final.full[final.lead[v]])]);
  const labels = (row) => relsOn[row].map((rel) => lower(view.relations[rel].label));
  const inside = {
    op: operators,
    var: variables,
    type: types,
    all: (row) => [texts[row], ...variables(row), ...labels(row), ...types(row)],
  };

  return (query, scope) => {
    const wanted = query.toLowerCase();
    if (!wanted) return [];
    return rows
      .map((_, row) => row)
      .filter((row) => (inside[scope] ?? inside.all)(row).some((text) => text.includes(wanted)));
  };
}
