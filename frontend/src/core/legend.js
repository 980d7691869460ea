// The marks of a timeline with how often each occurs; a click goes to the next one.
import { h } from "./dom.js";
import { glyph } from "./glyphs.js";
/** @import { Mark } from "./types.js" */

/**
 * `kinds[step]` is an index into `marks`; `onMark(index)` goes to the next step with that mark.
 * @param {{ marks: Mark[], kinds: number[], onMark: (mark: number) => unknown }} options
 */
export function createLegend({ marks, kinds, onMark }) {
  const counts = marks.map(() => 0);
  for (const kind of kinds) if (counts[kind] !== undefined) counts[kind] += 1;
  return h(
    "span",
    { class: "legend", role: "group", "aria-label": "marks: press one to go to the next step with it" },
    marks.map(
      (mark, i) =>
        counts[i] > 0 &&
        h(
          "button",
          { type: "button", title: `go to the next “${mark.label}”`, onclick: () => onMark(i) },
          glyph(mark),
          mark.label,
          " ",
          h("span", { class: "n" }, String(counts[i])),
        ),
    ),
  );
}
