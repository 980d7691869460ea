// Derived from the dataclasses of relay_explorer/views by `make views`.
import type * as common from "./common.js";

/**
 * How operators are grouped into kernels, function by function, and how they would be under other limits. The
 * first function is shown first.
 */
export interface FusionView extends common.BaseView {
  view: "fusion";
  patterns: PatternWord[];
  functions: FusedFunction[];
}

/** A pattern in the legend. */
export interface PatternWord {
  number: number;
  letter: string;
  name: string;
  what: string;
}

/** A function of the module, its rows, and the result of the pass. */
export interface FusedFunction {
  name: string;
  summary: string;
  first: number;
  last: number;
  nodes: FusionNode[];
  variants: Variant[];
}

/**
 * An expression that can be in a kernel: its row, name and label, its pattern, its type and the bytes of its
 * value, its users, and whether its value must be stored (`held`). `part` is what an operator contributes to a
 * kernel's name ("" for an expression that computes nothing); `read`, `written` (bytes) and `flops` are those of
 * a kernel that consists of this operator alone.
 */
export interface FusionNode {
  row: number;
  name: string;
  label: string;
  pattern: number;
  type: string;
  bytes: number;
  uses: number[];
  held: boolean;
  part: string;
  read: number;
  written: number;
  flops: number;
}

/**
 * The result of the pass under some limits. `launches` and `bytes` are given before and after fusion; `order`
 * lists the program's rows with those of each kernel together, () if they already are.
 */
export interface Variant {
  name: string;
  say: string[];
  patterns: OtherPattern[];
  dominators: number[];
  steps: FusionStep[];
  kernels: Kernel[];
  launches: BeforeAfter;
  bytes: BeforeAfter;
  order: number[];
}

/** A node that has another pattern in a variant. */
export interface OtherPattern {
  node: number;
  pattern: number;
}

/**
 * One decision: can `node` be fused into the kernel of `target`? `launches` and `bytes` are what the program
 * would need if its groups after this step were the kernels.
 */
export interface FusionStep {
  mark: number;
  phase: number;
  node: number;
  target: number;
  say: string[];
  rule: string[];
  obstacle: number;
  merged: number[];
  launches: number;
  bytes: number;
}

/** A group at the end: its nodes, its memory traffic and its operations. */
export interface Kernel {
  name: string;
  nodes: number[];
  read: number;
  written: number;
  flops: number;
  result: number;
}

/** An amount with one kernel for each operator, and with the kernels of the pass. */
export interface BeforeAfter {
  before: number;
  after: number;
}
