// Finding: a line of the program, an operator, a line of the way back, what is kept.
import { rowText } from "../../core/rowmodel.js";
import { createSearch } from "../../core/search.js";
import { NUMBERS } from "./marks.js";

const SCOPES = [
  { id: "all", label: "anywhere" },
  { id: "op", label: "operators" },
  { id: "back", label: "the way back" },
  { id: "kept", label: "what is kept" },
];

/** The search of a GradientExplorer: `keep` is null or the set of the rows that are shown. */
export function createFinder(explorer) {
  const { view, model } = explorer;
  const { rows } = view;
  const finder = { search: null, keep: null, matches: [], restore };
  finder.search = createSearch({
    scopes: SCOPES,
    placeholder: "find an operator, a derivative",
    onChange: filter,
    onMove: move,
  });

  const texts = rows.map((row) => rowText(row).toLowerCase());
  const textOf = (n) =>
    model.lines[n].tokens
      .map(({ text }) => text)
      .join("")
      .toLowerCase();
  const back = rows.map((_, row) =>
    model.onRow[row] < 0 ? "" : model.beside[model.onRow[row]].map(textOf).join("\n"),
  );
  const value = (row) => model.values[model.onRow[row]];

  function hit(row, wanted, scope) {
    if (scope === "op") return (value(row)?.label ?? "").toLowerCase().includes(wanted);
    if (scope === "back") return back[row].includes(wanted);
    if (scope === "kept") return value(row)?.kept === NUMBERS && texts[row].includes(wanted);
    return texts[row].includes(wanted) || back[row].includes(wanted);
  }

  function filter({ query, scope, only }) {
    const wanted = query.toLowerCase();
    finder.matches = wanted ? rows.map((_, row) => row).filter((row) => hit(row, wanted, scope)) : [];
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
