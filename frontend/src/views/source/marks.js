// The marks of the source view: a shape as well as a color for what became of a node.

/** By the node's fate in the data. */
export const MARKS = [
  { id: "became", shape: "dot", label: "expressions" },
  { id: "constant", shape: "square", label: "constant" },
  { id: "nothing", shape: "cross", label: "no expression" },
];
export const NOTHING = 2;
