// The parts of a view of a partial evaluation, checked against frontend/FORMAT.md before anything is drawn.
import { isIndex, isIndexOrNone, isListOf, need } from "../../core/check.js";
import { MARKS, STATES } from "./marks.js";

export function checkPartial(view) {
  const strings = view.strings.length;
  const rows = view.program.rows.length;
  const { split, residual, frames, steps, totals, gap } = view;
  const text = (value) => isIndex(value, strings);
  need(Number.isInteger(split) && split >= 0 && split <= rows, "split");
  need(isListOf(view.items, (entry) => Array.isArray(entry) && isIndex(entry[0], rows) && text(entry[1])), "items");
  need(Array.isArray(steps) && steps.length > 0, "steps");
  need(Array.isArray(residual) && residual.length === 3 * (rows - split), "residual");
  for (let i = 0; i < residual.length; i += 3) need(isIndex(residual[i], steps.length) && isIndexOrNone(residual[i + 1], split) && (residual[i + 2] === 0 || residual[i + 2] === 1), `residual row ${i / 3 + 1}`);
  need(Array.isArray(frames), "frames");
  frames.forEach((entry, i) => {
    const [name, first, last, caller, call, turn, begins, ends] = Array.isArray(entry) ? entry : [];
    need(text(name) && [first, last, call].every((row) => isIndexOrNone(row, split)) && isIndexOrNone(caller, i) && Number.isInteger(turn) && isIndex(begins, steps.length) && isIndex(ends, steps.length), `frame ${i + 1}`);
  });
  steps.forEach((entry, i) => {
    const where = `step ${i + 1}`;
    const [mark, row, frame, say, block, changes] = Array.isArray(entry) ? entry : [];
    need(isIndex(mark, MARKS.length) && isIndexOrNone(row, split) && isIndex(frame, frames.length) && isIndexOrNone(block, split), where);
    need(isListOf(say, text) && say.length > 0 && Array.isArray(changes), where);
    for (const change of changes) {
      need(Array.isArray(change), where);
      const [kind, ...rest] = change;
      if (kind === "b") need(isIndex(rest[0], frames.length) && isIndex(rest[1], split) && isIndex(rest[2], STATES.length) && text(rest[3]) && (rest[4] === -1 || (isIndex(rest[4], rows) && rest[4] >= split)), where);
      else need(kind === "c" && rest.length % 2 === 0 && rest.every(text), where);
    }
  });
  need(isIndex(view.start, steps.length) && Boolean(totals) && Object.values(totals).every((value) => Number.isInteger(value) && value >= 0), "totals or start");
  need(gap === null || (isListOf(gap, Number.isInteger) && gap.length === 2), "gap");
}
