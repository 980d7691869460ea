// Search by operator, name or type, in the rows and in the graph at once.

import { importedText } from "../../core/imported.js";
import { createSearch } from "../../core/search.js";
/** @import { State } from "../../core/types.js" */
/** @import { IrExplorer } from "./view.js" */

const SCOPES = [
  { id: "all", label: "anywhere" },
  { id: "op", label: "operator" },
  { id: "name", label: "name" },
  { id: "type", label: "type" },
];
const IMPORTED = { id: "node", label: "node of the model" };
const MOST_MARKED = 4000;

/** @param {IrExplorer} explorer */
export function createFinder(explorer) {
  const { model, rows } = explorer;
  const finder = { found: [], at: -1, state: () => finder.search.state(), restore };
  const fields = {
    op: (i) => model.label(i),
    name: (i) => model.name(i),
    type: (i) => model.type(i),
    node: (i) => importedText(model.imported(i)),
    all: (i) =>
      `${model.label(i)} ${model.name(i)} ${model.type(i)} ${model.attributes(i)} ${importedText(model.imported(i))}`,
  };

  function matches(query, scope) {
    const wanted = query.toLowerCase(),
      field = fields[scope] ?? fields.all,
      out = [];
    if (!wanted) return out;
    for (let i = 0; i < model.count; i++) if (field(i).toLowerCase().includes(wanted)) out.push(i);
    return out;
  }

  function run({ query, scope, only }) {
    finder.found = matches(query, scope);
    finder.at = -1;
    const hits = new Set(finder.found.map((i) => explorer.rowOf(i)));
    rows.filter(only && query ? (row) => hits.has(row) : null);
    rows.mark("match", [...hits].filter((row) => row >= 0).slice(0, MOST_MARKED));
    if (explorer.ready) {
      explorer.mark();
      explorer.ctx.changed();
    }
    return finder.found.length;
  }

  /** @param {number} by */
  function move(by) {
    const n = finder.found.length;
    if (!n) return;
    finder.at = finder.at < 0 ? (by > 0 ? 0 : n - 1) : (finder.at + by + n) % n;
    explorer.go(finder.found[finder.at]);
  }

  function restore(/** @type {State} */ { q, in: scope, only }) {
    finder.search.set({ query: q ?? "", scope: scope ?? "all", only: only === "1" });
    finder.search.el.hidden = !q;
  }

  finder.search = createSearch({
    scopes: model.isImported ? [...SCOPES, IMPORTED] : SCOPES,
    onChange: run,
    onMove: move,
    placeholder: model.isImported ? "operator, name, type or module" : "operator, name or type",
  });
  return finder;
}
