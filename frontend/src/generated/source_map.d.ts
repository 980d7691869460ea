// Derived from the dataclasses of relay_explorer/views by `make views`.
import type * as common from "./common.js";

/**
 * The node list of a model, in the rows before `split`, and the Relay program, in the others. `framework` is the
 * name of the framework.
 */
export interface SourceView extends common.BaseView {
  view: "source";
  framework: string;
  split: number;
  nodes: SourceNode[];
  modules: Module[];
  totals: SourceTotals;
}

/**
 * A node of the model: its row in the node list; the framework's operator, its name, the path of its module, the
 * place in the user's code; the names of its operands and results; the type of its result; in a few words what
 * it `became`; and the rows of the program that came from it, if only in part.
 */
export interface SourceNode {
  row: number;
  fate: number;
  op: string;
  name: string;
  path: string;
  location: string;
  inputs: string[];
  outputs: string[];
  attributes: Attribute[];
  type: string;
  became: string;
  say: string[];
  rows: number[];
}

/** Successive nodes of one module, or all weights: the row of the heading, the path, the first node and the last. */
export interface Module {
  row: number;
  path: string;
  first: number;
  last: number;
}

/** The number of nodes with each fate, and of rows of the program that came from no node. */
export interface SourceTotals {
  expressions: number;
  constants: number;
  nothing: number;
  unlinked: number;
}

/** An attribute of a node. */
export interface Attribute {
  name: string;
  value: string;
}
