// The vocabulary of marks of a partial evaluation: a shape as well as a color for each kind of step, a sign for how
// much of a value is known.

/** By the step's mark in the data. */
export const MARKS = [
  { id: "begin", shape: "bar", label: "begin" },
  { id: "computed", shape: "dot", label: "computed" },
  { id: "built", shape: "ring", label: "static" },
  { id: "kept", shape: "square", label: "residual" },
  { id: "effect", shape: "link", label: "effect" },
  { id: "inlined", shape: "down", label: "inlined" },
  { id: "unrolled", shape: "turn", label: "unrolled" },
  { id: "returned", shape: "triangle", label: "returned" },
  { id: "decided", shape: "diamond", label: "static choice" },
  { id: "undecided", shape: "cross", label: "dynamic choice" },
  { id: "stays", shape: "cross", label: "residual call", rare: true },
  { id: "finish", shape: "flag", label: "end", rare: true },
  { id: "gap", shape: "dots", label: "left out", rare: true, always: true },
];
export const KEPT = 3,
  EFFECT = 4,
  INLINED = 5,
  UNROLLED = 6;

/** By the state of a value. */
export const STATES = [
  { id: "known", sign: "●", word: "static" },
  { id: "part", sign: "◐", word: "partly static" },
  { id: "later", sign: "○", word: "dynamic" },
  { id: "effect", sign: "◆", word: "an effect" },
];
