// Derived from the dataclasses of relay_explorer/views by `make views`.
import type * as common from "./common.js";
import type * as ir from "./ir.js";

/**
 * Two programs, A and B, each with its graph. `partners` has, for each node of A, the corresponding node of B or
 * -1. The first of the `differences` is the summary; those of signatures come before the others. `passes` is the
 * pipeline, as text, that makes B of A, where a pipeline produced B.
 */
export interface CompareView extends common.BaseView {
  view: "compare";
  a: ir.IRView;
  b: ir.IRView;
  same: boolean;
  pairs: Pair[];
  partners: number[];
  differences: Difference[];
  counts: OperatorCount[];
  measures: Measure[];
  passes: string | null;
}

/**
 * Two rows side by side, of A and of B (-1: none on that side), their fate, and what differs (see `Differs`). A
 * row that moved occurs twice, once on each side; `other` is the pair of its other half.
 */
export interface Pair {
  a: number;
  b: number;
  fate: number;
  differs: number;
  other: number;
}

/** A difference, in the pairs from `first` to `last`; the summary has none (-1). */
export interface Difference {
  mark: number;
  first: number;
  last: number;
  say: string[];
}

/** How often A and B call an operator. */
export interface OperatorCount {
  name: string;
  a: number;
  b: number;
}

/** A size or cost of A and of B. */
export interface Measure {
  name: string;
  unit: number;
  a: number;
  b: number;
}
