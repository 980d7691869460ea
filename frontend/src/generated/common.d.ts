// Derived from the dataclasses of relay_explorer/views by `make views`.

/**
 * One line of the program. `depth` is its indentation, `node` the node that it defines (only in the IR view),
 * `end` the closing row of the block that it opens; -1 stands for none. `type` is the inferred type of the value
 * that it defines, empty where there is none or it is not known. `imported` is the node of the imported model
 * from which the line came.
 */
export interface Row {
  kind: number;
  depth: number;
  tokens: Token[];
  node: number;
  end: number;
  type: string;
  imported: ModelNode | null;
}

/**
 * A token of a row's text. `ref` is the index of what it names: a node (IR, fusion), a type variable (types), a
 * name (evaluation), a key (sharing), an item (pipeline, partial), a value or line (gradient), a value (memory),
 * an operator (lowering), a kernel (run), or -1.
 */
export interface Token {
  kind: number;
  text: string;
  ref: number;
}

/**
 * A node of an imported model, from which an expression came: the framework's operator, the node's name, the
 * path of its module, and where the user's code calls it; an empty text stands for what is unknown.
 */
export interface ModelNode {
  op: string;
  name: string;
  path: string;
  location: string;
}

/** A sentence: a template, then its arguments. */
export type Sentence = string[];

/** What every view has. */
export interface BaseView {
  view: string;
  title: string;
  /** One or two sentences: the text equivalent of the first frame. */
  summary: string;
  /** Why the step that is shown first is that one, in a few words; empty where there is nothing to say. */
  opening: string;
  /** The program as text to edit, where the rows refer to constants; otherwise empty. */
  editable: string;
  rows: Row[];
}
