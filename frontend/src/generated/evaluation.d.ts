// Derived from the dataclasses of relay_explorer/views by `make views`.
import type * as common from "./common.js";

/** A recorded run, step by step. `totals` are of the whole run. */
export interface EvaluationView extends common.BaseView {
  view: "evaluation";
  names: NameRow[];
  objects: ObjectBox[];
  frames: FrameBox[];
  steps: EvaluationStep[];
  args: Argument[];
  result: number | string | null;
  failure: Failure | null;
  gap: Gap | null;
  totals: Record<string, number>;
  start: number;
  live: Live | null;
}

/** What can have a value in a frame: its name ("" if it has none), its row, and what it is. */
export interface NameRow {
  name: string;
  row: number;
  what: string;
}

/** An object with an identity. `last` is the last step after which it can still be reached. */
export interface ObjectBox {
  kind: number;
  label: string;
  text: string;
  type: string;
  parts: ObjectPart[];
  row: number;
  step: number;
  last: number;
  bytes: number;
}

/**
 * An activation: whose, its rows, which activation waits for it and where, whose place it took, and from when to
 * when it lives.
 */
export interface FrameBox {
  name: string;
  first: number;
  last: number;
  caller: number;
  call_row: number;
  before: number;
  turn: number;
  entered: number;
  left: number;
}

/**
 * One step: the sentence, the earlier steps that it used, and what it changed. The state after a step is that of
 * the step before with its changes applied in order, starting from nothing.
 */
export interface EvaluationStep {
  mark: number;
  row: number;
  frame: number;
  say: string[];
  because: number[];
  changes: (Appears | Called | Replaced | Left | Bound | Captured | Taken | Opened | Written | Emptied)[];
}

/** An argument's name, and its value. */
export interface Argument {
  name: string;
  value: number | string;
}

/** Why a run went wrong. */
export interface Failure {
  step: number;
  row: number;
  say: string[];
  notes: string[][];
  tries: string[][];
}

/** Step `step` stands for `left_out` steps that are not in the data. */
export interface Gap {
  step: number;
  left_out: number;
  say: string[];
}

/** What a live widget may ask to be changed: the number of steps, and the arguments as texts. */
export interface Live {
  limit: number;
  args: ArgumentText[];
}

/** A field (".0", ".1", …), what a function captured ("%x"), or what a cell held first (""). */
export interface ObjectPart {
  name: string;
  value: number | string;
  role: number;
}

/** The object appears. */
export interface Appears {
  tag: "o";
  object: number;
}

/** The frame goes on top of the stack. */
export interface Called {
  tag: "f";
  frame: number;
}

/** The frame replaces the top one (a tail call), so the stack keeps its height. */
export interface Replaced {
  tag: "g";
  frame: number;
}

/** The top frame, this one, leaves the stack. */
export interface Left {
  tag: "r";
  frame: number;
}

/** In the frame, the name gets its value. */
export interface Bound {
  tag: "b";
  frame: number;
  name: number;
  value: number | string;
}

/** The same for a captured name: it is written outside the function's rows. */
export interface Captured {
  tag: "e";
  frame: number;
  name: number;
  value: number | string;
}

/**
 * The block that begins at this row (of an `if` its own row or its `else` row, of a `match` a clause's) is the
 * one taken.
 */
export interface Taken {
  tag: "k";
  frame: number;
  row: number;
}

/** The objects that the choice opened, from the outside in. */
export interface Opened {
  tag: "m";
  objects: number[];
}

/** The cell is written. Its history is its first part, then these. */
export interface Written {
  tag: "w";
  object: number;
  value: number | string;
}

/** The stack is emptied at a gap. */
export interface Emptied {
  tag: "x";
}

/** An argument's name, and the text that means its value. */
export interface ArgumentText {
  name: string;
  text: string;
}
