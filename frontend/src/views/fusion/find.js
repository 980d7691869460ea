// Finding: a line, an operator, a pattern, a kernel.
import { rowText } from "../../core/rowmodel.js";
import { createSearch } from "../../core/search.js";

const SCOPES = [
  { id: "all", label: "anywhere" },
  { id: "op", label: "operators" },
  { id: "pattern", label: "patterns" },
  { id: "kernel", label: "kernels" },
];

/** The search of a FusionExplorer: `keep` is null or the set of the rows that are shown; `renew()` after it has other rows. */
export function createFinder(explorer) {
  const finder = { search: null, keep: null, matches: [], restore, renew };
  let texts = [];
  finder.search = createSearch({
    scopes: SCOPES,
    placeholder: "find an operator, a pattern, a kernel",
    onChange: filter,
    onMove: move,
  });

  function renew() {
    const { view } = explorer;
    texts = view.rows.map((row) => rowText(row).toLowerCase());
    if (finder.search.state().query) finder.search.run();
  }
  const here = (row) => explorer.model.onRow[row];
  const inside = {
    op: (row) => here(row).map((n) => explorer.model.nodes[n].label),
    pattern: (row) =>
      here(row).map((n) => explorer.model.patterns.get(explorer.variant.pattern[n])?.name ?? ""),
    kernel: (row) => here(row).map((n) => explorer.variant.kernels[explorer.variant.kernelOf[n]]?.name ?? ""),
  };
  const hit = (row, wanted, scope) => {
    const where = inside[scope] ? [scope] : Object.keys(inside);
    return (
      (!inside[scope] && texts[row].includes(wanted)) ||
      where.some((name) => inside[name](row).some((text) => text.toLowerCase().includes(wanted)))
    );
  };

  function filter({ query, scope, only }) {
    const wanted = query.toLowerCase();
    finder.matches = wanted ? texts.map((_, row) => row).filter((row) => hit(row, wanted, scope)) : [];
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
  renew();
  return finder;
}
