// The vocabulary of marks of a partial evaluation: a shape as well as a colour for each kind of step, a sign for how
// much of a value is known.

/** By the step's mark in the data. */
export const MARKS = [
  { id: "begin", shape: "bar", label: "begin" },
  { id: "computed", shape: "dot", label: "computed now" },
  { id: "built", shape: "ring", label: "known" },
  { id: "kept", shape: "square", label: "left to run time" },
  { id: "effect", shape: "link", label: "effect, in order" },
  { id: "inlined", shape: "down", label: "inlined" },
  { id: "unrolled", shape: "turn", label: "unrolled" },
  { id: "returned", shape: "triangle", label: "returned" },
  { id: "decided", shape: "diamond", label: "decided" },
  { id: "undecided", shape: "cross", label: "not decided" },
  { id: "stays", shape: "cross", label: "call stays", rare: true },
  { id: "finish", shape: "flag", label: "end", rare: true },
  { id: "gap", shape: "dots", label: "left out", rare: true, always: true },
];
export const KEPT = 3,
  EFFECT = 4,
  INLINED = 5,
  UNROLLED = 6;

/** By the state of a value. */
export const STATES = [
  { id: "known", sign: "●", word: "known" },
  { id: "part", sign: "◐", word: "known in part" },
  { id: "later", sign: "○", word: "not until run time" },
  { id: "effect", sign: "◆", word: "an effect, in its order" },
];
