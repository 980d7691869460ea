// Derived from the dataclasses of relay_explorer/views by `make views`.
import type * as common from "./common.js";

/**
 * One kernel at every level, and its schedule step by step; `times` are the nanoseconds of a run with the loops
 * of each step, where that was measured.
 */
export interface LoweringView extends common.BaseView {
  view: "lowering";
  name: string;
  target: string;
  rule: string;
  choice: Choice[];
  flops: number;
  operators: Operator[];
  stages: Stage[];
  steps: ScheduleStep[];
  times: number[];
  codes: Code[];
}

/** A choice of the schedule, such as a tile size, and its value. */
export interface Choice {
  name: string;
  value: string;
}

/** A call of the kernel: its row, its name, and the hue that it has at every level. */
export interface Operator {
  row: number;
  name: string;
  hue: string;
  detail: string;
}

/** A tensor expression, and the operator that it belongs to (-1: an argument of the kernel). */
export interface Stage {
  operator: number;
  text: string;
}

/** A primitive of the schedule, and the loops after it. */
export interface ScheduleStep {
  mark: number;
  primitive: string;
  say: string[];
  why: string[];
  nest: Part[];
  effect: Effect;
}

/**
 * Code that is generated from the loops: LLVM IR, assembly, CUDA C or PTX. `blocks` are the operators of each
 * block; `others` counts the instructions that are left out because they compute nothing, `cut` the lines beyond
 * the limit.
 */
export interface Code {
  name: string;
  purposes: string[];
  blocks: number[][];
  lines: CodeLine[];
  others: number;
  cut: number;
}

/**
 * A part of a loop nest: a loop (with its number of iterations, -1 if dynamic, and its kind) or a block (with
 * the statement that stores its result); the operators within it; whether the step affects it.
 */
export interface Part {
  is_block: boolean;
  depth: number;
  name: string;
  text: string;
  extent: number;
  how: string;
  operators: number[];
  touched: boolean;
}

/**
 * Numbers that are counted in the loops: separate nests, parallel tasks (on a GPU: threads), SIMD lanes (the
 * most), copies of a statement in unrolled loops (the most); and those that `lower.inspect.estimate` estimates:
 * instructions of the busiest core (on a GPU: of one thread), bytes read and written, and for the busiest core
 * of a CPU the bytes fetched from beyond L1 and from beyond L2, and cycles.
 */
export interface Effect {
  nests: number;
  tasks: number;
  lanes: number;
  copies: number;
  instructions: number;
  traffic: number;
  near: number;
  far: number;
  cycles: number;
}

/**
 * A line of code: its purpose (-1: a label), the block that it came from (-1: none), and the number of loops
 * around it.
 */
export interface CodeLine {
  text: string;
  purpose: number;
  block: number;
  depth: number;
}
