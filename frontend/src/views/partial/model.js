// A partial evaluation, indexed: what any row's value was in any frame after any step is looked up, not replayed.
import { rowText } from "../../core/rowmodel.js";
import { EFFECT, STATES } from "./marks.js";

/** @typedef {ReturnType<typeof createModel>} PartialModel */

/** Kinds of rows that bind a value: `%0 = …`, `let %x = …`. */
const BINDING = [3, 4];

/** @param {import("../../generated/partial.js").PartialView} view */
export function createModel(view) {
  const { split, steps } = view;
  const all = view.rows;
  const texts = all.map((row) => rowText(row));
  const frames = view.frames.map((frame, number) => ({
    ...frame,
    number,
    depth: 0,
    asked: frame.call < 0 && frame.caller >= 0,
  }));
  for (const frame of frames) frame.depth = frame.caller < 0 ? 0 : frames[frame.caller].depth + 1;

  /** By row: its values, in the order of the steps. */
  const values = all.slice(0, split).map(() => []);
  /** The cells known after a step: the last change of them up to it. */
  const cells = [];
  const made = new Map();
  steps.forEach((step, at) => {
    for (const change of step.changes) {
      if (change.tag === "c") {
        cells.push({ at, held: change.held });
        continue;
      }
      const { frame, at: row, state, text, row: other } = change;
      values[row].push({ at, frame, state, text, other: other < 0 ? -1 : other - split });
      if (other >= 0 && step.row === row && !made.has(other - split)) made.set(other - split, at);
    }
  });

  const residual = view.residual.map(({ born, source, needed }, i) => {
    const binds = BINDING.includes(all[split + i].kind);
    // The frame of a binding that was created in the omitted part of the run is unknown.
    const frame = view.gap && born >= view.gap.step ? -1 : steps[born].frame;
    return { born, source, binds, needed, frame, effect: 0 };
  });
  // What must keep its order: the effects, numbered along the residual program, and apart in each function that is written into it.
  /** @param {number} frame */
  const home = (frame) => {
    let at = frame;
    while (!frames[at].asked && frames[at].caller >= 0) at = frames[at].caller;
    return at;
  };
  const orders = new Map();
  residual.forEach((entry, row) => {
    if (!made.has(row) || steps[made.get(row)].mark !== EFFECT) return;
    const at = home(steps[made.get(row)].frame);
    orders.set(at, (orders.get(at) ?? 0) + 1);
    entry.effect = orders.get(at);
  });
  const of = all.slice(0, split).map(() => []);
  residual.forEach(({ source }, row) => {
    if (source >= 0) of[source].push(row);
  });
  /** The rows of the residual program that bind something that is needed. */
  const bindings = residual.map((_, row) => row).filter((row) => residual[row].binds && residual[row].needed);

  /**
   * @param {number} from
   * @param {number} to
   */
  const half = (from, to) => ({
    reference: /** @type {any} */ (view).reference,
    rows: all.slice(from, to).map((row) => ({ ...row, end: row.end < 0 ? -1 : row.end - from })),
  });
  const stepsOf = all.slice(0, split).map(() => []);
  steps.forEach(({ row }, at) => {
    if (row >= 0) stepsOf[row].push(at);
  });

  return {
    view,
    split,
    steps,
    frames,
    values,
    residual,
    of,
    bindings,
    stepsOf,
    texts,
    program: half(0, split),
    remains: half(split, all.length),
    items: view.items,
    /** @param {number} row */
    text: (row) => texts[row] ?? "",
    /**
     * The frames from the one of `step` outwards.
     * @param {number} step
     */
    stack(step) {
      const out = [];
      for (let at = steps[step].frame; at >= 0; at = frames[at].caller) out.push(frames[at]);
      return out;
    },
    /**
     * For every row the frame whose values are shown after `step`: the innermost that has the row; -1 for others.
     * @param {number} step
     */
    owner(step) {
      const owner = new Int32Array(split).fill(-1);
      for (const { number, first, last } of this.stack(step).reverse())
        if (first >= 0) owner.fill(number, first + 1, last + 1);
      return owner;
    },
    /**
     * The value of a row in a frame after `step`, or null.
     * @param {number} row
     * @param {number} frame
     * @param {number} step
     */
    value: (row, frame, step) =>
      values[row].findLast((value) => value.at <= step && value.frame === frame) ?? null,
    /**
     * How often, up to `step`, the row's value was known, known in part, not known.
     * @param {number} row
     * @param {number} step
     */
    tally(row, step) {
      const counts = STATES.map(() => 0);
      const seen = new Map();
      for (const { at, frame, state } of values[row]) if (at <= step) seen.set(frame, state);
      for (const state of seen.values()) counts[state] += 1;
      return counts;
    },
    /**
     * What a row's cell shows after `step`, in short: the same sign, the same picture.
     * @param {number} row
     * @param {number} owner
     * @param {number} step
     */
    sign(row, owner, step) {
      const value = owner >= 0 ? this.value(row, owner, step) : null;
      return `${value ? value.at : -1} ${value?.at === step} ${this.tally(row, step)}`;
    },
    /** @param {number} step */
    cells: (step) => cells.findLast(({ at }) => at <= step)?.held ?? [],
    /** What a frame was given: its parameters' values. */
    given(frame) {
      const { begins } = frames[frame];
      return steps[begins].changes
        .filter(({ tag }) => tag === "b")
        .map((/** @type {any} */ { at, state, text }) => ({ name: paramName(texts[at]), state, text }));
    },
    /**
     * The step that made a row of the residual program.
     * @param {number} row
     */
    madeBy: (row) => made.get(row) ?? residual[row].born,
    /**
     * The next step that is not inside the call that `step` begins; `out`: that ends the frame it is in.
     * @param {number} step
     */
    over(step, out = false) {
      const { frame } = steps[step];
      if (out) return frames[frame].ends;
      return frames[frame].begins === step ? frames[frame].ends : Math.min(steps.length - 1, step + 1);
    },
  };
}

/** @param {string} text */
const paramName = (text) => /^(?:let )?(%[^\s:,)=]+)/.exec(text)?.[1] ?? "";
