// The marks of the steps of a schedule, and how a loop runs.
export const MARKS = [
  { id: "begin", shape: "flag", label: "initial loops" },
  { id: "shape", shape: "square", label: "loop structure" },
  { id: "place", shape: "diamond", label: "where a value is computed" },
  { id: "run", shape: "bar", label: "loop kind" },
  { id: "compiled", shape: "triangle", label: "machine code" },
];

/** The sign and the word for a loop that is not serial. */
const WAYS = {
  parallel: ["‖", "parallel"],
  vectorized: ["▥", "vectorized"],
  unrolled: ["≡", "unrolled"],
  serial: ["", ""],
};
/** @param {string} how */
export const wayOf = (how) => WAYS[how] ?? ["▦", how];
