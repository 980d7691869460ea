// The foot: launches and memory traffic, before, now and after; the what-if questions.
import { fill, h } from "../../core/dom.js";
import { counted, size } from "./columns.js";
import { difference } from "./model.js";
/** @import { FusionView } from "../../generated/fusion.js" */
/** @import { FunctionView } from "./model.js" */

const NAMED = 2;

/** "−73 %", "+4 %", "±0 %". */
export function share(before, after) {
  if (!before) return "";
  const percent = Math.round(100 * (after / before - 1));
  return `${percent < 0 ? "−" : percent > 0 ? "+" : "±"}${Math.abs(percent)} %`;
}

const number = (value) => value.toLocaleString("en");

/**
 * Draws launches and traffic: `{ before, after }` of both for the variant, `launches` and `bytes` after the step.
 * @param {HTMLSpanElement} el
 */
export function drawTotals(el, { variant, launches, bytes }) {
  const { before: a, after: b } = variant.launches;
  const { before, after } = variant.bytes;
  const width = (value) => `${before ? Math.min(100, (100 * value) / before) : 0}%`;
  const now = launches !== b;
  fill(
    el,
    h(
      "span",
      { class: "total" },
      "launches ",
      h("b", null, `${number(a)} → ${number(b)}`),
      now && h("span", { class: "at-step" }, ` now ${number(launches)}`),
    ),
    h(
      "span",
      { class: "total" },
      "memory traffic ",
      h(
        "span",
        {
          class: "bars",
          role: "img",
          "aria-label": `${size(before)} before, ${size(bytes)} now, ${size(after)} after`,
        },
        h("i", { class: "before" }),
        h("i", { class: "now", style: { width: width(bytes) } }),
        h("i", { class: "after", style: { left: width(after) } }),
      ),
      h("span", { class: "sizes" }, `${size(before)} → ${size(after)} `),
      h("b", null, share(before, after)),
    ),
  );
}

/**
 * The what-if questions, as buttons; the chosen one is pressed.
 * @param {HTMLSpanElement} el
 * @param {FunctionView} view
 * @param {number} chosen
 */
export function drawQuestions(el, view, chosen, choose) {
  /** @param {number} i */
  const name = (i) => view.variants[i].name;
  fill(
    el,
    view.variants.length > 1 && [
      "what if: ",
      view.variants.map((_, i) =>
        h(
          "button",
          { class: "link", type: "button", "aria-pressed": i === chosen, onclick: () => choose(i) },
          i === 0 ? `actual (${name(0)})` : name(i),
        ),
      ),
    ],
  );
}

const names = (kernels) => [
  kernels.slice(0, NAMED).map(({ name }, i) => [i > 0 && ", ", h("code", null, name)]),
  kernels.length > NAMED && ` and ${kernels.length - NAMED} more`,
];

/** What the variant changes, in a sentence. */
export function whatIf(asked, other) {
  const [launches, was] = [other.launches.after, asked.launches.after];
  const [bytes, moved] = [other.bytes.after, asked.bytes.after];
  const { gone, fresh } = difference(asked, other);
  if (!gone.length && !fresh.length)
    return [h("strong", null, `What if: ${other.name}. `), "Nothing changes: the kernels are the same."];
  const more =
    launches === was
      ? [counted(launches, "launch", "launches"), ", as before"]
      : [h("b", null, counted(launches, "launch", "launches")), ` instead of ${was.toLocaleString("en")}`];
  return [
    h("strong", null, `What if: ${other.name}. `),
    more,
    ", ",
    h("b", null, size(bytes)),
    ` of memory traffic, not ${size(moved)} (${share(moved, bytes)}). `,
    fresh.length > 0 && ["New: ", names(fresh), ". "],
    gone.length > 0 && ["Gone: ", names(gone), "."],
  ];
}
