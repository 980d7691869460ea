// Derived from the dataclasses of relay_explorer/views by `make views`.
import type * as common from "./common.js";

/** The costs of a program, call by call and operator by operator, the most expensive operator first. */
export interface CostsView extends common.BaseView {
  view: "costs";
  operators: OperatorCost[];
  calls: CallCost[];
}

/** An operator: how often it is called, and the floating-point operations and bytes of all its calls. */
export interface OperatorCost {
  name: string;
  calls: number;
  flops: number;
  bytes: number;
}

/** A call: its row, its operator, and its floating-point operations and bytes, read and written. */
export interface CallCost {
  row: number;
  operator: number;
  flops: number;
  bytes: number;
}
