// What the drawing asks of a memory view: which values a row has, how long each lives in a variant and where, and what is
// in use at a step.
import { TINTS } from "./marks.js";
/** @import { MemoryValue, MemoryVariant, MemoryView } from "../../generated/memory.js" */

/** @typedef {ReturnType<typeof createModel>} MemoryModel */

export const COMPUTED = 0;
const PARAMETER = 1;

/** @param {MemoryView} view */
export function createModel(view) {
  const { values, axes } = view;
  const onRow = view.rows.map(() => []);
  values.forEach(({ row }, n) => {
    if (row >= 0) onRow[row].push(n);
  });
  const same = new Map();
  for (const { row, value } of view.same) same.set(row, value);
  const variants = view.variants.map(() => null);
  const title = (n) =>
    values[n].origin === PARAMETER || !values[n].name
      ? values[n].name || values[n].label
      : `${values[n].name} ${values[n].label}`;
  const model = {
    view,
    values,
    onRow,
    same,
    axes,
    title,
    /** @param {number} index */
    variant: (index) => (variants[index] ??= createVariant(model, view.variants[index], index)),
    /**
     * The variant of a list of choices, one for each axis.
     * @param {number[]} choices
     */
    at: (choices) => view.grid[axes.reduce((sum, axis, i) => sum * axis.choices.length + choices[i], 0)],
    /**
     * The first choices that lead to a variant.
     * @param {number} variant
     */
    choicesOf(variant) {
      let at = view.grid.indexOf(variant);
      const chosen = [];
      for (const { choices } of [...axes].reverse()) {
        chosen.unshift(at % choices.length);
        at = Math.floor(at / choices.length);
      }
      return chosen;
    },
    /** The value that a sentence calls so, where only one is called so. */
    named: unique(values, title),
  };
  return model;
}

/** @param {MemoryValue[]} values */
function unique(values, title) {
  const found = new Map();
  values.forEach((_, n) => found.set(title(n), found.has(title(n)) ? -1 : n));
  return found;
}

/**
 * @param {MemoryModel} model
 * @param {MemoryVariant} data
 * @param {number} index
 */
function createVariant(model, data, index) {
  const { values, view } = model;
  const lives = data.lives.map((life) => ({ ...life, rule: view.rules[life.rule], reads: [], after: -1 }));
  lives.forEach(({ before }, i) => {
    if (before >= 0) lives[before].after = i;
  });
  const lifeOf = new Int32Array(values.length).fill(-1);
  lives.forEach(({ value }, i) => {
    if (value >= 0) lifeOf[value] = i;
  });
  const inside = new Map();
  for (const { value, step } of data.inside) inside.set(value, step);
  const steps = data.steps.map(({ values: about, ...step }) => ({ ...step, about }));
  steps.forEach(({ reads }, step) => {
    for (const life of reads) lives[life].reads.push(step);
  });
  const buffers = data.buffers.map(({ offset, size }, number) => ({
    number,
    offset,
    size,
    tint: number % TINTS,
    lives: [],
  }));
  lives.forEach(({ buffer }, i) => buffers[buffer].lives.push(i));
  const stepsOf = values.map(() => []);
  steps.forEach(({ about, makes }, step) => {
    for (const n of new Set([...about, ...makes.map((life) => lives[life].value)])) stepsOf[n]?.push(step);
  });
  return {
    index,
    say: data.say,
    steps,
    lives,
    buffers,
    inside,
    lifeOf,
    stepsOf,
    live: data.live,
    totals: data.totals,
    peak: data.live.indexOf(data.totals.peak),
    /**
     * The lives that are in use at a step, the largest first.
     * @param {number} step
     */
    inUse: (step) =>
      lives
        .map((_, i) => i)
        .filter((i) => lives[i].made <= step && lives[i].last >= step)
        .sort((a, b) => lives[b].bytes - lives[a].bytes || a - b),
  };
}

/**
 * The step of `to` where the cursor best goes from `step` of `from`: one about the same value, or the same end.
 * @param {number} step
 */
export function sameStep(from, step, to) {
  if (step === from.peak) return to.peak;
  if (step === from.steps.length - 1) return to.steps.length - 1;
  for (const value of [...from.steps[step].about].reverse())
    if (to.stepsOf[value].length) return to.stepsOf[value][0];
  return Math.min(step, to.steps.length - 1);
}

/**
 * Where each life is drawn in a picture of `width` × `height`, time to the right and addresses downwards: `{ x, y, w, h }`.
 * Buffers that are too small to be seen get a little room of their own.
 * @param {number} width
 * @param {number} height
 */
export function arenaBoxes(variant, width, height, least = 3) {
  const sum = variant.buffers.reduce((total, { size }) => total + size, 0) || 1;
  let heights = variant.buffers.map(({ size }) => Math.max(least, (size * height) / sum));
  const all = heights.reduce((total, each) => total + each, 0);
  if (all > height) heights = heights.map((each) => (each * height) / all);
  const tops = [];
  let y = 0;
  for (const each of heights) {
    tops.push(y);
    y += each;
  }
  const column = width / variant.steps.length;
  const boxes = variant.lives.map(({ made, last, buffer, bytes }) => ({
    x: made * column,
    y: tops[buffer],
    w: (last - made + 1) * column,
    h: Math.max(
      Math.min(least, heights[buffer]),
      variant.buffers[buffer].size
        ? (heights[buffer] * bytes) / variant.buffers[buffer].size
        : heights[buffer],
    ),
  }));
  return { boxes, bands: heights.map((each, i) => ({ y: tops[i], h: each })), column };
}
