// The call stack: a card for each frame, outermost first; the one that is shown is open and lists what it knows.
import { fill, h } from "../../core/dom.js";
import { valueChip } from "./rows.js";
/** @import { EvaluationExplorer } from "./view.js" */

/** Of a deep stack: so many of the first and of the last frames. */
const FIRST = 2;
const LAST = 7;
const MOST_NAMES = 40;
const IN_HEAD = 3;

/**
 * The frames of a stack that are drawn, with gaps: `[{ frame } | { from, to }]`.
 * @param {number} shown
 */
export function shortStack(stack, shown, first = FIRST, last = LAST) {
  const keep = (i) => i < first || i >= stack.length - last || stack[i] === shown;
  const out = [];
  stack.forEach((frame, i) => {
    if (keep(i)) out.push({ frame, height: i + 1 });
    else if (out.at(-1)?.hidden) out.at(-1).hidden.push(frame);
    else out.push({ hidden: [frame] });
  });
  return out;
}

/**
 * @param {EvaluationExplorer} explorer
 * @param {number} frame
 */
function knows(explorer, frame) {
  const { run, step } = explorer;
  const all = run.environment(frame, step).filter(({ name }) => run.nameOf(name) !== "");
  const row = ({ name, value, captured, step: since }) => [
    h(
      "dt",
      { class: captured ? "captured" : "" },
      h("code", null, run.nameOf(name)),
      captured && h("small", null, "captured"),
    ),
    h("dd", null, valueChip(explorer, value, { fresh: since === step })),
  ];
  if (all.length === 0) return h("p", { class: "soft" }, "No name in it has a value yet.");
  return [
    h("dl", { class: "env" }, all.slice(0, MOST_NAMES).map(row)),
    all.length > MOST_NAMES && h("p", { class: "soft" }, `and ${all.length - MOST_NAMES} more`),
  ];
}

/**
 * The parameters in one line, for a card that is closed.
 * @param {EvaluationExplorer} explorer
 * @param {number} frame
 */
function given(explorer, frame) {
  const { run, view, step } = explorer;
  const params = run
    .environment(frame, step)
    .filter(({ name }) => view.names[name].what === "parameter")
    .slice(0, IN_HEAD);
  return params.map(({ name, value }) => `${run.nameOf(name)} = ${run.say(value, step)}`).join(", ");
}

/**
 * @param {EvaluationExplorer} explorer
 * @param {number} frame
 */
function card(explorer, frame, { height, on, left }) {
  const { run, view, step } = explorer;
  const { before, turn } = view.frames[frame];
  const shown = frame === explorer.frame;
  const row = run.standsAt(frame, step);
  const line = row >= 0 ? explorer.rows.text(row) : "";
  const open = h(
    "button",
    {
      class: "head",
      type: "button",
      "data-frame": frame,
      "aria-pressed": shown,
      title: shown ? "this frame is shown" : "show this frame",
    },
    h("span", { class: "height" }, left ? "left" : String(height)),
    h("code", { class: "who" }, run.frameName(frame)),
    on && h("span", { class: "cursor" }, "● cursor"),
    !shown && h("span", { class: "given" }, given(explorer, frame)),
  );
  const place =
    line &&
    h(
      "button",
      { class: "link at", type: "button", "data-row": row, title: "show this line" },
      on ? "at " : left ? "last at " : "waits at ",
      h("code", null, line),
    );
  const turns =
    before >= 0 &&
    h(
      "p",
      { class: "turn" },
      "↻ ",
      turn > 0 ? `${turn} tail ${turn === 1 ? "call" : "calls"} in this frame` : "in the frame of its caller",
      h("small", null, ", so the stack does not grow"),
    );
  return h(
    "li",
    { class: `frame${shown ? " shown" : ""}${left ? " left" : ""}` },
    open,
    turns,
    (shown || on) && place,
    shown && knows(explorer, frame),
  );
}

/**
 * Draws the stack into `pane`.
 * @param {EvaluationExplorer} explorer
 * @param {HTMLDivElement} pane
 */
export function drawFrames(explorer, pane) {
  const { run, view, step, frame } = explorer;
  const stack = run.stack(step);
  const innermost = stack.at(-1);
  const items = shortStack(stack, frame).map((item) =>
    item.hidden
      ? h(
          "li",
          { class: "more" },
          h(
            "button",
            { class: "link", type: "button", "data-frame": item.hidden.at(-1) },
            `${item.hidden.length} more frames`,
          ),
        )
      : card(explorer, item.frame, { height: item.height, on: item.frame === innermost, left: false }),
  );
  const gone =
    frame >= 0 && !stack.includes(frame) && card(explorer, frame, { height: 0, on: false, left: true });
  const { deepest } = view.totals;
  fill(
    pane,
    h(
      "p",
      { class: "soft depth" },
      stack.length ? `${stack.length} ${stack.length === 1 ? "frame" : "frames"}` : "The stack is empty.",
      Number.isInteger(deepest) && deepest > 1 && ` · ${deepest} at most`,
    ),
    explorer.pinned &&
      h(
        "p",
        { class: "pinned" },
        "You chose this frame. ",
        h("button", { class: "link", type: "button", "data-follow": "" }, "Back to the cursor"),
      ),
    h("ol", { class: "stack" }, items, gone),
  );
  const shown = pane.querySelector(".frame.shown");
  if (shown) keepInView(pane, shown.offsetTop, shown.offsetHeight);
}

/**
 * Scrolls `pane`, and nothing around it, until what begins at `top` in it and is `height` high is in view.
 * @param {number} top
 * @param {number} height
 * @param {HTMLDivElement} pane
 */
export function keepInView(pane, top, height) {
  const bottom = top + Math.min(height, pane.clientHeight);
  if (top < pane.scrollTop) pane.scrollTop = top;
  else if (bottom > pane.scrollTop + pane.clientHeight) pane.scrollTop = bottom - pane.clientHeight + 8;
}
