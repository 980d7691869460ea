// Derived from the dataclasses of relay_explorer/views by `make views`.
import type * as common from "./common.js";
import type * as lowering from "./lowering.js";

/**
 * A measured run: every kernel under the machine's limits, every launch in time. The kernels are sorted, those
 * with the most time first; `levels` has the lowering views of some of them, by their numbers. With `live`,
 * Python can build those of the others.
 */
export interface RunView extends common.BaseView {
  view: "run";
  machine: Machine;
  ns: number;
  runs: number;
  say: string[];
  why: string[];
  rules: Rule[];
  kernels: RunKernel[];
  launches: RunLaunch[];
  levels: Level[];
  start: number;
  live: boolean;
}

/**
 * The machine that ran the program: its name, the target of the kernels, the number of threads, and its limits
 * in operations and bytes per second.
 */
export interface Machine {
  name: string;
  target: string;
  threads: number;
  flops: number;
  bandwidth: number;
}

/** A schedule rule, and how the marks of its kernels are drawn. */
export interface Rule {
  name: string;
  shape: "rect" | "round" | "hex" | "diamond" | "circle" | "trapezium" | "parallelogram" | "bar";
  hue: "blue" | "orange" | "teal" | "red" | "purple" | "olive" | "sky" | "pink" | "brown" | "grey";
}

/**
 * A kernel: its row, its name, its rule (an index), operations and bytes of one call, nanoseconds of all its
 * calls, their number, the fewest nanoseconds that the machine's limits allow for them, whether arithmetic is
 * the limit (else memory), and its two sentences.
 */
export interface RunKernel {
  row: number;
  name: string;
  rule: number;
  flops: number;
  traffic: number;
  ns: number;
  calls: number;
  least: number;
  by_arithmetic: boolean;
  say: string[];
  why: string[];
}

/** A call of a kernel (an index): its start and its duration in nanoseconds. */
export interface RunLaunch {
  kernel: number;
  start: number;
  ns: number;
}

/** A kernel (an index), and its view at every level. */
export interface Level {
  kernel: number;
  view: lowering.LoweringView;
}
