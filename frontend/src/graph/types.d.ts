// The types that the steps of the layout share.

/** A list of numbers, typed or not. */
export type Numbers = ArrayLike<number> & Iterable<number>;

/** What a caller gives `makeSpec`; what is left out has a default. */
export interface SpecInput {
  count: number;
  /** Flat [from, to, …] in the order of the operands of each `to`. */
  edges?: Numbers;
  width?: Numbers | null;
  height?: Numbers | null;
  /** Of each node, the group that holds it, or -1. */
  group?: Numbers | null;
  /** Of each group, the group that holds it, or -1. */
  parents?: number[];
  folded?: Numbers | null;
  hidden?: Numbers | null;
  keys?: ArrayLike<Key> | null;
  groupKeys?: ArrayLike<Key> | null;
  foldedWidth?: Numbers | null;
  foldedHeight?: Numbers | null;
}

/** Items with the same key stay where they were. */
export type Key = string | number;

/** What `layout` draws from, with nothing left out. */
export interface Spec {
  count: number;
  edges: Numbers;
  width: Numbers;
  height: Numbers;
  group: Numbers;
  parents: Int32Array;
  folded: Numbers;
  hidden: Numbers;
  keys: (node: number) => Key;
  groupKeys: (group: number) => string;
  foldedWidth: Numbers;
  foldedHeight: Numbers;
}

/** The edges of one level that start at the same value. */
export interface Net {
  source: number;
  /** Places of items in their level. */
  from: number;
  to: number[];
  /** Where in `to` a place stands. */
  at: Map<number, number>;
  /** Of each in `to`: the edge closes a cycle. */
  back: boolean[];
}

/** The inside of one open group, or of the whole graph (group -1). */
export interface Level {
  group: number;
  depth: number;
  items: number[];
  /** Of each item: ITEM, PORT_IN or PORT_OUT. */
  kind: number[];
  /** The place of an item, or of a port by its name. */
  local: Map<Key, number>;
  nets: Net[];
  /** The net of a source. */
  netOf: Map<number, number>;
  /** Of each item, the nets that end and start there. */
  ins: number[][];
  outs: number[][];
  /** Sizes of the items, once they are measured. */
  left: Float64Array;
  right: Float64Array;
  height: Float64Array;
  /** Of each item, what names it from one layout to the next. */
  refs: Key[];
}

/** The operands and users of each item of a level. */
export interface Adjacency {
  preds: number[][];
  succs: number[][];
}

/** In which layer each item of a level stands. */
export interface Layering {
  layer: Int32Array;
  count: number;
  heights: Float64Array;
  /** Of each layer the one that it was before, or -1. */
  old?: Int32Array;
}

/** A level of the layout before: its items by their refs. */
export interface PreviousLevel {
  items: Map<Key, { layer: number }>;
  heights: Numbers;
}
