// The parts of a sharing view, checked against frontend/FORMAT.md before anything is drawn.
import { isIndex, isIndexOrNone, isListOf, need } from "../../core/check.js";

export function checkSharing(view) {
  const strings = view.strings.length;
  const rows = view.program.rows.length;
  const text = (value) => isIndex(value, strings);
  const count = (value) => Number.isInteger(value) && value >= 0;
  need(isListOf(view.keys, (key) => Array.isArray(key) && text(key[0]) && text(key[1])), "keys");
  need(Array.isArray(view.forms) && view.forms.length > 0, "forms");
  view.forms.forEach((form, i) => {
    const { name, say, rows: span, items, steps, total, live, peak } = form ?? {};
    const where = `form ${i + 1}`;
    need(text(name) && isListOf(say, text) && say.length > 0, where);
    need(isListOf(span, (row) => isIndexOrNone(row, rows)) && span.length === 2 && span[0] <= span[1], where);
    need(count(steps) && count(total) && isListOf(live, count) && live.length <= steps, where);
    need(Array.isArray(peak) && peak.length === 2 && Number.isInteger(peak[0]) && count(peak[1]), where);
    const moment = (step) => Number.isInteger(step) && step >= -1;
    const item = (one) => Array.isArray(one) && isIndex(one[0], view.keys.length) && isIndexOrNone(one[1], rows) && count(one[2]) && count(one[3])
      && isListOf(one[4], moment) && one[4].length % 2 === 0;
    need(isListOf(items, item), where);
    // A block never reaches out of its form.
    for (let row = Math.max(0, span[0]); row <= span[1]; row++) need(view.program.rows[row][4] <= span[1], where);
  });
}
