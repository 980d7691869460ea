// The vocabulary of marks of a memory plan: what a step does with the buffers.

/** By the step's mark in the data. */
export const MARKS = [
  { id: "begin", shape: "bar", label: "begin" },
  { id: "fresh", shape: "square", label: "a new buffer" },
  { id: "again", shape: "turn", label: "a buffer is reused" },
  { id: "grown", shape: "triangle", label: "a buffer grows", rare: true },
  { id: "view", shape: "dot", label: "no storage" },
  { id: "branch", shape: "diamond", label: "a branch begins" },
  { id: "copy", shape: "down", label: "a branch ends" },
  { id: "finish", shape: "flag", label: "end", rare: true },
];
export const NEW = 1;
export const AGAIN = 2;

/** How many tints there are for the buffers. */
export const TINTS = 6;
