// A lowering view as lists: what each line of each level says, and which operators it belongs to.
/** @import { LoweringView } from "../../generated/lowering.js" */

/** @typedef {ReturnType<typeof createModel>} LoweringModel */
/**
 * The levels of a view: the last is the code nearest to the machine, `ir` the one before it, where there are two.
 * @param {LoweringView} view
 */
export const levelsOf = (view) => ["relay", "te", "loops", ...(view.codes.length > 1 ? ["ir"] : []), "code"];

/** @param {import("../../generated/lowering.js").LoweringView} view */
export function createModel(view) {
  const operators = view.operators.map((operator, index) => ({ ...operator, index }));
  const byRow = new Map(operators.map(({ row, index }) => [row, index]));
  const relay = view.rows.map(({ depth, tokens }, row) => ({
    row,
    depth,
    tokens,
    owners: byRow.has(row) ? [byRow.get(row)] : [],
  }));
  const te = view.stages.map(({ operator, text }) => ({ text, owners: operator < 0 ? [] : [operator] }));
  const steps = view.steps.map((step) => ({
    ...step,
    nest: step.nest.map(({ is_block: block, operators: owners, ...part }) => ({ ...part, block, owners })),
  }));
  const codes = view.codes.map(({ name, purposes, blocks, lines, others, cut }) => ({
    name,
    purposes,
    others,
    cut,
    lines: lines.map((line) => ({ ...line, owners: line.block < 0 ? [] : blocks[line.block] })),
  }));
  const longest = Math.max(2, ...steps.flatMap(({ nest }) => nest.map(({ extent }) => extent)));

  return {
    times: view.times,
    flops: view.flops,
    operators,
    relay,
    te,
    steps,
    /** The step that is shown first: the first that changes the loops. */
    start: Math.min(1, steps.length - 1),
    codes: Object.fromEntries(codes.map((code, i) => [i === codes.length - 1 ? "code" : "ir", code])),
    gpu: codes[0].name === "CUDA C",
    kernel: {
      name: view.name,
      target: view.target,
      rule: view.rule,
      choice: view.choice.map(({ name, value }) => `${name} ${value}`),
    },
    /**
     * How long the bar of a loop is, from 0 to 1: by the logarithm of its turns.
     * @param {number} extent
     */
    share: (extent) => (extent <= 1 ? 0 : Math.log2(extent) / Math.log2(longest)),
  };
}

/**
 * How many instructions there are for each purpose, of the chosen operators; of all, where none is chosen.
 * @param {{ owners: number[]; text: string; purpose: number; block: number; depth: number; }[]} lines
 * @param {number} purposes
 */
export function tally(lines, purposes, chosen) {
  const counts = Array.from({ length: purposes }, () => 0);
  for (const { purpose, owners } of lines)
    if (purpose >= 0 && (chosen.length === 0 || meets(owners, chosen))) counts[purpose] += 1;
  return counts;
}

/**
 * The first line of the innermost loop that multiplies and adds, or, where nothing does, of any that computes.
 * @param {{ owners: number[]; text: string; purpose: number; block: number; depth: number; }[]} lines
 * @param {number} fused
 */
export function hottest(lines, fused) {
  const computes = lines.some(({ purpose }) => purpose === fused)
    ? ({ purpose }) => purpose === fused
    : ({ owners }) => owners.length > 0;
  const deepest = lines.reduce((most, line) => (computes(line) ? Math.max(most, line.depth) : most), 0);
  return lines.findIndex((line) => computes(line) && line.depth === deepest);
}

/**
 * A time in words.
 * @param {number} ns
 */
export function duration(ns) {
  const [size, unit] = ns >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : ns >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  return `${Number((ns / size).toPrecision(3))} ${unit}`;
}

/**
 * What a step changed of an estimate: "7.8× fewer", or "" where it is the same within a hundredth.
 */
export function changed(now, before, [less, more]) {
  if (!now || !before || Math.abs(now / before - 1) < 0.01) return "";
  const ratio = now < before ? before / now : now / before;
  return `${Number(ratio.toPrecision(ratio < 2 ? 3 : 2))}× ${now < before ? less : more}`;
}

/**
 * A number in words: 812 · 16,992 · 3.17 million.
 * @param {number} n
 */
export const amount = (n) =>
  n >= 1e9
    ? `${Number((n / 1e9).toPrecision(3))} billion`
    : n >= 1e6
      ? `${Number((n / 1e6).toPrecision(3))} million`
      : n.toLocaleString("en");

/**
 * Bytes in words.
 * @param {number} n
 */
export const bytes = (n) =>
  n >= 1e9
    ? `${Number((n / 1e9).toPrecision(3))} GB`
    : n >= 1e6
      ? `${Number((n / 1e6).toPrecision(3))} MB`
      : n >= 1e3
        ? `${Number((n / 1e3).toPrecision(3))} KB`
        : `${n} bytes`;

/**
 * What a step changed of the time: "2.1× faster", "no faster" (within a tenth), or "" at the first.
 * @param {number[]} times
 * @param {number} step
 */
export function faster(times, step) {
  if (step === 0 || !times.length) return "";
  const ratio = times[step - 1] / times[step];
  if (ratio < 1.1 && ratio > 1 / 1.1) return "no faster";
  return ratio > 1
    ? `${Number(ratio.toPrecision(2))}× faster`
    : `${Number((1 / ratio).toPrecision(2))}× slower`;
}

/**
 * Whether a line belongs to one of the operators.
 * @param {number[]} owners
 */
export const meets = (owners, chosen) => owners.some((owner) => chosen.includes(owner));

/**
 * The first line of a run of lines with the same owners: there the operators' numbers are written.
 * @param {readonly { owners: number[] }[]} lines
 */
export const heads = (lines) =>
  lines.map(
    ({ owners }, at) => owners.length > 0 && (at === 0 || lines[at - 1].owners.join() !== owners.join()),
  );
