// The launches of a run in time. A long run can be magnified, and a part of it selected, as on every timeline.
import { fill, h, s } from "../../core/dom.js";
import { createHand } from "../../core/timehand.js";
import { bytes as size, duration } from "../lowering/model.js";
import { chart, hue, pointed } from "./charts.js";
import { bars, launchAt, percent, short, ticks } from "./model.js";
/** @import { RunModel, sumOf } from "./model.js" */

/**
 * @typedef {object} Hooks
 * @property {(kernel: number, launch: number) => void} point
 * @property {(kernel: number, launch: number) => void} choose
 * @property {(kernel: number) => void} open
 * @property {(range: [number, number] | null) => void} select the first and the last launch
 * @property {() => number} chosen the launch that is chosen, or -1
 */

const SIDE = 10; // pixels beside the bars
const TOP = 6;
const BASE = 24; // pixels below the bars, for the axis
const LEAST = 2; // launches that are shown at least

/**
 * @param {RunModel} model
 * @param {Hooks} hooks
 */
export function createRunTimeline(model, hooks) {
  const { launches, kernels, span } = model;
  const last = launches.length - 1;
  const label = `Timeline: ${launches.length} launches in ${duration(span)}. The table of launches has the same numbers.`;
  const spanned = s("g", { class: "span" });
  let width = 0;
  let height = 0;
  let marked = [-1, -1];
  /** @type {any[]} */
  let drawn = [];
  /** The nanoseconds that are shown. */
  let shown = [0, span];
  /** The first and the last launch that are selected. @type {[number, number] | null} */
  let range = null;

  const inner = () => Math.max(1, width - 2 * SIDE);
  /** @param {number} ns */
  const x = (ns) => SIDE + ((ns - shown[0]) / (shown[1] - shown[0])) * inner();
  /** @param {number} px */
  const timeAt = (px) => shown[0] + ((px - SIDE) / inner()) * (shown[1] - shown[0]);
  /** @param {number} at */
  const endOf = (at) => launches[at].start + launches[at].ns;

  function draw() {
    if (!width) return;
    const low = height - BASE;
    const [first, to] = [launchAt(launches, shown[0]), launchAt(launches, shown[1])];
    const part = { launches: launches.slice(first, to + 1), span: shown[1] - shown[0] };
    drawn = bars(part, inner()).map((bar) => {
      const { rule, reached } = kernels[bar.kernel];
      const [left, right] = [x(bar.start), x(bar.end)].map((px) =>
        Math.max(SIDE, Math.min(width - SIDE, px)),
      );
      const wide = Math.max(0.7, right - left - (right - left > 4 ? 1 : 0));
      const tall = (low - TOP) * Math.min(1, reached);
      const el = s(
        "g",
        { class: "run-bar", style: hue(rule.hue), "data-kernel": bar.kernel, "data-launch": bar.index },
        s("rect", { class: "whole", x: left, y: TOP, width: wide, height: low - TOP }),
        s("rect", { class: "needed", x: left, y: low - tall, width: wide, height: tall }),
        wide > 15 &&
          s("text", { x: left + wide / 2, y: TOP + 14, "text-anchor": "middle" }, String(bar.kernel + 1)),
      );
      return { ...bar, el };
    });
    fill(
      made.svg,
      s("line", { class: "grid", x1: SIDE, x2: width - SIDE, y1: low + 0.5, y2: low + 0.5 }),
      drawn.map(({ el }) => el),
      spanned,
      drawAxis(low),
      drawPart(),
    );
    light(marked[0], marked[1]);
    place();
  }

  /** @param {number} low */
  function drawAxis(low) {
    /** @type {[number, string]} */
    const unit = span >= 2e6 ? [1e6, "ms"] : span >= 2e3 ? [1e3, "µs"] : [1, "ns"];
    return ticks(shown[1] / unit[0], Math.max(2, width / 110), shown[0] / unit[0]).map((v, i) => {
      const at = x(v * unit[0]);
      const anchor = at < SIDE + 12 ? "start" : at > width - 40 ? "end" : "middle";
      return [
        s("line", { class: "grid", x1: at, x2: at, y1: low, y2: low + 5 }),
        s(
          "text",
          { class: "tick", x: at, y: height - 6, "text-anchor": anchor },
          i === 0 ? `${short(v)} ${unit[1]}` : short(v),
        ),
      ];
    });
  }

  /** Which part of the run is magnified. */
  function drawPart() {
    if (shown[1] - shown[0] >= span) return null;
    const along = (/** @type {number} */ ns) => SIDE + (ns / span) * inner();
    return s("line", {
      class: "part",
      x1: along(shown[0]),
      x2: along(shown[1]),
      y1: height - 0.5,
      y2: height - 0.5,
    });
  }

  /** Draws the selection. */
  function place() {
    if (!range || !width) return void fill(spanned);
    const low = height - BASE;
    const [left, right] = [launches[range[0]].start, endOf(range[1])].map((ns) =>
      Math.max(SIDE, Math.min(width - SIDE, x(ns))),
    );
    const edge = (/** @type {number} */ at) =>
      s("path", { class: "handle", d: `M${at} 1V${low}M${at - 2.5} ${low / 2 - 5}v10h5v-10z` });
    fill(
      spanned,
      s("rect", { x: left, y: 1, width: Math.max(2, right - left), height: low }),
      edge(left),
      edge(right),
    );
  }

  /**
   * Marks the launches of a kernel, and one of them.
   * @param {number} kernel
   * @param {number} launch
   */
  function light(kernel, launch) {
    marked = [kernel, launch];
    made.svg.classList.toggle("has-lit", kernel >= 0);
    for (const { el, index, last: end, lit } of drawn) {
      el.classList.toggle("is-lit", lit.has(kernel));
      el.classList.toggle("is-at", index <= launch && launch <= end);
    }
  }

  /** The time around which the timeline is magnified, where the reader does not point at one. */
  function middle() {
    const at = hooks.chosen();
    const inside = at >= 0 && launches[at].start >= shown[0] && launches[at].start <= shown[1];
    return inside ? launches[at].start : (shown[0] + shown[1]) / 2;
  }

  /**
   * Shows `factor` times as much around a time, which stays where it is.
   * @param {number} factor
   */
  function zoom(factor, around = middle()) {
    const least = Math.min(span, (span / launches.length) * LEAST);
    const length = Math.min(span, Math.max(least, (shown[1] - shown[0]) * factor));
    const part = Math.min(1, Math.max(0, (around - shown[0]) / (shown[1] - shown[0])));
    pan(around - part * length, length);
  }

  /** @param {number} from */
  function pan(from, length = shown[1] - shown[0]) {
    const to = Math.max(0, Math.min(span - length, from));
    shown = [to, to + length];
    draw();
  }

  /** @param {[number, number] | null} next */
  function select(next) {
    const before = String(range);
    range = next && [Math.min(...next), Math.max(...next)];
    if (before === String(range)) return;
    place();
    hooks.select(range);
  }

  const made = chart("run-time", label, (_, w, tall) => {
    [width, height] = [w, tall];
    draw();
  });
  pointed(made.svg, hooks);
  const el = h(
    "div",
    {
      class: "run-wide",
      tabindex: 0,
      role: "group",
      "aria-label": "timeline: + and - magnify it, Shift with ← and → selects a part",
      "aria-keyshortcuts": "+ - 0 Shift+ArrowRight Shift+ArrowLeft",
    },
    made.svg,
  );
  const stopHand = createHand(el, {
    x: (at) => x(range && at === range[1] ? endOf(at) : launches[at].start),
    timeAt,
    stepAt: (px) => launchAt(launches, timeAt(px)),
    zoom,
    pan,
    select,
    hint() {},
    seek: (at) => at !== hooks.chosen() && hooks.choose(launches[at].kernel, at),
    whole: () => pan(0, span),
    now: () => ({
      step: Math.max(0, hooks.chosen()),
      range,
      length: shown[1] - shown[0],
      from: shown[0],
      last,
    }),
  });
  el.addEventListener("dblclick", () => marked[0] >= 0 && hooks.open(marked[0]));

  return {
    el,
    svg: made.svg,
    light,
    zoom,
    select,
    /** Shows the selected part as large as there is room. */
    show() {
      if (!range) return;
      const [from, to] = [launches[range[0]].start, endOf(range[1])];
      const length = Math.min(span, Math.max((to - from) * 1.1, (span / launches.length) * LEAST));
      pan((from + to - length) / 2, length);
    },
    get range() {
      return range;
    },
    destroy() {
      stopHand();
      made.destroy();
    },
  };
}

/**
 * What the selected launches add up to, in words.
 * @param {ReturnType<typeof sumOf>} sum
 * @param {readonly [number, number]} range
 */
export function rangeWords({ count, ns, bytes, flops, share, most }, [from, to]) {
  const which = count === 1 ? `launch ${from + 1}` : `launches ${from + 1} to ${to + 1}`;
  const parts = [
    which,
    ...(count === 1 ? [] : [`${count.toLocaleString("en")} launches`]),
    `${duration(ns)}, ${percent(share)} of the run`,
    `${size(bytes)} read and written`,
  ];
  if (flops) parts.push(`${short(flops / Math.max(1, ns))} GFLOP/s`);
  const named = most.slice(0, 3).map((kernel) => kernel + 1);
  parts.push(
    `most of the time in kernel${named.length > 1 ? "s" : ""} ${named.join(", ")}${most.length > 3 ? " …" : ""}`,
  );
  return parts.join(" · ");
}
