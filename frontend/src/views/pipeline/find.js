// Finding in the stage that is shown: a line of the program before or after.
import { createSearch } from "../../core/search.js";

const SCOPES = [
  { id: "all", label: "before and after" },
  { id: "before", label: "before" },
  { id: "after", label: "after" },
];

/** The search of a PipelineExplorer; `run()` looks again, in the rows of another stage. */
export function createFinder(explorer) {
  const finder = { search: null, matches: [], restore, run: () => finder.search.run() };
  finder.search = createSearch({
    scopes: SCOPES,
    placeholder: "find a line, an operator, a name",
    onChange: filter,
    onMove: move,
  });

  function filter({ query, scope, only }) {
    const wanted = query.toLowerCase();
    const { model, stage, rows } = explorer;
    const sides = scope === "all" ? ["before", "after"] : [scope];
    finder.matches = wanted
      ? stage.pairs
          .map((_, i) => i)
          .filter((i) =>
            sides.some((side) => model.text(stage.pairs[i][side]).toLowerCase().includes(wanted)),
          )
      : [];
    const own = new Set(finder.matches);
    rows.filter(only && wanted ? (i) => own.has(i) : null);
    rows.mark("match", wanted && !only ? finder.matches : []);
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
    explorer.visit(next, false);
  }

  function restore(state) {
    finder.search.set({ query: state.q, scope: state.in ?? "all", only: state.only === "1" });
    if (!state.q) finder.search.el.hidden = true;
  }
  return finder;
}
