// What the drawing asks of a gradient view: values and the lines beside them, when each is there, which uses the way
// back has gone, and how long a value is kept.
import { FAR, LANES, layoutLanes } from "../fusion/lanes.js";
import { NUMBERS, RESULT } from "./marks.js";
/** @import { GradientView, Line } from "../../generated/gradient.js" */

/**
 * @typedef {ReturnType<typeof createModel>} GradientModel
 * @param {GradientView} view
 */

export function createModel(view) {
  const values = view.values.map(({ derivative, ...value }) => ({ ...value, line: derivative }));
  const { lines } = view;
  const steps = view.steps.map(({ lines: added, ...step }) => ({ ...step, added }));
  const never = steps.length;
  const onRow = view.rows.map(() => -1);
  values.forEach(({ row }, v) => {
    onRow[row] = v;
  });
  const beside = values.map(() => []);
  lines.forEach(({ value }, n) => beside[value].push(n));
  // When a line is there, when a value's derivative is whole, until when its numbers are used.
  const addedAt = lines.map(() => never);
  const wholeAt = values.map(() => never);
  const freedAt = values.map(() => -1);
  const usedBy = values.map(() => []);
  const back = new Map();
  steps.forEach(({ value, added, to }, step) => {
    if (value >= 0) wholeAt[value] = Math.min(wholeAt[value], step);
    for (const n of added) {
      addedAt[n] = step;
      for (const use of lines[n].uses) {
        if (use.how === NUMBERS) freedAt[use.value] = step;
        if (usedBy[use.value].at(-1)?.step !== step) usedBy[use.value].push({ step, how: use.how });
      }
    }
    for (const { value: target } of to) back.set(`${target} ${value}`, step);
  });
  // Lanes leave out parameters and constants, as everywhere.
  const items = values
    .map(({ row, given }, node) => ({ node, row, given }))
    .filter(({ given }) => !given)
    .sort((a, b) => a.row - b.row);
  const title = (v) =>
    values[v].given || values[v].label.startsWith(".")
      ? values[v].name
      : `${values[v].name} ${values[v].label}`;
  return {
    view,
    values,
    lines,
    steps,
    onRow,
    beside,
    addedAt,
    wholeAt,
    freedAt,
    usedBy,
    items,
    title,
    never,
    lanes: layoutLanes(items, (v) => values[v].users.filter((user) => !values[user].given), {
      lanes: LANES,
      far: FAR,
    }),
    /**
     * The step at which the backward pass goes from `user` to `source`, or -1.
     * @param {number} user
     * @param {number} source
     */
    wentBack: (source, user) => back.get(`${source} ${user}`) ?? -1,
    /** What a name in a sentence, or a reference of a token, belongs to: a value's number, or that of the value beside which a line stands. */
    named: names(values, lines, title),
    ownerOf: (ref) => (ref < values.length ? ref : (lines[ref - values.length]?.value ?? -1)),
    start: startOf(steps),
  };
}

/**
 * Text → reference, as in a token: a value, or from `values.length` on a line.
 * @param {Line[]} lines
 */
function names(values, lines, title) {
  const found = new Map();
  values.forEach(({ name }, v) => {
    found.set(title(v), v);
    found.set(name, v);
  });
  lines.forEach(({ name }, n) => found.set(name, values.length + n));
  return found;
}

/** The step that is shown first: the backward pass begins with the derivative of the result. */
const startOf = (steps) =>
  Math.max(
    0,
    steps.findIndex(({ mark }) => mark === RESULT),
  );

/**
 * What is kept of a value after a step: "", "shape", "given" (held by who called), "held", "now" (used in this step) or "freed".
 */
export function keeping({ values, usedBy, freedAt }, v, step) {
  const { kept, given } = values[v];
  if (kept === 0) return "";
  if (kept !== NUMBERS) return "shape";
  if (given) return "given";
  if (usedBy[v].some((use) => use.step === step && use.how === NUMBERS)) return "now";
  return freedAt[v] > step ? "held" : "freed";
}
