// Finding: a line, an operator, a buffer.
import { rowText } from "../../core/rowmodel.js";
import { createSearch } from "../../core/search.js";
import { bufferName } from "./columns.js";

const SCOPES = [
  { id: "all", label: "anywhere" },
  { id: "op", label: "operators" },
  { id: "buffer", label: "buffers" },
];

/** The search of a MemoryExplorer: `keep` is null or the set of the rows that are shown. */
export function createFinder(explorer) {
  const { view, model } = explorer;
  const { rows } = view;
  const finder = { search: null, keep: null, matches: [], restore };
  finder.search = createSearch({
    scopes: SCOPES,
    placeholder: "find an operator, a name, a buffer (b2)",
    onChange: filter,
    onMove: move,
  });
  const texts = rows.map((row) => rowText(row).toLowerCase());
  const ops = (row) => model.onRow[row].map((n) => model.values[n].label.toLowerCase());
  const buffers = (row) =>
    model.onRow[row]
      .map((n) => explorer.variant.lives[explorer.variant.lifeOf[n]])
      .filter(Boolean)
      .map(({ buffer }) => bufferName(buffer));
  const hit = {
    all: (row, wanted) => texts[row].includes(wanted) || buffers(row).includes(wanted),
    op: (row, wanted) => ops(row).some((label) => label.includes(wanted)),
    buffer: (row, wanted) => buffers(row).includes(wanted),
  };

  function filter({ query, scope, only }) {
    const wanted = query.toLowerCase();
    finder.matches = wanted ? rows.map((_, row) => row).filter((row) => hit[scope](row, wanted)) : [];
    finder.keep = only && wanted ? new Set(finder.matches) : null;
    explorer.rows.filter(finder.keep && ((row) => finder.keep.has(row)));
    explorer.rows.mark("match", wanted && !only ? finder.matches : []);
    explorer.keepSteps();
    if (explorer.ready) explorer.ctx.changed();
    return finder.matches.length;
  }

  function move(by) {
    const { matches } = finder;
    if (!matches.length) return;
    const at = explorer.rows.selected;
    const next =
      by > 0
        ? (matches.find((row) => row > at) ?? matches[0])
        : (matches.findLast((row) => row < at) ?? matches.at(-1));
    explorer.rows.reveal(next);
    explorer.rows.select(next, { byReader: true });
  }

  function restore(state) {
    finder.search.set({ query: state.q, scope: state.in ?? "all", only: state.only === "1" });
    if (!state.q) finder.search.el.hidden = true;
  }
  return finder;
}
