// The marks of the steps of a schedule, and how a loop runs.
export const MARKS = [
  { id: "begin", shape: "flag", label: "the loops as they are" },
  { id: "shape", shape: "square", label: "shape of the loops" },
  { id: "place", shape: "diamond", label: "where something is computed" },
  { id: "run", shape: "bar", label: "how a loop runs" },
  { id: "compiled", shape: "triangle", label: "machine code" },
];

/** The sign and the word for a loop that is not serial. */
const WAYS = {
  parallel: ["‖", "parallel"],
  vectorized: ["▥", "vector"],
  unrolled: ["≡", "unrolled"],
  serial: ["", ""],
};
/** @param {string} how */
export const wayOf = (how) => WAYS[how] ?? ["▦", how];
