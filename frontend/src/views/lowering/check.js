// The parts of a lowering view, checked against frontend/FORMAT.md before anything is drawn.
import { isIndex, isIndexOrNone, isListOf, need } from "../../core/check.js";

const count = (value) => Number.isInteger(value) && value >= 0;

export function checkLowering(view) {
  const strings = view.strings.length;
  const text = (value) => isIndex(value, strings);
  const say = (value) => isListOf(value, text) && value.length > 0;
  const { kernel, operators, stages, steps, codes } = view;
  need(kernel && [kernel.name, kernel.target, kernel.rule].every(text) && isListOf(kernel.choice, (pair) => isListOf(pair, text) && pair.length === 2) && count(kernel.flops), "kernel");
  need(isListOf(operators, (o) => Array.isArray(o) && isIndexOrNone(o[0], view.program.rows.length) && o.slice(1).every(text) && o.length === 4), "operators");
  const owner = (value) => isIndex(value, operators.length);
  need(isListOf(stages, (s) => Array.isArray(s) && isIndexOrNone(s[0], operators.length) && text(s[1])), "stages");
  need(Array.isArray(steps) && steps.length > 0, "steps");
  steps.forEach((step, i) => {
    const [mark, primitive, told, why, nest, effect] = Array.isArray(step) ? step : [];
    const where = `step ${i + 1}`;
    need(isIndex(mark, 5) && text(primitive) && say(told) && isListOf(why, text), where);
    need(isListOf(effect, count) && effect.length === 9, where);
    need(isListOf(nest, (part) => Array.isArray(part) && isIndex(part[0], 2) && count(part[1]) && text(part[2]) && text(part[3]) && Number.isInteger(part[4]) && text(part[5]) && isListOf(part[6], owner) && isIndex(part[7], 2)), `${where}: loops`);
  });
  need(isListOf(view.times, (t) => Number.isInteger(t) && t > 0) && (view.times.length === 0 || view.times.length === steps.length), "times");
  need(Array.isArray(codes) && (codes.length === 1 || codes.length === 2), "codes");
  for (const code of codes) {
    need(code && text(code.name) && isListOf(code.purposes, text) && isListOf(code.blocks, (owners) => isListOf(owners, owner)) && count(code.others) && count(code.cut) && Array.isArray(code.lines), "code");
    code.lines.forEach((line, i) => {
      need(Array.isArray(line) && text(line[0]) && isIndexOrNone(line[1], code.purposes.length) && isIndexOrNone(line[2], code.blocks.length) && count(line[3]), `code: line ${i + 1}`);
    });
  }
}
