// Finding a line, in the program or in what remains of it.
import { createSearch } from "../../core/search.js";

const SCOPES = [
  { id: "all", label: "in both" },
  { id: "program", label: "the program" },
  { id: "remains", label: "what remains" },
];

/** The search of a PartialExplorer; matches are rows of both programs, counted from the first one's. */
export function createFinder(explorer) {
  const { model } = explorer;
  const finder = { search: null, matches: [], restore };
  finder.search = createSearch({
    scopes: SCOPES,
    placeholder: "find a line, an operator, a name",
    onChange: filter,
    onMove: move,
  });

  function filter({ query, scope, only }) {
    const wanted = query.toLowerCase();
    const inScope = (row) => scope === "all" || (scope === "program") === row < model.split;
    finder.matches = wanted
      ? model.texts
          .map((_, row) => row)
          .filter(
            (row) => inScope(row) && explorer.isShown(row) && model.texts[row].toLowerCase().includes(wanted),
          )
      : [];
    const own = new Set(finder.matches);
    const narrow = only && wanted;
    explorer.narrowTo(
      narrow && scope !== "remains" ? (row) => own.has(row) : null,
      narrow && scope !== "program" ? (row) => own.has(row + model.split) : null,
    );
    explorer.rows.mark("match", narrow ? [] : finder.matches.filter((row) => row < model.split));
    explorer.remains.mark(
      "match",
      narrow ? [] : finder.matches.filter((row) => row >= model.split).map((row) => row - model.split),
    );
    if (explorer.ready) explorer.ctx.changed();
    return finder.matches.length;
  }

  function move(by) {
    const { matches } = finder;
    if (!matches.length) return;
    const at = explorer.chosen();
    explorer.visit(
      by > 0
        ? (matches.find((row) => row > at) ?? matches[0])
        : (matches.findLast((row) => row < at) ?? matches.at(-1)),
    );
  }

  function restore(state) {
    finder.search.set({ query: state.q, scope: state.in ?? "all", only: state.only === "1" });
    if (!state.q) finder.search.el.hidden = true;
  }
  return finder;
}
