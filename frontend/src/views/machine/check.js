// The parts of a machine view, checked against frontend/FORMAT.md before anything is drawn.
import { checkCommon, isIndex, isIndexOrNone, isListOf, need } from "../../core/check.js";
import { KINDS, MARKS } from "./marks.js";
import { checkMemory } from "../memory/check.js";

const count = (n) => Number.isInteger(n) && n >= 0;

export function checkMachine(view) {
  for (const name of ["functions", "kernels", "objects", "frames", "steps"]) need(Array.isArray(view[name]), name);
  const { functions, objects, frames, steps } = view;
  const strings = view.strings.length;
  const rows = view.program.rows.length;
  const text = (value) => isIndex(value, strings);
  const say = (value) => isListOf(value, text) && value.length > 0;
  const object = (value) => isIndex(value, objects.length);
  const value = (v) => object(v) || (Number.isInteger(v) && v < 0 && text(-1 - v));

  functions.forEach((f, i) => {
    const [name, row, names, registers, code] = Array.isArray(f) ? f : [];
    const register = (r) => isIndex(r, registers);
    need(text(name) && isIndexOrNone(row, rows) && isListOf(names, text) && count(registers) && Array.isArray(code), `function ${i}`);
    code.forEach((line, k) => {
      const [what, remark, from, reads, writes, runs] = Array.isArray(line) ? line : [];
      need(text(what) && text(remark) && isListOf(from, (r) => isIndex(r, rows)) && isListOf(reads, register) && isListOf(writes, register) && Number.isInteger(runs), `function ${i}: instruction ${k}`);
    });
  });
  need(isListOf(view.kernels, (k) => Array.isArray(k) && text(k[0]) && text(k[1]) && isIndex(k[2], 2)), "kernels");
  objects.forEach((o, i) => {
    const [kind, label, bytes, storage, given, made, last, freed] = Array.isArray(o) ? o : [];
    need(isIndex(kind, KINDS.length) && text(label) && count(bytes) && isIndexOrNone(storage, i) && isIndex(given, 2) && [made, last, freed].every(count), `object ${i}`);
  });
  frames.forEach((f, i) => {
    const [fn, caller, at, before, turn, from, to] = Array.isArray(f) ? f : [];
    need(isIndex(fn, functions.length) && isIndexOrNone(caller, i) && Number.isInteger(at) && isIndexOrNone(before, i) && [turn, from, to].every(count), `frame ${i}`);
  });
  const frame = (f) => isIndex(f, frames.length);
  const changes = {
    o: ([o, t]) => object(o) && text(t), t: ([o, t]) => object(o) && text(t), d: ([o]) => object(o), f: ([f]) => frame(f), g: ([f]) => frame(f), r: ([f]) => frame(f),
    w: ([f, r, v]) => frame(f) && isIndex(r, functions[frames[f][0]][3]) && value(v), x: () => true,
  };
  steps.forEach((s, i) => {
    const [mark, f, at, next, said, because, changed] = Array.isArray(s) ? s : [];
    const fine = isIndex(mark, MARKS.length) && frame(f) && say(said) && isListOf(because, Number.isInteger) && Array.isArray(changed);
    need(fine && [at, next].every((n) => isIndexOrNone(n, functions[frames[f][0]][4].length)), `step ${i + 1}`);
    // A change of a kind that this version does not know is passed over; one that it knows must be whole.
    need(changed.every((c) => Array.isArray(c) && (!Object.hasOwn(changes, c[0]) || changes[c[0]](c.slice(1)))), `step ${i + 1}`);
  });
  need(view.totals !== null && typeof view.totals === "object", "totals");
  need(isIndex(view.start, steps.length), "start");
  if (view.failure) need(isListOf(view.failure.notes, say) && isListOf(view.failure.try, say), "failure");
  if (view.gap) need(isListOf(view.gap, count) && view.gap.length === 2, "gap");
  need(isListOf(view.without, text), "without");
  if (view.plan) {
    need(view.plan.view === "memory", "plan");
    checkCommon(view.plan);
    checkMemory(view.plan);
  }
}
