// The vocabulary of marks of a pipeline: a sign and a word for what became of a row.

/** By the mark in the data. */
export const MARKS = [
  { id: "kept", sign: "", word: "kept" },
  { id: "rewritten", sign: "~", word: "rewritten" },
  { id: "added", sign: "+", word: "added" },
  { id: "removed", sign: "−", word: "removed" },
  { id: "moved", sign: "⇅", word: "moved" },
];
/** @param {number} mark */
export const wordOf = (mark) => MARKS[mark].word;
export const KEPT = 0;
export const REWRITTEN = 1;
export const ADDED = 2;
export const REMOVED = 3;
export const MOVED = 4;

/** What an expression is in the graph (0: nothing). */
export const COMPUTED = 1;
export const PARAMETER = 2;

/** The totals of a stage that are charted, in this order: key in the data, and how it is called. */
export const TOTALS = [
  { id: "expressions", word: "expressions" },
  { id: "operators", word: "operators" },
  { id: "kernels", word: "kernels" },
  { id: "flops", word: "FLOPs" },
  { id: "bytes", word: "bytes" },
];
