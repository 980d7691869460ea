// The vocabulary of marks of a gradient: a shape as well as a color for each kind of step.

/** By the step's mark in the data. */
export const MARKS = [
  { id: "begin", shape: "bar", label: "begin" },
  { id: "seed", shape: "flag", label: "the result" },
  { id: "rule", shape: "triangle", label: "rule" },
  { id: "sum", shape: "link", label: "sum", rare: true },
  { id: "passed", shape: "dot", label: "passed through" },
  { id: "arrived", shape: "ring", label: "parameter" },
  { id: "finish", shape: "square", label: "end" },
];

export const RESULT = 1;
export const RULE = 2;
export const SUM = 3;
export const PASSED = 4;

/** What a line is there for. */
export const ROLES = ["beginning", "sum", "rule", "zeros"];
/** What of a value is kept. */
export const NUMBERS = 1;
export const SHAPE = 2;
