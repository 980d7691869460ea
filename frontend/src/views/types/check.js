// The parts of a types view, checked against frontend/FORMAT.md before anything is drawn.
import { isIndex, isIndexOrNone, isListOf, need } from "../../core/check.js";

const MARKS = 7;
const STATUSES = 6;

export function checkTypes(view) {
  const strings = view.strings.length;
  const rows = view.program.rows.length;
  const text = (value) => isIndex(value, strings);
  const row = (value) => isIndexOrNone(value, rows);
  const say = (value) => isListOf(value, text) && value.length > 0;
  for (const name of ["vars", "rels", "steps", "functions"]) need(Array.isArray(view[name]), name);
  const variable = (value) => isIndex(value, view.vars.length);
  const relation = (value) => isIndex(value, view.rels.length);
  const changes = {
    v: ([v, ...rest]) => variable(v) && rest.length === 0,
    t: ([v, short, full, known]) => variable(v) && text(short) && text(full) && isIndex(known, 3),
    u: ([a, b]) => variable(a) && variable(b),
    r: ([rel, status]) => relation(rel) && isIndex(status, STATUSES),
    q: ([rel]) => relation(rel), f: ([rel]) => relation(rel), p: ([rel]) => relation(rel),
  };
  view.vars.forEach((v, i) => need(Array.isArray(v) && text(v[0]) && row(v[1]) && text(v[2]), `variable ${i}`));
  view.rels.forEach((r, i) => need(Array.isArray(r) && text(r[0]) && row(r[1]) && text(r[2]) && isListOf(r[3], variable), `relation ${i}`));
  view.steps.forEach((step, i) => {
    const [mark, at, said, because, changed] = Array.isArray(step) ? step : [];
    need(isIndex(mark, MARKS) && row(at) && say(said) && isListOf(because, Number.isInteger) && Array.isArray(changed), `step ${i + 1}`);
    // A change of a kind that this version does not know is passed over; one that it knows must be whole.
    need(changed.every((change) => Array.isArray(change) && (!Object.hasOwn(changes, change[0]) || changes[change[0]](change.slice(1)))), `step ${i + 1}`);
  });
  need(isListOf(view.functions, (f) => Array.isArray(f) && text(f[0]) && isIndex(f[1], rows) && isIndex(f[2], rows)), "functions");
  need(view.start === undefined || view.start === null || isIndex(view.start, view.steps.length), "start");
  if (view.conflict === null || view.conflict === undefined) return;
  const { step, row: at, say: said, left, right, try: attempts } = view.conflict;
  const link = (entry) => Array.isArray(entry) && isIndex(entry[0], view.steps.length) && row(entry[1]) && say(entry[2]);
  const side = (value) => Boolean(value) && text(value.type) && isListOf(value.chain, link);
  need(isIndex(step, view.steps.length) && row(at) && say(said) && side(left) && side(right) && isListOf(attempts, say), "conflict");
}
