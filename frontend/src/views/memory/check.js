// The parts of a memory view, checked against frontend/FORMAT.md before anything is drawn.
import { isIndex, isIndexOrNone, isListOf, need } from "../../core/check.js";
import { MARKS } from "./marks.js";

const VALUE_PARTS = 6;
const TOTALS = ["peak", "arena", "total", "outside"];
const amount = (value) => Number.isFinite(value) && value >= 0;

export function checkMemory(view) {
  const rows = view.program.rows.length;
  const text = (value) => isIndex(value, view.strings.length);
  need(Array.isArray(view.values), "values");
  view.values.forEach((entry, i) => {
    const [row, name, label, type, bytes, origin] = Array.isArray(entry) && entry.length === VALUE_PARTS ? entry : [];
    need(isIndexOrNone(row, rows) && [name, label, type].every(text) && amount(bytes) && isIndex(origin, 3), `value ${i + 1}`);
  });
  const count = view.values.length;
  need(isListOf(view.rules, text), "rules");
  need(isListOf(view.same, Number.isInteger) && view.same.length % 2 === 0 && view.same.every((n, i) => isIndex(n, i % 2 ? count : rows)), "same");
  need(isListOf(view.axes, (axis) => Array.isArray(axis) && text(axis[0]) && isListOf(axis[1], text) && axis[1].length > 0), "axes");
  need(Array.isArray(view.variants) && view.variants.length > 0, "variants");
  const size = view.axes.reduce((product, [, choices]) => product * choices.length, 1);
  need(isListOf(view.grid, (n) => isIndex(n, view.variants.length)) && view.grid.length === size, "grid");
  view.variants.forEach((variant, i) => checkVariant(variant ?? {}, `variant ${i + 1}`, { count, text, rules: view.rules.length }));
}

function checkVariant({ say, steps, lives, buffers, live, inside, totals }, where, { count, text, rules }) {
  const sentence = (value) => isListOf(value, text) && value.length > 0;
  need(sentence(say) && Array.isArray(steps) && steps.length > 1 && Array.isArray(lives), where);
  need(isListOf(buffers, (entry) => isListOf(entry, amount) && entry.length === 2), `${where}: buffers`);
  need(isListOf(live, amount) && live.length === steps.length, `${where}: live`);
  lives.forEach((entry, i) => {
    const [value, made, last, buffer, bytes, rule, before, name] = Array.isArray(entry) ? entry : [];
    const fine = isIndexOrNone(value, count) && isIndex(made, steps.length) && isIndex(last, steps.length) && last >= made && isIndex(buffer, buffers.length);
    // A buffer was had by earlier ones before: the way back through them comes to an end.
    need(fine && amount(bytes) && isIndex(rule, rules) && isIndexOrNone(before, i) && text(name), `${where}: life ${i + 1}`);
  });
  const life = (value) => isIndex(value, lives.length);
  steps.forEach((entry, i) => {
    const [mark, label, told, makes, reads, frees, values] = Array.isArray(entry) ? entry : [];
    const lists = [makes, reads, frees].every((list) => isListOf(list, life)) && isListOf(values, (value) => isIndex(value, count));
    need(isIndex(mark, MARKS.length) && text(label) && sentence(told) && lists, `${where}: step ${i + 1}`);
  });
  need(isListOf(inside, Number.isInteger) && inside.length % 2 === 0 && inside.every((n, i) => isIndex(n, i % 2 ? steps.length : count)), `${where}: inside`);
  need(Boolean(totals) && TOTALS.every((name) => amount(totals[name])) && (totals.packed === null || amount(totals.packed)), `${where}: totals`);
}
