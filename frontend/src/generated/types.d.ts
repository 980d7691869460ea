// Derived from the dataclasses of relay_explorer/views by `make views`.
import type * as common from "./common.js";

/** A recorded inference, step by step. `start` is the step shown first; None is the last. */
export interface TypesView extends common.BaseView {
  view: "types";
  variables: TypeVariable[];
  relations: RelationBox[];
  steps: Step[];
  functions: FunctionRows[];
  conflict: Conflict | null;
  start: number | null;
}

/** A type variable or known type: its name (`α`, `%x`), its row, and what it is the type of. */
export interface TypeVariable {
  name: string;
  row: number;
  what: string;
}

/**
 * A relation: the operator's name, its row, its formula with the variables substituted ("add: γ = β ⊔ α"), and
 * the variables, the output last.
 */
export interface RelationBox {
  name: string;
  row: number;
  label: string;
  variables: number[];
}

/**
 * One step of inference: its sentence, the earlier steps whose results it used, and its changes. Applied in
 * order to the state after the previous step, they give the state after this one; the first state is empty.
 */
export interface Step {
  mark: number;
  row: number;
  say: string[];
  because: number[];
  changes: (Appears | Typed | Unified | Moved | Queued | Requeued | Popped)[];
}

/** A function and its rows. */
export interface FunctionRows {
  name: string;
  first: number;
  last: number;
}

/**
 * Why a program is rejected. If no types disagree, because too little is known, a side has "" for its type, and
 * neither side is drawn.
 */
export interface Conflict {
  step: number;
  row: number;
  say: string[];
  left: Side;
  right: Side;
  tries: string[][];
}

/** The variable appears. */
export interface Appears {
  tag: "v";
  variable: number;
}

/** The type of the variable's class becomes this. */
export interface Typed {
  tag: "t";
  variable: number;
  short: string;
  full: string;
  known: number;
}

/** Two classes become one; the representative of the first leads. */
export interface Unified {
  tag: "u";
  first: number;
  second: number;
}

/** The relation has another status. */
export interface Moved {
  tag: "r";
  relation: number;
  status: number;
}

/** The relation joins the queue at its end. */
export interface Queued {
  tag: "q";
  relation: number;
}

/** The relation moves to, or joins, the front of the queue. */
export interface Requeued {
  tag: "f";
  relation: number;
}

/** The relation leaves the queue. */
export interface Popped {
  tag: "p";
  relation: number;
}

/** One of two types that disagree, and how it was derived. */
export interface Side {
  type: string;
  chain: ChainLink[];
}

/** One link of the chain of steps that led to a type. */
export interface ChainLink {
  step: number;
  row: number;
  say: string[];
}
