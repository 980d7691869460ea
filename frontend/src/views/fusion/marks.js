// The vocabulary of marks of a fusion: a shape as well as a color for each kind of step, and for each part that an
// operator can have in a question.
/** @import { FusionStep } from "../../generated/fusion.js" */

/** By the step's mark in the data. */
export const MARKS = [
  { id: "begin", shape: "bar", label: "begin" },
  { id: "merged", shape: "link", label: "merged" },
  { id: "refused", shape: "cross", label: "refused", rare: true },
  { id: "nothing", shape: "ring", label: "no decision" },
  { id: "finish", shape: "flag", label: "end", rare: true },
];
/**
 * The marks for a timeline of `steps`: refusals stand above the others only where they are few.
 * @param {FusionStep[]} steps
 */
export const marksOf = (steps) =>
  MARKS.map((mark, i) =>
    i === REFUSED
      ? { ...mark, rare: steps.filter(({ mark: at }) => at === REFUSED).length * 4 < steps.length }
      : mark,
  );

export const MERGED = 1;
export const REFUSED = 2;
export const END = 4;

/** What a node is to the step that is shown. */
export const PARTS = {
  asked: { id: "asked", sign: "●", word: "asked about" },
  target: { id: "target", sign: "◎", word: "its post-dominator" },
  obstacle: { id: "obstacle", sign: "✕", word: "prevents the merge" },
  way: { id: "way", sign: "·", word: "on the path" },
};

/** How many tints there are for the groups; neighbours differ. */
export const TINTS = 6;
