// Finding: a line of the program, or the lines that an instruction came from.
import { rowText } from "../../core/rowmodel.js";
import { createSearch } from "../../core/search.js";

const SCOPES = [
  { id: "all", label: "anywhere" },
  { id: "line", label: "program" },
  { id: "ins", label: "instructions" },
];
/** From this many rows on, the search is there without being asked for. */
const MANY_ROWS = 80;

/** `match(query, scope)` → `{ rows, lines, instructions }`: rows to go to, in order; those whose text matches; "function number" of instructions that do. */
export function createMatcher(view, run) {
  const { rows } = view;
  const texts = rows.map((row) => rowText(row).toLowerCase());
  return (query, scope) => {
    const wanted = query.toLowerCase();
    const instructions = new Set();
    if (!wanted) return { rows: [], lines: new Set(), instructions };
    const lines = new Set(
      scope === "ins" ? [] : texts.flatMap((text, row) => (text.includes(wanted) ? [row] : [])),
    );
    const found = new Set(lines);
    if (scope !== "line") {
      for (const fn of run.functions) {
        fn.code.forEach(({ text, remark, rows: from }, number) => {
          if (!`${text} ${remark}`.toLowerCase().includes(wanted)) return;
          instructions.add(`${fn.index} ${number}`);
          if (from.length) found.add(from[0]);
        });
      }
    }
    return { rows: [...found].sort((a, b) => a - b), lines, instructions };
  };
}

/** The search of a MachineExplorer. `keep(step)` is null or says which steps are walked. */
export function createFinder(explorer) {
  const { view, run } = explorer;
  const match = createMatcher(view, run);
  const always = view.rows.length >= MANY_ROWS;
  const finder = { search: null, keep: null, matches: [], restore, close };
  finder.search = createSearch({
    scopes: SCOPES,
    placeholder: "find a line, an instruction",
    onlyLabel: "only these steps",
    onChange: filter,
    onMove: move,
  });
  finder.search.el.hidden = !always;

  function filter({ query, scope, only }) {
    const found = match(query, scope);
    finder.matches = found.rows;
    const rows = new Set(found.rows);
    const about = (step) =>
      found.instructions.has(`${view.frames[view.steps[step].frame].function} ${view.steps[step].number}`) ||
      run.rowsOf(step).some((row) => found.lines.has(row));
    finder.keep = only && query ? about : null;
    explorer.rows.filter(only && query ? (row) => rows.has(row) : null);
    explorer.rows.mark("match", query && !only ? finder.matches : []);
    explorer.timeline.setKeep(finder.keep);
    if (explorer.ready) explorer.ctx.changed();
    return scope === "ins" ? found.instructions.size : finder.matches.length;
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
