// Derived from the dataclasses of relay_explorer/views by `make views`.
import type * as common from "./common.js";

/**
 * A function evaluated as far as its data are static, and the residual program. The rows are the program's, and
 * from `split` on those of the residual program; `items` are the rows that tokens refer to, with their names.
 */
export interface PartialView extends common.BaseView {
  view: "partial";
  split: number;
  items: Item[];
  residual: ResidualRow[];
  frames: PartialFrame[];
  steps: PartialStep[];
  totals: PartialTotals;
  start: number;
  gap: Gap | null;
}

/** What a token names: the row that defines it, in its own program, and its name, or "". */
export interface Item {
  row: number;
  name: string;
}

/**
 * A row of the residual program: after which step it exists, the row that it came from (-1: none), and whether
 * it is needed.
 */
export interface ResidualRow {
  born: number;
  source: number;
  needed: boolean;
}

/**
 * A function being evaluated: its name and rows, its caller and the row of the call, its recursion depth
 * (`turn`), and its first and last step.
 */
export interface PartialFrame {
  name: string;
  first: number;
  last: number;
  caller: number;
  call: number;
  turn: number;
  begins: number;
  ends: number;
}

/** One decision about the row `row`, in `frame`. `block` is the row of the branch that is entered. */
export interface PartialStep {
  mark: number;
  row: number;
  frame: number;
  say: string[];
  block: number;
  changes: (Bound | Cells)[];
}

/** Totals of the whole run: the work done at compile time, and the length of the residual program. */
export interface PartialTotals {
  steps: number;
  computed: number;
  decided: number;
  inlined: number;
  kept: number;
  needed: number;
}

/** Step `step` stands for `left_out` steps that are not in the data. */
export interface Gap {
  step: number;
  left_out: number;
}

/** The program's row `at` gets a value in a frame; `row` of the residual program computes it. */
export interface Bound {
  tag: "b";
  frame: number;
  at: number;
  state: number;
  text: string;
  row: number;
}

/** The static contents of cells from now on; the contents of all other cells are dynamic. */
export interface Cells {
  tag: "c";
  held: CellValue[];
}

/** A cell, and its static content. */
export interface CellValue {
  cell: string;
  text: string;
}
