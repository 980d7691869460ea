// What a search means: which rows match, and which steps concern the rows that are kept.
import { TOKENS, rowText } from "../../core/rowmodel.js";

const OPERATOR = 4;
export const SCOPES = [
  { id: "all", label: "anywhere" }, { id: "op", label: "operators" }, { id: "var", label: "variables" }, { id: "type", label: "types" },
];

/** `match(query, scope)` → the rows that match, in order; types are those of the last state, `final`. */
export function createMatcher(view, varsOn, relsOn, final) {
  const { rows } = view.program;
  const lower = (index) => (view.strings[index] ?? "").toLowerCase();
  const texts = rows.map((row) => rowText(row, view.strings).toLowerCase());

  function operators(row) {
    const list = rows[row][TOKENS];
    const out = relsOn[row].map((rel) => lower(view.rels[rel][0]));
    for (let i = 0; i < list.length; i += 3) if (list[i] === OPERATOR) out.push(lower(list[i + 1]));
    return out;
  }
  const variables = (row) => varsOn[row].flatMap((v) => [lower(view.vars[v][0]), lower(view.vars[v][2])]);
  const types = (row) => varsOn[row].flatMap((v) => [lower(final.short[final.lead[v]]), lower(final.full[final.lead[v]])]);
  const labels = (row) => relsOn[row].map((rel) => lower(view.rels[rel][2]));
  const inside = {
    op: operators, var: variables, type: types,
    all: (row) => [texts[row], ...variables(row), ...labels(row), ...types(row)],
  };

  return (query, scope) => {
    const wanted = query.toLowerCase();
    if (!wanted) return [];
    return rows.map((_, row) => row).filter((row) => (inside[scope] ?? inside.all)(row).some((text) => text.includes(wanted)));
  };
}
