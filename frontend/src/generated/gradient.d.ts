// Derived from the dataclasses of relay_explorer/views by `make views`.
import type * as common from "./common.js";

/** A function and its derivatives, side by side. */
export interface GradientView extends common.BaseView {
  view: "gradient";
  values: Value[];
  lines: Line[];
  steps: GradientStep[];
  forward: Work;
  backward: Work;
  kept: Held;
  shapes: Held;
}

/**
 * A parameter or a binding of the forward program: what is stored of it, the line that computes its complete
 * derivative (-1: none), and the values that use it.
 */
export interface Value {
  row: number;
  name: string;
  label: string;
  type: string;
  bytes: number;
  given: boolean;
  kept: number;
  derivative: number;
  users: number[];
}

/** A binding that the backward pass adds, beside the value to whose rule or sum it belongs. */
export interface Line {
  value: number;
  role: number;
  tokens: common.Token[];
  name: string;
  type: string;
  flops: number;
  bytes: number;
  uses: Use[];
}

/** One expression of the backward pass; `kept` are the stored bytes that later steps still use. */
export interface GradientStep {
  mark: number;
  value: number;
  say: string[];
  rule: string[];
  lines: number[];
  came: number[];
  to: Handed[];
  kept: number;
}

/** Calls of operators, their operations (FLOPs), and the bytes of their results. */
export interface Work {
  calls: number;
  flops: number;
  bytes: number;
}

/** A number of values, and their bytes. */
export interface Held {
  values: number;
  bytes: number;
}

/** A forward value that a line uses, and how. */
export interface Use {
  value: number;
  how: number;
}

/** A derivative that a step passes on: to which value, and the line that computes it (-1: unchanged). */
export interface Handed {
  value: number;
  line: number;
}
