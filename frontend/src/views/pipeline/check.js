// The parts of a pipeline view, checked against frontend/FORMAT.md before anything is drawn.
import { isIndex, isIndexOrNone, isListOf, need } from "../../core/check.js";
import { MARKS, TOTALS } from "./marks.js";

const ITEM_PARTS = 10;
const REWRITE_PARTS = 9;

export function checkPipeline(view) {
  const sizes = { strings: view.strings.length, rows: view.program.rows.length, items: view.items?.length, stages: view.stages?.length };
  const text = (value) => isIndex(value, sizes.strings);
  need(Array.isArray(view.items), "items");
  need(Array.isArray(view.stages) && sizes.stages > 0, "stages");
  const amount = (value) => Number.isFinite(value) && value >= 0;
  view.items.forEach((entry, i) => {
    const [stage, row, label, from, mark, flops, bytes, part, operands, kernel] = Array.isArray(entry) && entry.length === ITEM_PARTS ? entry : [];
    const where = `item ${i + 1}`;
    need(isIndex(stage, sizes.stages) && isIndexOrNone(row, sizes.rows) && text(label) && isIndex(mark, 3), where);
    // An expression comes after what it came from: a history has no rings.
    need(isListOf(from, (other) => isIndex(other, i)) && amount(flops) && amount(bytes), where);
    const beside = (other) => isIndex(other, sizes.items) && view.items[other]?.[0] === stage;
    need(isIndex(part, 3) && isListOf(operands, beside) && (kernel === -1 || beside(kernel)), `${where}: graph`);
  });
  view.stages.forEach((stage, i) => checkStage(view, stage ?? {}, i, sizes, amount));
  need(isListOf(view.pipelines, (entry) => Array.isArray(entry) && text(entry[0]) && isListOf(entry[1], (stage) => isIndex(stage, sizes.stages))), "pipelines");
  need(view.pipelines.length > 0, "pipelines");
  for (const [, list] of view.pipelines) {
    need(list[0] === 0 && list.every((stage, i) => view.stages[stage].before === (i ? list[i - 1] : -1)), "pipelines");
  }
  need(text(view.tree), "tree");
  need(view.ends === null || view.pipelines.length === 2, "ends");
  if (view.ends) {
    const { before, after, say, align } = view.ends;
    need(isIndex(before, sizes.stages) && isIndex(after, sizes.stages) && isListOf(say, text) && say.length > 0, "ends");
    checkAlign(align, view.stages[after].rows, view.stages[before].rows, "ends");
  }
}

function checkAlign(align, rows, rowsBefore, where) {
  const inside = (row, span) => row === -1 || (span !== null && Number.isInteger(row) && row >= span[0] && row <= span[1]);
  need(Array.isArray(align) && align.length % 3 === 0, `${where}: align`);
  for (let at = 0; at < align.length; at += 3) {
    const [left, right, mark] = align.slice(at, at + 3);
    need(isIndex(mark, MARKS.length) && inside(right, rows) && inside(left, rowsBefore) && (left >= 0 || right >= 0), `${where}: align`);
  }
}

function checkRewrite(entry, sizes, where) {
  const [rule, name, path, line, before, after, was, how, became] = Array.isArray(entry) && entry.length === REWRITE_PARTS ? entry : [];
  const item = (other) => isIndex(other, sizes.items);
  need([rule, name, path, was, how, became].every((value) => isIndex(value, sizes.strings)) && Number.isInteger(line) && line >= 0 && isListOf(before, item) && isListOf(after, item), where);
}

function checkStage(view, { name, what, source, before, rows, same, say, align, gone, totals, ms, rewrites, told }, i, sizes, amount) {
  const where = `stage ${i + 1}`;
  const text = (value) => isIndex(value, sizes.strings);
  need([name, what, source].every(text) && isIndexOrNone(before, i) && (same === 0 || same === 1), where);
  need(isListOf(say, text) && say.length > 0, where);
  // An empty program ends before it begins.
  need(isListOf(rows, Number.isInteger) && rows.length === 2 && rows[0] >= 0 && rows[1] >= rows[0] - 1 && rows[1] < sizes.rows, `${where}: rows`);
  checkAlign(align, rows, before >= 0 ? view.stages[before].rows : null, where);
  need(Array.isArray(rewrites) && Number.isInteger(told) && told >= rewrites.length, `${where}: rewrites`);
  rewrites.forEach((entry, k) => checkRewrite(entry, sizes, `${where}: rewrite ${k + 1}`));
  need(isListOf(gone, (item) => isIndex(item, sizes.items)), `${where}: gone`);
  need(Boolean(totals) && TOTALS.every(({ id }) => amount(totals[id])) && (ms === null || amount(ms)), `${where}: totals`);
}
