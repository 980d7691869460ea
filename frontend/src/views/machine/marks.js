// The vocabulary of marks of a run of the virtual machine: a shape as well as a color for each kind of step.

/** By the step's mark in the data. */
export const MARKS = [
  { id: "begin", shape: "bar", label: "begin" },
  { id: "value", shape: "dot", label: "load" },
  { id: "memory", shape: "square", label: "memory" },
  { id: "kernel", shape: "link", label: "kernel" },
  { id: "closure", shape: "ring", label: "value created" },
  { id: "cell", shape: "square", label: "reference" },
  { id: "choice", shape: "diamond", label: "jump" },
  { id: "call", shape: "down", label: "call" },
  { id: "tail", shape: "turn", label: "tail call" },
  { id: "return", shape: "triangle", label: "return" },
  { id: "failure", shape: "cross", label: "failure", rare: true, always: true },
  { id: "end", shape: "flag", label: "end", rare: true },
  { id: "gap", shape: "dots", label: "left out", rare: true, always: true },
];

/** By an object's kind: how its value is drawn, and the word that is heard. */
export const KINDS = [
  { id: "storage", word: "storage" },
  { id: "tensor", word: "tensor" },
  { id: "tuple", word: "tuple" },
  { id: "data", word: "constructed value" },
  { id: "closure", word: "closure" },
  { id: "ref", word: "reference" },
];
