// The parts of a fusion view, checked against frontend/FORMAT.md before anything is drawn.
import { isIndex, isIndexOrNone, isListOf, need } from "../../core/check.js";
import { MARKS, MERGED } from "./marks.js";

const NODE_PARTS = 12;

export function checkFusion(view) {
  const strings = view.strings.length;
  const rows = view.program.rows.length;
  const text = (value) => isIndex(value, strings);
  const amount = (value) => Number.isFinite(value) && value >= 0;
  need(isListOf(view.patterns, (entry) => Array.isArray(entry) && Number.isInteger(entry[0]) && entry.length === 4 && entry.slice(1).every(text)), "patterns");
  need(Array.isArray(view.functions) && view.functions.length > 0, "functions");
  for (const entry of view.functions) checkFunction(entry ?? {}, { rows, text, amount });
}

function checkFunction(view, { rows, text, amount }) {
  need(text(view.name) && text(view.summary) && isListOf(view.rows, (row) => isIndex(row, rows)) && view.rows.length === 2, "functions");
  need(Array.isArray(view.nodes), "nodes");
  const count = view.nodes.length;
  view.nodes.forEach((entry, i) => {
    const where = `node ${i + 1}`;
    need(Array.isArray(entry) && entry.length === NODE_PARTS, where);
    const [row, name, label, pattern, type, bytes, uses, held, part, ...alone] = entry;
    need(isIndexOrNone(row, rows) && [name, label, type, part].every(text) && Number.isInteger(pattern), where);
    need(amount(bytes) && (held === 0 || held === 1) && alone.every(amount), where);
    need(isListOf(uses, (user) => isIndex(user, count)), where);
  });
  need(Array.isArray(view.variants) && view.variants.length > 0, "variants");
  view.variants.forEach((variant, i) => checkVariant(variant ?? {}, `variant ${i + 1}`, { count, rows, text, amount }));
}

function checkVariant({ name, say, patterns, dominators, steps, kernels, totals, order }, where, { count, rows, text, amount }) {
  const sentence = (value) => isListOf(value, text);
  const node = (value) => isIndex(value, count);
  need(text(name) && sentence(say) && say.length > 0, where);
  need(isListOf(patterns, (pair) => Array.isArray(pair) && node(pair[0]) && Number.isInteger(pair[1])), `${where}: patterns`);
  // A dominator comes after what it dominates: the tree has no rings.
  need(isListOf(dominators, (at) => isIndexOrNone(at, count)) && dominators.length === count && dominators.every((at, n) => at === -1 || at > n), `${where}: dominators`);
  need(Array.isArray(steps) && steps.length > 0, `${where}: steps`);
  steps.forEach((entry, i) => {
    const [mark, phase, asked, target, said, rule, obstacle, merged, launches, bytes] = Array.isArray(entry) ? entry : [];
    const at = `${where}: step ${i + 1}`;
    need(isIndex(mark, MARKS.length) && isIndexOrNone(phase, 3) && [asked, target, obstacle].every((value) => isIndexOrNone(value, count)), at);
    need(sentence(said) && said.length > 0 && sentence(rule), at);
    need(isListOf(merged, node) && (mark !== MERGED || target >= 0) && amount(launches) && amount(bytes), at);
  });
  const kernel = (entry) => Array.isArray(entry) && text(entry[0]) && isListOf(entry[1], node) && entry[1].length > 0 && entry.slice(2, 5).every(amount) && node(entry[5]);
  need(isListOf(kernels, kernel), `${where}: kernels`);
  const pair = (value) => isListOf(value, amount) && value.length === 2;
  need(Boolean(totals) && pair(totals.launches) && pair(totals.bytes), `${where}: totals`);
  const whole = () => order.length === rows && new Set(order).size === rows;
  need(isListOf(order, (row) => isIndex(row, rows)) && (order.length === 0 || whole()), `${where}: order`);
}
