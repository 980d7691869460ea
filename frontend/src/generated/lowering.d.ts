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

/** A size of the schedule's tiles. */
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
 * Code that the loops become: LLVM's text and the assembly, or CUDA C and PTX. `blocks` are the operators of
 * each block; `others` counts the instructions that are left out because they compute nothing, `cut` the lines
 * beyond the limit.
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
 * A loop (with its number of iterations, -1 if dynamic, and its kind) or a block (with what it stores) of a
 * nest; the operators within it; whether the step concerns it.
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
 * What can be counted in the loops: separate nests, parallel tasks (on a GPU: threads), SIMD lanes (most),
 * copies of a statement in unrolled loops (most); and the estimate of `lower.inspect.estimate`: instructions of
 * the busiest core (on a GPU: of one thread), bytes read and written, and for the busiest core of a CPU the
 * bytes fetched from beyond L1 and from beyond L2, and cycles.
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
 * A line of assembly: its purpose (-1: a label), the block that it came from (-1: none), and the loops that it
 * is in.
 */
export interface CodeLine {
  text: string;
  purpose: number;
  block: number;
  depth: number;
}
