// The vocabulary of marks of an evaluation: a shape as well as a color for each kind of step.

/** By the step's mark in the data. */
export const MARKS = [
  { id: "begin", shape: "bar", label: "begin" },
  { id: "value", shape: "dot", label: "value" },
  { id: "call", shape: "down", label: "call" },
  { id: "tail", shape: "turn", label: "tail call" },
  { id: "return", shape: "triangle", label: "return" },
  { id: "choice", shape: "diamond", label: "choice" },
  { id: "closure", shape: "ring", label: "function value" },
  { id: "cell", shape: "square", label: "reference" },
  { id: "failure", shape: "cross", label: "failure", rare: true, always: true },
  { id: "end", shape: "flag", label: "end", rare: true },
  { id: "gap", shape: "dots", label: "left out", rare: true, always: true },
];

/** By an object's kind: the sign before its number, and the word that is heard. */
export const KINDS = [
  { id: "tensor", word: "tensor" },
  { id: "tuple", word: "tuple" },
  { id: "data", word: "constructed value" },
  { id: "ref", word: "reference" },
  { id: "closure", word: "function" },
];
