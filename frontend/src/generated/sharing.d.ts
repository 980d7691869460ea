// Derived from the dataclasses of relay_explorer/views by `make views`.
import type * as common from "./common.js";

/** A computation as a graph, with `let`, and expanded into a tree. */
export interface SharingView extends common.BaseView {
  view: "sharing";
  keys: Key[];
  forms: Form[];
}

/** A computation that is the same in all forms: its name in the first one, and the expression. */
export interface Key {
  name: string;
  what: string;
}

/**
 * A form of the computation. `first` and `last` are its rows (-1: it is too long to be shown), `steps` is the
 * number of recorded steps, out of `total`, `live` the bytes that are live after each, `peak` the step with the
 * most live bytes and their number.
 */
export interface Form {
  name: string;
  say: string[];
  first: number;
  last: number;
  items: Item[];
  steps: number;
  total: number;
  live: number[];
  peak: Peak;
}

/**
 * An expression of a form: how often it was evaluated, the bytes of one value, and for each evaluation the step
 * that computed the value and the last that needs it.
 */
export interface Item {
  key: number;
  row: number;
  runs: number;
  bytes: number;
  lives: Span[];
}

/** The step with the most bytes in use, and how many. */
export interface Peak {
  step: number;
  bytes: number;
}

/** A value's lifetime: the step that computes it, and the last that needs it. */
export interface Span {
  made: number;
  last: number;
}
