// Finding: a line by its text, by a name, or by a value that it gave.
import { rowText } from "../../core/rowmodel.js";
import { createSearch } from "../../core/search.js";

const SCOPES = [
  { id: "all", label: "anywhere" },
  { id: "name", label: "names" },
  { id: "value", label: "values" },
];
/** From this many rows on, the search is there without being asked for. */
const MANY_ROWS = 80;

/** `match(query, scope)` → the rows that match, in order. */
export function createMatcher(view, run) {
  const { rows } = view;
  const texts = rows.map((row) => rowText(row).toLowerCase());
  const names = rows.map(() => []);
  for (const { name, row } of view.names) if (row >= 0) names[row].push(name.toLowerCase());
  const gave = (row, wanted) =>
    run.lines[row].some(({ value }) => run.say(value).toLowerCase().includes(wanted));
  const called = (row, wanted) => names[row].some((name) => name.includes(wanted));
  const inside = {
    name: called,
    value: gave,
    all: (row, wanted) => texts[row].includes(wanted) || called(row, wanted) || gave(row, wanted),
  };
  return (query, scope) => {
    const wanted = query.toLowerCase();
    return wanted
      ? rows.map((_, row) => row).filter((row) => (inside[scope] ?? inside.all)(row, wanted))
      : [];
  };
}

/** The search of an EvaluationExplorer. `keep(step)` is null or says which steps are walked. */
export function createFinder(explorer) {
  const { view, run } = explorer;
  const match = createMatcher(view, run);
  const always = view.rows.length >= MANY_ROWS;
  const finder = { search: null, keep: null, matches: [], restore, close };
  finder.search = createSearch({
    scopes: SCOPES,
    placeholder: "find a line, a name, a value",
    onChange: filter,
    onMove: move,
  });
  finder.search.el.hidden = !always;

  function filter({ query, scope, only }) {
    finder.matches = match(query, scope);
    const matching = new Set(finder.matches);
    finder.keep = only && query ? (step) => matching.has(view.steps[step].row) : null;
    explorer.rows.filter(only && query ? (row) => matching.has(row) : null);
    explorer.rows.mark("match", query && !only ? finder.matches : []);
    explorer.timeline.setKeep(finder.keep);
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
    finder.search.set({ query: state.q, scope: state.in, only: state.only === "1" });
    if (!state.q && state.only !== "1") finder.search.el.hidden = !always;
  }

  function close() {
    finder.search.close();
    finder.search.el.hidden = !always;
  }

  return finder;
}
