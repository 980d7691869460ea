// Derived from the dataclasses of relay_explorer/views by `make views`.
import type * as common from "./common.js";

/**
 * A function's values in memory, under several plans. `same` are rows that give another name, or another shape,
 * to a value that is stored anyway, each with that value. `grid` has the variant for each combination of
 * choices, with the last of the `axes` varying fastest.
 */
export interface MemoryView extends common.BaseView {
  view: "memory";
  values: MemoryValue[];
  rules: string[];
  same: Renamed[];
  axes: Axis[];
  grid: number[];
  variants: MemoryVariant[];
}

/**
 * A tensor of the program: its row, its name, its label (the operator that computes it), its type and size.
 * `origin` is 0 for a computed value, 1 for a parameter, 2 for a constant.
 */
export interface MemoryValue {
  row: number;
  name: string;
  label: string;
  type: string;
  bytes: number;
  origin: number;
}

/** A row that gives another name, or another shape, to a value that is stored anyway. */
export interface Renamed {
  row: number;
  value: number;
}

/** A choice between plans: its name, and the alternatives. */
export interface Axis {
  name: string;
  choices: string[];
}

/**
 * One plan: `buffers` are offsets and sizes, `live` the bytes in use during each step, `inside` values that are
 * never stored, each with the step in whose kernel it is.
 */
export interface MemoryVariant {
  say: string[];
  steps: MemoryStep[];
  lives: Life[];
  buffers: Buffer[];
  live: number[];
  inside: Inside[];
  totals: MemoryTotals;
}

/** A step: the lifetimes that it begins, reads and ends, and the values that it concerns. */
export interface MemoryStep {
  mark: number;
  label: string;
  say: string[];
  makes: number[];
  reads: number[];
  frees: number[];
  values: number[];
}

/**
 * A tensor that is stored: the step that computes it and the last that reads it, its buffer, the `bytes` that it
 * takes there, why it has that buffer, and the previous life in that buffer (-1: none).
 */
export interface Life {
  value: number;
  made: number;
  last: number;
  buffer: number;
  bytes: number;
  rule: number;
  before: number;
  name: string;
}

/** A buffer's address range. */
export interface Buffer {
  offset: number;
  size: number;
}

/** A value that is never stored, and the step in whose kernel it is computed. */
export interface Inside {
  value: number;
  step: number;
}

/**
 * Bytes: the peak of live bytes, the size of all buffers, their size without reuse; the size of parameters and
 * constants outside of the buffers; and the size of an arena in which values have address ranges instead of
 * whole buffers (None if unknown).
 */
export interface MemoryTotals {
  peak: number;
  arena: number;
  total: number;
  outside: number;
  packed: number | null;
}
