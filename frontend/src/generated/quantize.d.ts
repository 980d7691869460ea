// Derived from the dataclasses of relay_explorer/views by `make views`.
import type * as common from "./common.js";

/**
 * A program as it is quantized. The rows are the float program's, and from `split` on those of the integer
 * program; `items` are the rows that tokens refer to, with their names. `asked` is the variant that the rest of
 * the view describes. `worst` is the row that adds most noise. All results are those of `target`: the row from
 * which calls without quantizers compute the program's result, -1 for the result itself. If it is `live`, Python
 * can compute other variants.
 */
export interface QuantizeView extends common.BaseView {
  view: "quantize";
  scheme: string;
  data: string;
  split: number;
  items: Item[];
  states: RowState[];
  sites: Site[];
  integers: IntegerRow[];
  steps: QuantizeStep[];
  axes: Axis[];
  variants: Variant[];
  asked: number;
  totals: QuantizeTotals;
  start: number;
  worst: number;
  target: number;
  live: boolean;
}

/** What a token names: the row that defines it, in its own program, and its name, or "". */
export interface Item {
  row: number;
  name: string;
}

/**
 * What became of a row of the program. `error` is the signal-to-quantization-noise ratio (SQNR) of its value in
 * the simulated quantized program, in decibels; `otherwise` that of the program's result if the scheme had
 * decided about this layer the other way: left it in float, or not. None: not measured, or exact. `say` explains
 * the error.
 */
export interface RowState {
  fate: number;
  error: number | null;
  otherwise: number | null;
  say: string[];
}

/**
 * A value that is quantized: the row beside which it is shown, what it is there (`%x`, `weight`), and its
 * quantizer. `observed` and `kept` are the smallest and the largest value that calibration saw, and those that
 * the integers can represent; `clipped` counts the values outside. There is one scale and one zero point for
 * each channel or group, or only one.
 */
export interface Site {
  row: number;
  name: string;
  role: string;
  bits: number;
  signed: boolean;
  symmetric: boolean;
  per: "tensor" | "channel" | "group";
  rule: string[];
  method: string;
  why: string[];
  low: number;
  high: number;
  kept_low: number;
  kept_high: number;
  values: number;
  tensors: number;
  clipped: number;
  histogram: Histogram | null;
  tried: Threshold[];
  scales: number[];
  zeros: number[];
}

/** A row of the integer program: the row that it came from, its purpose, and the step that adds it. */
export interface IntegerRow {
  source: number;
  kind: number;
  born: number;
}

/** One decision about the row `row`, and the values that it is about. */
export interface QuantizeStep {
  mark: number;
  phase: number;
  row: number;
  say: string[];
  sites: number[];
}

/** A question of the what-if list, and its answers. */
export interface Axis {
  name: string;
  options: string[];
}

/**
 * Another way to quantize the program: one option of each axis, the ratio of the result in decibels (None:
 * exact), on how many of the inputs the largest element of the result is where it was, the bytes of the
 * constants, the ratio of each row, and the ranges. A variant that the pass refused has only the reason.
 */
export interface Variant {
  choice: number[];
  result: number | null;
  same: number;
  bytes: number;
  refused: string;
  errors: RowError[];
  ranges: VariantSite[];
}

/**
 * Totals: calls in integers, in floating point, and in floating point with integer weights, requantizations that
 * were inserted and that cancelled, the bytes of the constants before and after, the inputs of the calibration
 * (0: not known) and of the comparison, and the SQNR of the result in decibels (None: exact).
 */
export interface QuantizeTotals {
  integer: number;
  left: number;
  weights: number;
  requantized: number;
  cancelled: number;
  bytes_before: number;
  bytes_after: number;
  calibrated: number;
  compared: number;
  same: number;
  result: number | null;
}

/** How many of the observed values are in each of the equally wide bins from `low` to `high`. */
export interface Histogram {
  low: number;
  high: number;
  counts: number[];
}

/** A threshold that the calibration tried, and how bad it is by the measure of its method. */
export interface Threshold {
  at: number;
  cost: number;
}

/** The SQNR of a row's value, in decibels. */
export interface RowError {
  row: number;
  error: number;
}

/** The bits of a site in a variant, and the values that its integers can represent. */
export interface VariantSite {
  site: number;
  bits: number;
  kept_low: number;
  kept_high: number;
}
