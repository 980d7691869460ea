// Finding and filtering: an operator, a variable, a type; one function; only the rows that match.
import { h } from "../../core/dom.js";
import { integer } from "../../core/links.js";
import { createSearch } from "../../core/search.js";
import { SCOPES, createMatcher } from "./filter.js";

/** From this many rows on, the search is there without being asked for. */
const MANY_ROWS = 60;

/** The search of a TypesExplorer: `keep(row)` is null or says which rows are shown, `fn` the chosen function or -1. */
export function createFinder(explorer) {
  const { view } = explorer;
  const match = createMatcher(view, explorer.varsOn, explorer.relsOn, explorer.final);
  const { functions } = view;
  const always = view.rows.length >= MANY_ROWS;
  const pick = h(
    "select",
    { "aria-label": "function", hidden: functions.length < 2 },
    h("option", { value: -1 }, "every function"),
    functions.map(({ name }, i) => h("option", { value: i }, name)),
  );
  const finder = { search: null, keep: null, fn: -1, matches: [], restore, close };
  finder.search = createSearch({
    scopes: SCOPES,
    extra: [pick],
    placeholder: "find an operator, a variable, a type",
    onChange: filter,
    onMove: move,
  });
  finder.search.el.hidden = !always;
  pick.addEventListener("change", () => {
    finder.fn = Number(pick.value);
    finder.search.run();
  });

  function filter({ query, scope, only }) {
    const span = finder.fn >= 0 ? functions[finder.fn] : null;
    const inside = (row) => !span || (row >= span.first && row <= span.last);
    finder.matches = match(query, scope).filter(inside);
    const matching = new Set(finder.matches);
    const narrowed = span || (only && query);
    finder.keep = narrowed ? (row) => inside(row) && (!only || !query || matching.has(row)) : null;
    explorer.rows.filter(finder.keep);
    explorer.rows.mark("match", query && !only ? finder.matches : []);
    explorer.timeline.setKeep(explorer.kept());
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
    finder.fn = functions[integer(state.fn, -1)] ? integer(state.fn, -1) : -1;
    pick.value = String(finder.fn);
    finder.search.set({ query: state.q, scope: state.in, only: state.only === "1" });
  }

  function close() {
    finder.search.close();
    finder.search.el.hidden = !always;
  }

  return finder;
}
