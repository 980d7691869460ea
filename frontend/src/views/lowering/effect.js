// What the loops cost after a step of the schedule, counted, estimated and measured.
import { h } from "../../core/dom.js";
import { amount, bytes, changed, duration, faster } from "./model.js";
/** @import { Effect } from "../../generated/lowering.js" */
/** @import { createModel } from "./model.js" */

/** @typedef {ReturnType<typeof createModel>} Model */

const COUNTED =
  "Estimated from the loops, not measured. Instructions: arithmetic, loads, stores, and two for each iteration of a loop. An operation on a vector counts as one instruction, and so does a bounds check. Conditions that unrolling makes static cost nothing. Loop-invariant work is counted outside the innermost loops, but an accumulator in an array is loaded and stored in each iteration. The iterations of parallel loops are divided among the cores.";
const ESTIMATED = {
  cpu: `${COUNTED} Bytes: a cache holds the data of the innermost loops whose data fits into it, and each iteration further out fetches its data again, in cache lines of 64 bytes. Data that fits as a whole is still cached from the previous run. Cycles: for each nest the largest of instructions / 3, 4 for each dependent addition, bytes fetched from L2 / 64, and bytes from beyond L2 / 32. The estimate leaves out address computations, slow arithmetic, the start of threads, and LLVM’s own loop transformations. For convolutions of whole models it was between half and twice the measured time.`,
  gpu: `${COUNTED} Bytes are those of the arrays that each nest reads and writes. The estimate leaves out address computations, caches and latency.`,
};

/**
 * How the estimates are made, in words.
 * @param {{ gpu: Model["gpu"] }} model
 */
export const counted = ({ gpu }) => (gpu ? ESTIMATED.gpu : ESTIMATED.cpu);

/**
 * What can be counted in the loops, and what this step changed of it.
 * @param {Model} model
 * @param {number} step
 */
export function effectOf(model, step) {
  const { effect } = model.steps[step];
  const before = model.steps[Math.max(0, step - 1)].effect;
  /**
   * @param {string} key
   * @param {[string, string]} words
   */
  const part = (key, words) =>
    h(
      "span",
      { class: effect[key] === before[key] ? "" : "changed" },
      words[0],
      h("b", null, effect[key].toLocaleString("en")),
      words[1],
    );
  return [
    part("nests", ["", effect.nests === 1 ? " nest" : " nests"]),
    part("tasks", [
      "",
      model.gpu
        ? effect.tasks === 1
          ? " thread"
          : " threads"
        : effect.tasks === 1
          ? " task: one core"
          : " parallel tasks",
    ]),
    part("lanes", ["", effect.lanes === 1 ? " lane: not vectorized" : " SIMD lanes"]),
    part("copies", ["unrolled ", "×"]),
    estimated(model, effect, before),
    measured(model, step),
  ];
}

/**
 * What a run costs with these loops, counted, and what this step changed of it.
 * @param {Model} model
 * @param {Effect} effect
 * @param {Effect} before
 */
function estimated({ gpu }, effect, before) {
  if (!effect.instructions) return null;
  /**
   * @param {string} key
   * @param {[string, string]} words
   */
  const part = (key, words, ...content) => {
    const told = changed(effect[key], before[key], words);
    return h(
      "span",
      { class: told ? "changed estimated" : "estimated", title: counted({ gpu }) },
      content,
      told && `, ${told}`,
    );
  };
  /** @type {[string, string]} */
  const many = ["fewer", "more"];
  const instructions = h("b", null, amount(effect.instructions));
  if (gpu)
    return [
      part("instructions", many, "estimated ", instructions, " instructions per thread"),
      part("traffic", many, h("b", null, bytes(effect.traffic)), " read and written"),
    ];
  return [
    part("cycles", many, "estimated ", h("b", null, amount(effect.cycles)), " cycles of the busiest core"),
    part("instructions", many, instructions, " instructions"),
    effect.near > 0
      ? part(
          "near",
          many,
          "fetched ",
          h("b", null, bytes(effect.near)),
          effect.far > 0 && [", ", h("b", null, bytes(effect.far)), " from beyond L2"],
        )
      : part("near", many, "all in L1"),
  ];
}

/**
 * How long a run took with these loops, where that was measured.
 * @param {Model} model
 * @param {number} step
 */
function measured({ times, flops }, step) {
  if (times.length === 0) return null;
  const told = faster(times, step);
  const rate = flops > 0 ? `, ${Number((flops / times[step]).toPrecision(3))} GFLOP/s` : "";
  return h(
    "span",
    { class: told.includes("×") ? "changed measured" : "measured" },
    "measured ",
    h("b", null, duration(times[step])),
    rate,
    told && `, ${told}`,
  );
}
