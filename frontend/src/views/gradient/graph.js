// The forward and the backward graph side by side: operators downwards on the left, what the backward pass adds for each
// upwards on the right, and between them what is kept.
import { path } from "d3-path";
import { fill, h, s } from "../../core/dom.js";
import { size } from "../fusion/columns.js";
import { NUMBERS } from "./marks.js";
import { keeping } from "./model.js";
/** @import { GradientModel } from "./model.js" */

/** Pixels from one operator to the next, and the height of a box. */
const STEP = 38;
const TALL = 26;
/** Operators that are drawn of a long program, around the one that is visited. */
const MOST = 40;
const OPERATOR = 4;
const BOW = 9;
const DEEPEST = 26;

/**
 * The operators that the backward pass adds beside a value: "multiply ×2, subtract".
 * @param {GradientModel} model
 * @param {number} v
 */
export function addedOperators(model, v) {
  const counts = new Map();
  for (const n of model.beside[v]) {
    const { tokens } = model.lines[n];
    for (const { kind, text } of tokens) {
      if (kind !== OPERATOR) continue;
      const name = text.split(".").at(-1);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return [...counts].map(([name, times]) => (times > 1 ? `${name} ×${times}` : name)).join(", ");
}

/**
 * The part of `items` to draw: all of a short program, else those around `at`: `{ from, to }`.
 * @param {{ node: number; row: number; given: boolean; }[]} items
 * @param {number} at
 */
export function graphWindow(items, at, most = MOST) {
  if (items.length <= most) return { from: 0, to: items.length };
  const middle = Math.max(
    0,
    items.findIndex(({ node }) => node === at),
  );
  const from = Math.max(0, Math.min(items.length - most, middle - (most >> 1)));
  return { from, to: from + most };
}

/**
 * Who uses what, between the boxes that are drawn: `[{ from, to, span }]`, places instead of values.
 * @param {GradientModel} model
 * @param {Map<number, number>} place
 */
export function forwardEdges(model, place) {
  const out = [];
  for (const [v, at] of place)
    for (const user of model.values[v].users)
      if (place.has(user))
        out.push({ source: v, user, from: at, to: place.get(user), span: place.get(user) - at });
  return out;
}

/**
 * What is kept, and where it is used: `[{ value, at }]`, each once.
 * @param {GradientModel} model
 * @param {Map<number, number>} place
 */
export function keptEdges(model, place) {
  const out = [];
  for (const [owner, at] of place) {
    const used = new Set(
      model.beside[owner]
        .flatMap((n) => model.lines[n].uses)
        .filter(({ value, how }) => how === NUMBERS && !model.values[value].given)
        .map(({ value }) => value),
    );
    for (const value of used) if (place.has(value)) out.push({ value, from: place.get(value), to: at });
  }
  return out;
}

/**
 * Draws the pane for a step; `onValue(v)` when a box is chosen.
 * @param {GradientModel} model
 * @param {number} step
 */
export function drawGraph(model, pane, step, onValue) {
  const { values, items, steps } = model;
  const { from, to } = graphWindow(items, steps[step].value);
  const shown = items.slice(from, to);
  const place = new Map(shown.map(({ node }, i) => [node, i]));
  const width = Math.max(260, (pane.clientWidth || 340) - 28);
  // Left and right margins hold the arcs of uses that are not between neighbours.
  const arcs = forwardEdges(model, place).some(({ span }) => span > 1) ? DEEPEST : 4;
  const wide = Math.floor((width - 2 * arcs - 64) / 2);
  const left = { x: arcs, right: arcs + wide };
  const right = { x: width - arcs - wide, right: width - arcs };
  /** @param {number} i */
  const y = (i) => i * STEP + TALL / 2;

  /**
   * @param {number} x
   * @param {number} top
   * @param {boolean} up
   */
  const arrow = (x, top, up) => `M${x} ${top}l-3.6 ${up ? 6.5 : -6.5}h7.2Z`;
  /**
   * @param {boolean} back
   * @param {{ source: number; user: number; from: number; to: number | undefined; span: number; }} edge
   */
  function use(edge, back) {
    const side = back ? right : left;
    const state = back ? backState(model, edge, step) : "";
    const name = `edge ${back ? "back" : "forward"} ${state}`;
    const [a, b] = [y(edge.from), y(edge.to)];
    const middle = (side.x + side.right) / 2;
    if (edge.span === 1)
      return [
        s("path", { class: name, d: `M${middle} ${a + TALL / 2}V${b - TALL / 2}` }),
        s("path", {
          class: `${name} point`,
          d: back ? arrow(middle, a + TALL / 2, true) : arrow(middle, b - TALL / 2, false),
        }),
      ];
    const deep = Math.min(DEEPEST - 4, BOW + 2 * edge.span) * (back ? 1 : -1);
    const x = back ? side.right : side.x;
    const line = path();
    line.moveTo(x, a + 4);
    line.bezierCurveTo(x + deep * 1.3, a + 4, x + deep * 1.3, b - 4, x, b - 4);
    const head = back ? `M${x} ${a + 4}l6.5 -3.6v7.2Z` : `M${x} ${b - 4}l-6.5 -3.6v7.2Z`;
    return [s("path", { class: name, d: line.toString() }), s("path", { class: `${name} point`, d: head })];
  }
  function kept(edge) {
    const state = keeping(model, edge.value, step);
    const [a, b] = [y(edge.from), y(edge.to)];
    const line = path();
    const middle = (left.right + right.x) / 2;
    line.moveTo(left.right, a);
    line.bezierCurveTo(middle, a, middle, b, right.x - 6, b);
    return [
      s("path", { class: `edge keeps ${state}`, d: line.toString() }),
      s("path", { class: `edge keeps point ${state}`, d: `M${right.x} ${b}l-7 -3.8v7.6Z` }),
    ];
  }
  const edges = forwardEdges(model, place);
  const svg = s(
    "svg",
    { class: "graph-lines", width, height: shown.length * STEP, "aria-hidden": "true" },
    edges.map((edge) => use(edge, false)),
    edges.filter(({ source, user }) => model.wentBack(source, user) >= 0).map((edge) => use(edge, true)),
    keptEdges(model, place).map(kept),
  );

  const { value: now, to: handed } = steps[step];
  const targets = new Set(handed.map(({ value }) => value));
  /**
   * @param {boolean} back
   * @param {number} v
   * @param {number} i
   */
  const box = (v, i, back) => {
    const added = back ? addedOperators(model, v) : "";
    const reached = model.wholeAt[v] <= step;
    const state = v === now ? "now" : targets.has(v) ? "target" : reached ? "reached" : "";
    const label = back
      ? added || (model.wholeAt[v] === model.never ? "–" : "unchanged")
      : model.title(v).replace(/ [\w.]*\./, " ");
    const told = back
      ? `${label}: the backward pass through ${model.title(v)}`
      : `${label}${values[v].kept === NUMBERS ? `, ${size(values[v].bytes)} stored` : ""}`;
    return h(
      "button",
      {
        class: `box ${back ? "back" : "forward"} ${state}${back && !reached ? " later" : ""}`,
        type: "button",
        title: told,
        "aria-label": told,
        "aria-current": v === now ? "step" : null,
        style: { left: `${back ? right.x : left.x}px`, top: `${i * STEP}px`, width: `${wide}px` },
        onclick: () => onValue(v),
      },
      h("code", null, label),
    );
  };
  fill(
    pane,
    from > 0 && h("p", { class: "soft" }, `… ${from} above`),
    h(
      "div",
      { class: "graph-heads soft", "aria-hidden": "true", style: { width: `${width}px` } },
      h("span", null, "forward pass ↓"),
      h("span", null, "stored ⇢"),
      h("span", null, "backward pass ↑"),
    ),
    h(
      "div",
      {
        class: "graph-box",
        style: { width: `${width}px`, height: `${shown.length * STEP - (STEP - TALL)}px` },
      },
      svg,
      shown.map(({ node }, i) => [box(node, i, false), box(node, i, true)]),
    ),
    to < items.length && h("p", { class: "soft" }, `… ${items.length - to} below`),
  );
  const current = pane.querySelector(".box.now");
  if (!current) return;
  const [a, b] = [pane.getBoundingClientRect(), current.getBoundingClientRect()];
  if (b.top < a.top + 24 || b.bottom > a.bottom) pane.scrollTop += b.top - a.top - a.height / 2;
}

/**
 * Whether the backward pass has gone over a use: "hot" in this step, "gone" before, "" not yet.
 */
function backState(model, { source, user }, step) {
  const went = model.wentBack(source, user);
  return went === step ? "hot" : went < step ? "gone" : "";
}
