// Beside the text: the list of differences, and what the programs contain and cost.
import { fill, h } from "../../core/dom.js";
import { glyph } from "../../core/glyphs.js";
import { sentence } from "../../core/sentence.js";
import { amount, size } from "../fusion/columns.js";
import { MARKS } from "./marks.js";
/** @import { CompareView } from "../../generated/compare.js" */

export const PANES = [
  { id: "differences", label: "Differences" },
  { id: "sizes", label: "Sizes and costs" },
];
/** Differences that the list has around the one that is shown. */
const LISTED = 120;
const BYTES = 1;

/**
 * @param {HTMLElement} pane
 * @param {CompareView} view
 * @param {number} step
 * @param {(step: number) => void} go
 */
export function drawDifferences(pane, view, step, go) {
  const { differences } = view;
  const from = Math.max(0, Math.min(step - LISTED / 2, differences.length - LISTED));
  // The list is drawn anew only where it has to show others.
  const drawn = Number(pane.dataset.from ?? NaN);
  if (step >= drawn && step < drawn + LISTED && pane.isConnected) return current(pane, step);
  pane.dataset.from = String(from);
  const shown = differences.slice(from, from + LISTED);
  /** @param {number} count */
  const more = (count) => count > 0 && h("p", { class: "soft" }, `… ${count.toLocaleString("en")} more`);
  fill(
    pane,
    more(from),
    h(
      "ol",
      { class: "differences", start: from },
      shown.map(({ mark, say }, i) =>
        h(
          "li",
          null,
          h(
            "button",
            {
              class: "entry",
              type: "button",
              "data-step": from + i,
              onclick: () => go(from + i),
            },
            glyph(MARKS[mark]),
            h("span", { class: "sr" }, `${MARKS[mark].label}: `),
            h(
              "span",
              { class: "words" },
              sentence([say[0].split("\n").at(from + i ? -1 : 0), ...say.slice(1)]),
            ),
          ),
        ),
      ),
    ),
    more(differences.length - from - shown.length),
    differences.length === 1 && h("p", { class: "soft" }, "There is no difference to step through."),
  );
  return current(pane, step);
}

/**
 * Marks the difference that is shown, and brings it into the pane.
 * @param {HTMLElement} pane
 * @param {number} step
 */
function current(pane, step) {
  pane.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const entry = pane.querySelector(`[data-step="${step}"]`);
  entry?.setAttribute("aria-current", "step");
  if (!entry || !pane.clientHeight) return;
  const [box, own] = [entry.getBoundingClientRect(), pane.getBoundingClientRect()];
  if (box.top < own.top || box.bottom > own.bottom) pane.scrollTop += box.top - own.top - own.height / 3;
}

/**
 * @param {number} value
 * @param {number} unit
 */
const shown = (value, unit) => (unit === BYTES ? size(value) : amount(value));

/**
 * @param {number} a
 * @param {number} b
 * @param {number} unit
 */
function change(a, b, unit) {
  if (a === b) return "equal";
  return `${b > a ? "+" : "−"}${shown(Math.abs(b - a), unit)}`;
}

/**
 * @param {HTMLElement} pane
 * @param {CompareView} view
 */
export function drawSizes(pane, view) {
  /** @type {(name: Node | string, a: number, b: number, unit?: number) => HTMLElement} */
  const line = (name, a, b, unit = 0) =>
    h(
      "tr",
      { class: a === b ? "equal" : "differs" },
      h("th", { scope: "row" }, name),
      h("td", null, shown(a, unit)),
      h("td", null, shown(b, unit)),
      h("td", null, change(a, b, unit)),
    );
  /** @type {(caption: string, rows: HTMLElement[]) => HTMLElement} */
  const table = (caption, rows) =>
    h(
      "table",
      null,
      h("caption", null, caption),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          [caption === "calls" ? "operator" : "measure", "A", "B", "change"].map((name) =>
            h("th", { scope: "col" }, name),
          ),
        ),
      ),
      h("tbody", null, rows),
    );
  fill(
    pane,
    table(
      "sizes and costs",
      view.measures.map(({ name, unit, a, b }) => line(name, a, b, unit)),
    ),
    table(
      "calls",
      view.counts.map(({ name, a, b }) => line(h("code", null, name), a, b)),
    ),
  );
}
