// The vocabulary of marks of a comparison: of its differences on the timeline, and of its rows.

/** By the mark of a difference in the data. @type {import("../../core/types.js").Mark[]} */
export const MARKS = [
  { id: "compare-summary", shape: "flag", label: "summary" },
  { id: "compare-signature", shape: "diamond", label: "signature", always: true },
  { id: "compare-types", shape: "ring", label: "types" },
  { id: "compare-changed", shape: "square", label: "changed" },
  { id: "compare-gone", shape: "cross", label: "only in A" },
  { id: "compare-fresh", shape: "triangle", label: "only in B" },
  { id: "compare-elsewhere", shape: "turn", label: "at another place" },
];

/** By the fate of a pair of rows. */
export const FATES = [
  { id: "kept", sign: "", word: "equal" },
  { id: "rewritten", sign: "~", word: "differs" },
  { id: "added", sign: "+", word: "only in B" },
  { id: "removed", sign: "−", word: "only in A" },
  { id: "moved", sign: "⇅", word: "elsewhere" },
];
/** What differs where only the type does. */
export const TYPE_ONLY = 8;
export const KEPT = 0;
export const REWRITTEN = 1;
export const ADDED = 2;
export const REMOVED = 3;
export const MOVED = 4;
