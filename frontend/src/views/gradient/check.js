// The parts of a gradient view, checked against frontend/FORMAT.md before anything is drawn.
import { isIndex, isIndexOrNone, isListOf, need } from "../../core/check.js";
import { MARKS, ROLES } from "./marks.js";

const SUMS = { forward: ["calls", "flops", "bytes"], backward: ["calls", "flops", "bytes"], kept: ["values", "bytes"], shapes: ["values", "bytes"] };

export function checkGradient(view) {
  const strings = view.strings.length;
  const text = (value) => isIndex(value, strings);
  const amount = (value) => Number.isFinite(value) && value >= 0;
  const sentence = (value) => isListOf(value, text);
  need(Array.isArray(view.values) && Array.isArray(view.lines), "values");
  const [values, lines] = [view.values.length, view.lines.length];
  const value = (at) => isIndex(at, values);
  view.values.forEach((entry, i) => {
    const [row, name, label, type, bytes, given, kept, line, users] = Array.isArray(entry) ? entry : [];
    need(isIndex(row, view.program.rows.length) && [name, label, type].every(text) && amount(bytes), `value ${i + 1}`);
    // A value is used after it is computed: there are no rings.
    need((given === 0 || given === 1) && isIndex(kept, 3) && isIndexOrNone(line, lines) && isListOf(users, (user) => value(user) && user > i), `value ${i + 1}`);
  });
  view.lines.forEach((entry, i) => {
    const [owner, role, tokens, name, type, flops, bytes, uses] = Array.isArray(entry) ? entry : [];
    const where = `line ${i + 1}`;
    need(value(owner) && isIndex(role, ROLES.length) && text(name) && text(type) && amount(flops) && amount(bytes), where);
    need(Array.isArray(tokens) && tokens.length % 3 === 0 && Array.isArray(uses) && uses.length % 2 === 0, where);
    for (let t = 0; t < tokens.length; t += 3) need(isIndex(tokens[t], 10) && text(tokens[t + 1]) && isIndexOrNone(tokens[t + 2], values + lines), where);
    for (let u = 0; u < uses.length; u += 2) need(value(uses[u]) && (uses[u + 1] === 1 || uses[u + 1] === 2), where);
  });
  need(Array.isArray(view.steps) && view.steps.length > 0, "steps");
  view.steps.forEach((entry, i) => {
    const [mark, at, said, rule, added, came, to, kept] = Array.isArray(entry) ? entry : [];
    const where = `step ${i + 1}`;
    need(isIndex(mark, MARKS.length) && isIndexOrNone(at, values) && sentence(said) && said.length > 0 && sentence(rule), where);
    need(isListOf(added, (line) => isIndex(line, lines)) && isListOf(came, value) && Array.isArray(to) && to.length % 2 === 0 && amount(kept), where);
    for (let t = 0; t < to.length; t += 2) need(value(to[t]) && isIndexOrNone(to[t + 1], lines), where);
  });
  for (const [name, keys] of Object.entries(SUMS)) need(keys.every((key) => amount(view.totals?.[name]?.[key])), `totals: ${name}`);
}
