// The vocabulary of marks that every part of this explorer shares.

/** By the step's mark in the data. */
export const MARKS = [
  { id: "generate", shape: "dot", label: "generate" },
  { id: "unify", shape: "link", label: "unify" },
  { id: "solve", shape: "bar", label: "solve" },
  { id: "wait", shape: "square", label: "wait" },
  { id: "requeue", shape: "triangle", label: "requeue", rare: true },
  { id: "refuse", shape: "cross", label: "refuse", rare: true, always: true },
  { id: "done", shape: "flag", label: "done" },
];

/** By a relation's status: its class, the sign before its label, the word a screen reader hears. */
export const STATUS = [
  { id: "fresh", sign: "", word: "new" },
  { id: "queued", sign: "", word: "in the queue" },
  { id: "running", sign: "▶ ", word: "running" },
  { id: "waiting", sign: "… ", word: "waiting" },
  { id: "done", sign: "✓ ", word: "done" },
  { id: "refused", sign: "✕ ", word: "refused" },
];

/** By what is known of a type. */
export const KNOWN = [
  { id: "unknown", word: "not known" },
  { id: "partial", word: "partly known" },
  { id: "known", word: "known" },
];
