// The parts of a pipeline view, checked against frontend/FORMAT.md before anything is drawn.
import { isIndex, isIndexOrNone, isListOf, need } from "../core/check.js";
import { MARKS, TOTALS } from "./pipeline_marks.js";

const ITEM_PARTS = 7;

export function checkPipeline(view) {
  const sizes = { strings: view.strings.length, rows: view.program.rows.length, items: view.items?.length, stages: view.stages?.length };
  const text = (value) => isIndex(value, sizes.strings);
  need(Array.isArray(view.items), "items");
  need(Array.isArray(view.stages) && sizes.stages > 0, "stages");
  const amount = (value) => Number.isFinite(value) && value >= 0;
  view.items.forEach((entry, i) => {
    const [stage, row, label, from, mark, flops, bytes] = Array.isArray(entry) && entry.length === ITEM_PARTS ? entry : [];
    const where = `item ${i + 1}`;
    need(isIndex(stage, sizes.stages) && isIndexOrNone(row, sizes.rows) && text(label) && isIndex(mark, 3), where);
    // An expression comes after what it came from: a history has no rings.
    need(isListOf(from, (other) => isIndex(other, i)) && amount(flops) && amount(bytes), where);
  });
  view.stages.forEach((stage, i) => checkStage(view, stage ?? {}, i, sizes, amount));
  need(isListOf(view.pipelines, (entry) => Array.isArray(entry) && text(entry[0]) && isListOf(entry[1], (stage) => isIndex(stage, sizes.stages))), "pipelines");
  need(view.pipelines.length > 0, "pipelines");
  for (const [, list] of view.pipelines) {
    need(list[0] === 0 && list.every((stage, i) => view.stages[stage].before === (i ? list[i - 1] : -1)), "pipelines");
  }
}

function checkStage(view, { name, what, source, before, rows, same, say, align, gone, totals, ms }, i, sizes, amount) {
  const where = `stage ${i + 1}`;
  const text = (value) => isIndex(value, sizes.strings);
  need([name, what, source].every(text) && isIndexOrNone(before, i) && (same === 0 || same === 1), where);
  need(isListOf(say, text) && say.length > 0, where);
  // An empty program ends before it begins.
  need(isListOf(rows, Number.isInteger) && rows.length === 2 && rows[0] >= 0 && rows[1] >= rows[0] - 1 && rows[1] < sizes.rows, `${where}: rows`);
  const inside = (row, span) => row === -1 || (Number.isInteger(row) && row >= span[0] && row <= span[1]);
  need(Array.isArray(align) && align.length % 3 === 0, `${where}: align`);
  for (let at = 0; at < align.length; at += 3) {
    const [left, right, mark] = align.slice(at, at + 3);
    const fine = isIndex(mark, MARKS.length) && inside(right, rows) && (left === -1 || (before >= 0 && inside(left, view.stages[before].rows)));
    need(fine && (left >= 0 || right >= 0), `${where}: align`);
  }
  need(isListOf(gone, (item) => isIndex(item, sizes.items)), `${where}: gone`);
  need(Boolean(totals) && TOTALS.every(({ id }) => amount(totals[id])) && (ms === null || amount(ms)), `${where}: totals`);
}
