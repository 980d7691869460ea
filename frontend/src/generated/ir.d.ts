// Derived from the dataclasses of relay_explorer/views by `make views`.
import type * as common from "./common.js";

/** The program as text and graph. The nodes are in the order of evaluation. */
export interface IRView extends common.BaseView {
  view: "ir";
  families: Family[];
  nodes: Node[];
  edges: Edge[];
  groups: Group[];
  scopes: Scope[];
  totals: Totals;
  devices: Placement[];
  times: Time[];
  values: Values[];
}

/** A family of operators, and how its nodes are drawn. The hue is a color's name in `theme.css`. */
export interface Family {
  name: string;
  shape: "rect" | "round" | "hex" | "diamond" | "circle" | "trapezium" | "parallelogram" | "bar";
  hue: "blue" | "orange" | "teal" | "red" | "purple" | "olive" | "sky" | "pink" | "brown" | "grey";
}

/**
 * An expression. `params` counts the scalars of parameters that it reads, `bytes` the bytes read and written,
 * `uses` the outgoing edges (more than one: it is shared); `detail` is the operator's one-line description, or
 * "". `imported` is the node of the imported model from which the expression came.
 */
export interface Node {
  label: string;
  family: number;
  row: number;
  type: string;
  short: string;
  params: number;
  flops: number;
  bytes: number;
  attributes: string;
  group: number;
  uses: number;
  detail: string;
  imported: common.ModelNode | null;
}

/** `source` produces operand number `operand` of `target`. */
export interface Edge {
  source: number;
  target: number;
  operand: number;
}

/**
 * A function (kind 0), a block (1) or a branch (2), and its rows; groups nest. Blocks with the same `repeat`
 * consist of the same operations, connected in the same way; sizes may differ. `module` is the path of the
 * imported model's module of which the block consists; a block without one is a repeated part.
 */
export interface Group {
  label: string;
  parent: number;
  first: number;
  last: number;
  kind: number;
  repeat: string;
  module: string;
}

/** The variable that the `let` at `row` binds can be used in the rows from `first` to `last`. */
export interface Scope {
  row: number;
  first: number;
  last: number;
}

/** Sums over the program, in which each expression counts once. */
export interface Totals {
  nodes: number;
  calls: number;
  params: number;
  flops: number;
  bytes: number;
}

/** The device on which an expression is computed, or the compiler that compiles it: "cuda:0", "dsp". */
export interface Placement {
  node: number;
  device: string;
}

/** The measured nanoseconds of the kernels whose most expensive expression is `node`. */
export interface Time {
  node: number;
  ns: number;
}

/**
 * The elements of a constant or a parameter: how many there are and how many were examined; of these, how many
 * are zero, and how many are no finite number; the least, the greatest and the mean of the finite ones, as
 * texts; and how many lie in each of the equal intervals between the least and the greatest.
 */
export interface Values {
  node: number;
  elements: number;
  examined: number;
  zeros: number;
  odd: number;
  least: string;
  greatest: string;
  mean: string;
  histogram: number[];
}
