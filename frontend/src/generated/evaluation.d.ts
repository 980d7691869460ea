// Derived from the dataclasses of relay_explorer/views by `make views`.
import type * as common from "./common.js";

/**
 * A recorded run, step by step. `totals` are of the whole run. `texts` are the arguments as the playground reads
 * them ("": one that is too large to be written).
 */
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
  texts: string[];
}

/** An expression that can have a value in a frame: its name ("" if it has none), its row and its kind. */
export interface NameRow {
  name: string;
  row: number;
  what: string;
}

/** An object with identity. `last` is the last step after which it can still be reached. */
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
 * A stack frame: its function's name and rows, its caller and the row of the call, the frame that it replaced by
 * a tail call (`before`), the number of such replacements so far (`turn`), and the steps that enter and leave
 * it.
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
 * One step: its sentence, the earlier steps whose results it used, and its changes. Applied in order to the
 * state after the previous step, they give the state after this one; the first state is empty.
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

/** Why a run failed. */
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

/** What a live widget can change: the number of recorded steps, and the arguments as texts. */
export interface Live {
  limit: number;
  args: ArgumentText[];
}

/** A part: a field (".0", ".1", …), a captured value ("%x"), or the first content of a cell (""). */
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

/** The frame is pushed onto the stack. */
export interface Called {
  tag: "f";
  frame: number;
}

/** The frame replaces the top one (a tail call), so the stack keeps its height. */
export interface Replaced {
  tag: "g";
  frame: number;
}

/** The frame, which is the top one, is popped from the stack. */
export interface Left {
  tag: "r";
  frame: number;
}

/** The name gets this value in the frame. */
export interface Bound {
  tag: "b";
  frame: number;
  name: number;
  value: number | string;
}

/** A captured name gets this value in the frame. It is defined outside the function's rows. */
export interface Captured {
  tag: "e";
  frame: number;
  name: number;
  value: number | string;
}

/**
 * The branch that begins at this row is taken: the row of an `if` or of its `else`, or that of a clause of a
 * `match`.
 */
export interface Taken {
  tag: "k";
  frame: number;
  row: number;
}

/** The objects that a match inspected, the outermost first. */
export interface Opened {
  tag: "m";
  objects: number[];
}

/** The cell is written. Its first part and then these values are its history. */
export interface Written {
  tag: "w";
  object: number;
  value: number | string;
}

/** The stack is emptied at a gap. */
export interface Emptied {
  tag: "x";
}

/** An argument's name, and the text from which its value is parsed. */
export interface ArgumentText {
  name: string;
  text: string;
}
