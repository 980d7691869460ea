// The parts of an evaluation view, checked against frontend/FORMAT.md before anything is drawn.
import { isIndex, isIndexOrNone, isListOf, need } from "../../core/check.js";
import { MARKS } from "./marks.js";

const KINDS = 5;
const ROLES = 4;

export function checkEvaluation(view) {
  for (const name of ["names", "objects", "frames", "steps", "args"]) need(Array.isArray(view[name]), name);
  const strings = view.strings.length;
  const text = (value) => isIndex(value, strings);
  const row = (value) => isIndexOrNone(value, view.program.rows.length);
  const say = (value) => isListOf(value, text) && value.length > 0;
  const object = (value) => isIndex(value, view.objects.length);
  const value = (v) => object(v) || (Number.isInteger(v) && v < 0 && text(-1 - v));
  const name = (n) => isIndex(n, view.names.length);
  const step = (at) => isIndex(at, view.steps.length);
  const frame = (f) => isIndex(f, view.frames.length);
  const before = (i) => (f) => isIndexOrNone(f, i);
  const count = (n) => Number.isInteger(n) && n >= 0;

  view.names.forEach((n, i) => need(Array.isArray(n) && text(n[0]) && row(n[1]) && text(n[2]), `name ${i}`));
  view.objects.forEach((o, i) => {
    const [kind, label, whole, type, parts, at, first, last, bytes] = Array.isArray(o) ? o : [];
    const part = (p) => Array.isArray(p) && text(p[0]) && value(p[1]) && isIndex(p[2], ROLES);
    need(isIndex(kind, KINDS) && [label, whole, type].every(text) && isListOf(parts, part) && row(at) && count(first) && Number.isInteger(last) && count(bytes), `object ${i}`);
  });
  view.frames.forEach((f, i) => {
    const [called, first, last, caller, at, replaced, turn, from, to] = Array.isArray(f) ? f : [];
    need(text(called) && row(first) && row(last) && before(i)(caller) && row(at) && before(i)(replaced) && count(turn) && count(from) && count(to), `frame ${i}`);
  });
  const changes = {
    o: ([o]) => object(o), f: ([f]) => frame(f), g: ([f]) => frame(f), r: ([f]) => frame(f),
    b: ([f, n, v]) => frame(f) && name(n) && value(v), e: ([f, n, v]) => frame(f) && name(n) && value(v),
    k: ([f, at]) => frame(f) && isIndex(at, view.program.rows.length), m: (list) => list.every(object), w: ([o, v]) => object(o) && value(v), x: () => true,
  };
  view.steps.forEach((s, i) => {
    const [mark, at, where, said, because, changed] = Array.isArray(s) ? s : [];
    const fine = isIndex(mark, MARKS.length) && row(at) && isIndexOrNone(where, view.frames.length) && say(said) && isListOf(because, Number.isInteger) && Array.isArray(changed);
    // A change of a kind that this version does not know is passed over; one that it knows must be whole.
    need(fine && changed.every((c) => Array.isArray(c) && (!Object.hasOwn(changes, c[0]) || changes[c[0]](c.slice(1)))), `step ${i + 1}`);
  });
  need(isListOf(view.args, (a) => Array.isArray(a) && text(a[0]) && value(a[1])), "arguments");
  need(view.result === null || view.result === undefined || value(view.result), "result");
  need(view.start === undefined || view.start === null || step(view.start) || view.steps.length === 0, "start");
  need(view.totals !== null && typeof view.totals === "object", "totals");
  if (view.failure) {
    const { step: at, row: on, say: said, notes, try: attempts } = view.failure;
    need(step(at) && row(on) && say(said) && isListOf(notes, say) && isListOf(attempts, say), "failure");
  }
  if (view.gap) need(step(view.gap.step) && count(view.gap.count) && say(view.gap.say), "gap");
  if (view.live) need(count(view.live.limit) && isListOf(view.live.args, (a) => Array.isArray(a) && text(a[0]) && text(a[1])), "live");
}
