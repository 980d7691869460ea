// The panes beside the rows: why, and the list of what is kept; and the totals in the foot.
import { fill, h } from "../../core/dom.js";
import { createTabs } from "../../core/tabs.js";
import { amount, counted, size } from "../fusion/columns.js";
import { lineCode } from "./columns.js";
import { NUMBERS } from "./marks.js";
import { keeping } from "./model.js";
/** @import { GradientModel } from "./model.js" */
/** @import { GradientView } from "../../generated/gradient.js" */

export const PANES = [
  { id: "graph", label: "Graphs" },
  { id: "why", label: "Why" },
  { id: "kept", label: "Stored" },
];
export const ON_ROWS = [
  { id: "added", label: "Backward" },
  { id: "keep", label: "Stored" },
  { id: "uses", label: "Uses" },
];
/** The columns that a tab on a phone shows. */
export const COLUMNS = { added: ["added"], keep: ["kept", "whole"], uses: ["uses"] };
const SHORT = { kept: "List" };
const MOST = 200;

/** `onPane(id)` and `onTab(id)` are called when the reader chooses a pane, or a tab on a phone. */
export function createAside({ onPane, onTab }) {
  const panes = Object.fromEntries(PANES.map(({ id }) => [id, h("div", { class: "pane", tabindex: 0 })]));
  const tabs = createTabs({
    label: "what to show beside the program",
    items: PANES.map((item) => ({ ...item, pane: panes[item.id] })),
    onSelect: (id, byReader) => byReader && onPane(id),
  });
  const narrowTabs = createTabs({
    label: "what to show",
    className: "narrow",
    items: [...ON_ROWS, ...PANES].map(({ id, label }) => ({ id, label: SHORT[id] ?? label })),
    onSelect: (id, byReader) => byReader && onTab(id),
  });
  return { el: h("div", { class: "aside" }, tabs.el, Object.values(panes)), panes, tabs, narrowTabs };
}

/**
 * The step laid out: what came, what the rule adds, what goes on, what it uses.
 * @param {GradientModel} model
 */
export function drawWhy(model, pane, at, onValue) {
  const { values, lines, steps } = model;
  const { value, came, to, added } = steps[at];
  /**
   * @param {string[]} sign
   * @param {string} note
   * @param {number} v
   */
  const entry = (sign, v, note) =>
    h(
      "li",
      null,
      h(
        "button",
        { class: "entry", type: "button", onclick: () => onValue(v) },
        h("span", { class: `sign ${sign[1]}`, "aria-hidden": "true" }, sign[0]),
        h("code", null, model.title(v)),
        h("span", { class: "note" }, note),
      ),
    );
  /**
   * @param {string} title
   * @param {HTMLLIElement[]} list
   */
  const part = (title, list) =>
    list.length > 0 && [h("p", { class: "ask" }, title), h("ol", { class: "chain way" }, list)];
  const used = new Map();
  for (const n of added)
    for (const { value: v, how } of lines[n].uses) used.set(v, Math.min(how, used.get(v) ?? how));
  const words = (v, how) =>
    how !== NUMBERS ? "its shape" : values[v].given ? "given" : `stored, ${size(values[v].bytes)}`;
  fill(
    pane,
    value < 0 &&
      h(
        "p",
        { class: "soft" },
        at === 0
          ? "Step forward: the backward pass begins at the result, at the bottom."
          : "Every parameter has its derivative; the result row names them.",
      ),
    part(
      "Incoming derivatives",
      came.map((v) => entry(["▲", "asked"], v, "")),
    ),
    part(
      "What the step computes",
      added
        .slice(0, MOST)
        .map((n) =>
          h(
            "li",
            { class: "added" },
            lineCode(model, n),
            h(
              "span",
              { class: "note" },
              lines[n].type,
              lines[n].flops > 0 && `, ${amount(lines[n].flops)} FLOP`,
            ),
          ),
        ),
    ),
    part(
      "Forward values that it uses",
      [...used].map(([v, how]) =>
        entry([how === NUMBERS && !values[v].given ? "■" : "·", "kept"], v, words(v, how)),
      ),
    ),
    part(
      "Where the derivative goes",
      to.map(({ value: v, line }) => entry(["▲", "target"], v, line >= 0 ? lines[line].name : "unchanged")),
    ),
  );
}

/**
 * What the forward pass keeps, in the order of the program, and until when.
 * @param {GradientModel} model
 */
export function drawKept(model, pane, at, onValue) {
  const { values, steps, freedAt } = model;
  const kept = values.map((_, v) => v).filter((v) => values[v].kept === NUMBERS && !values[v].given);
  const most = kept.reduce((longest, v) => Math.max(longest, values[v].bytes), 1);
  const row = (v) => {
    const state = keeping(model, v, at);
    const until = freedAt[v] >= 0 && steps[freedAt[v]].value >= 0 ? model.title(steps[freedAt[v]].value) : "";
    return h(
      "tbody",
      { class: state },
      h(
        "tr",
        null,
        h(
          "th",
          { scope: "row" },
          h(
            "button",
            { class: "entry", type: "button", onclick: () => onValue(v) },
            h("span", { class: "sign", "aria-hidden": "true" }, state === "freed" ? "□" : "■"),
            h("code", null, model.title(v)),
          ),
        ),
        h("td", null, size(values[v].bytes)),
      ),
      h(
        "tr",
        null,
        h(
          "td",
          { class: "until" },
          state === "now" ? "used now" : state === "freed" ? "freed" : "",
          until && `${state === "held" ? "" : ", "}last needed by ${until}`,
        ),
        h(
          "td",
          { class: "bar-cell" },
          h(
            "span",
            { class: "meter", "aria-hidden": "true" },
            h("i", { class: "after", style: { width: `${Math.max(3, (100 * values[v].bytes) / most)}%` } }),
          ),
        ),
      ),
    );
  };
  fill(
    pane,
    kept.length === 0
      ? h("p", { class: "soft" }, "Nothing is stored: the backward pass uses no computed value.")
      : h(
          "table",
          { class: "kept-list" },
          h(
            "caption",
            { class: "soft" },
            `${counted(kept.length, "value")} stored for the backward pass; ${size(steps[at].kept)} still needed after this step.`,
          ),
          kept.slice(0, MOST).map(row),
        ),
    kept.length > MOST && h("p", { class: "soft" }, `and ${kept.length - MOST} more`),
  );
}

/**
 * @param {number} back
 * @param {number} forward
 */
const ratio = (back, forward) => (forward ? ` (×${Number((back / forward).toPrecision(2))})` : "");

/**
 * The foot: what is kept, now and at first; work forward and back.
 * @param {HTMLSpanElement} el
 * @param {GradientView} view
 * @param {number} kept
 */
export function drawTotals(el, { forward, backward, kept: all }, kept) {
  fill(
    el,
    h(
      "span",
      { class: "total" },
      "stored ",
      h(
        "span",
        { class: "bars", role: "img", "aria-label": `${size(all.bytes)} at first, ${size(kept)} now` },
        h("i", { class: "before" }),
        h("i", { class: "now", style: { width: `${all.bytes ? (100 * kept) / all.bytes : 0}%` } }),
      ),
      h("b", null, size(kept)),
      ` of ${size(all.bytes)}`,
    ),
    h(
      "span",
      { class: "total" },
      "forward ",
      h("b", null, counted(forward.calls, "operator")),
      ` ${amount(forward.flops)} FLOP`,
    ),
    h(
      "span",
      { class: "total" },
      "backward ",
      h("b", null, counted(backward.calls, "operator")),
      ` ${amount(backward.flops)} FLOP${ratio(backward.flops, forward.flops)}`,
    ),
  );
}
