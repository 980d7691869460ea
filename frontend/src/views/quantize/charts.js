// The drawings of a quantizer: the histogram with its range, the scales of the channels, the thresholds that were tried.
import { s } from "../../core/dom.js";
import { integerRange, short } from "./model.js";
/** @import { Site } from "../../generated/quantize.js" */
/** @import { Range } from "./model.js" */
/** @import { Child } from "../../core/types.js" */

/** The most bars that are drawn; where there are more channels, a bar stands for several. */
const MOST_BARS = 64;

/**
 * What of a histogram is drawn: the values from `low` to `high`, and the range as well.
 * @param {Site} site
 * @param {(Range | null)[]} ranges
 */
function extent(site, ranges) {
  const ends = ranges.flatMap((range) => (range ? [range.kept_low, range.kept_high] : []));
  const { low, high } = site.histogram ?? site;
  // A range that is much wider than the values is cut: it says nothing more.
  const wide = high - low || 1;
  const from = Math.max(Math.min(low, ...ends), low - wide);
  const to = Math.min(Math.max(high, ...ends), high + wide);
  return from < to ? [from, to] : [from - 1, to + 1];
}

/**
 * The bars of a histogram, counts on a logarithmic scale. Bars of values that are clipped are hollow.
 * @param {Site} site
 * @param {Range | null} range
 * @param {{ x: (value: number) => number, top: number, bottom: number }} place
 */
function bars({ histogram }, range, { x, top, bottom }) {
  if (!histogram) return [];
  const { low, high, counts } = histogram;
  const most = Math.log1p(Math.max(...counts));
  const step = (high - low) / counts.length;
  return counts.map((count, i) => {
    if (count === 0) return null;
    const [from, to] = [low + i * step, low + (i + 1) * step];
    const middle = (from + to) / 2;
    const out = range && (middle < range.kept_low || middle > range.kept_high);
    const tall = Math.max(1.5, ((bottom - top) * Math.log1p(count)) / most);
    const width = x(to) - x(from);
    return s("rect", {
      class: out ? "bar out" : "bar",
      x: x(from) + (width > 3 ? 0.5 : 0),
      y: bottom - tall,
      width: Math.max(0.8, width - (width > 3 ? 1 : 0)),
      height: tall,
    });
  });
}

/**
 * What a histogram shows, in words.
 * @param {Site} site
 */
export function histogramText(site) {
  const clipped =
    site.clipped > 0
      ? `, ${site.clipped.toLocaleString("en")} of ${site.values.toLocaleString("en")} outside`
      : ", none outside";
  return `values from ${short(site.low)} to ${short(site.high)}; range ${short(site.kept_low)} to ${short(site.kept_high)}${clipped}`;
}

/**
 * A small histogram, for a row.
 * @param {Site} site
 * @param {Range | null} range null: not chosen yet
 * @param {Range | null} other that of the choice in "what if"
 */
export function smallHistogram(site, range, other) {
  const [width, height] = [132, 22];
  const [from, to] = extent(site, [range, other]);
  const x = (/** @type {number} */ value) => 2 + ((value - from) / (to - from)) * (width - 4);
  return s(
    "svg",
    {
      class: "q-small",
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "img",
      "aria-label": histogramText(site),
    },
    range &&
      s("rect", {
        class: "kept",
        x: x(Math.max(from, range.kept_low)),
        y: 0,
        width: Math.max(1, x(Math.min(to, range.kept_high)) - x(Math.max(from, range.kept_low))),
        height: height - 2,
      }),
    bars(site, range, { x, top: 2, bottom: height - 2 }),
    s("line", { class: "axis", x1: 0, x2: width, y1: height - 1.5, y2: height - 1.5 }),
    range && limits(range, { x, from, to, top: 0, bottom: height }),
    other && other !== range && limits(other, { x, from, to, top: 0, bottom: height }, "other"),
  );
}

/**
 * The ends of a range.
 * @param {Range} range
 */
function limits({ kept_low, kept_high }, { x, from, to, top, bottom }, kind = "") {
  return [kept_low, kept_high].map(
    (at) =>
      at >= from &&
      at <= to &&
      s("line", { class: `limit ${kind}`, x1: x(at), x2: x(at), y1: top, y2: bottom }),
  );
}

/**
 * The histogram of a site with two rulers: the values above, the integers that stand for them below.
 * @param {Site} site
 * @param {Range | null} range
 * @param {Range | null} other
 * @param {number} width
 */
export function largeHistogram(site, range, other, width) {
  const [top, bottom, height] = [6, 104, range ? 150 : 122];
  const [from, to] = extent(site, [range, other]);
  const x = (/** @type {number} */ value) => 8 + ((value - from) / (to - from)) * (width - 16);
  /** @type {Child[]} */
  const parts = [
    range &&
      s("rect", {
        class: "kept",
        x: x(Math.max(from, range.kept_low)),
        y: top,
        width: Math.max(1, x(Math.min(to, range.kept_high)) - x(Math.max(from, range.kept_low))),
        height: bottom - top,
      }),
    bars(site, range, { x, top, bottom }),
    s("line", { class: "axis", x1: 4, x2: width - 4, y1: bottom, y2: bottom }),
    valueTicks(from, to, x, bottom),
  ];
  if (range)
    parts.push(
      limits(range, { x, from, to, top: 0, bottom: bottom + 18 }),
      ruler(site, range, x, from, to, bottom + 24),
    );
  if (other && other !== range)
    parts.push(limits(other, { x, from, to, top: 0, bottom: bottom + 4 }, "other"));
  return s(
    "svg",
    {
      class: "q-large",
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "img",
      "aria-label": `histogram, counts on a logarithmic scale: ${histogramText(site)}`,
    },
    parts,
  );
}

/**
 * @param {number} from
 * @param {number} to
 * @param {(value: number) => number} x
 * @param {number} y
 */
function valueTicks(from, to, x, y) {
  const step = niceStep((to - from) / 4);
  const ticks = [];
  for (let i = Math.ceil(from / step); i * step <= to; i++) ticks.push(i * step);
  return ticks.map((value) => [
    s("line", { class: "axis", x1: x(value), x2: x(value), y1: y, y2: y + 4 }),
    s(
      "text",
      { class: "tick-text", x: x(value), y: y + 15, "text-anchor": anchor(x(value), x(to)) },
      short(value),
    ),
  ]);
}

/**
 * Where a label is anchored, so that it stays in the picture.
 * @param {number} at
 * @param {number} end
 */
const anchor = (at, end) => (at < 24 ? "start" : at > end - 16 ? "end" : "middle");

/** @param {number} rough */
function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const digit = rough / power;
  return (digit > 5 ? 10 : digit > 2 ? 5 : digit > 1 ? 2 : 1) * power;
}

/**
 * The ruler of the integers: a notch for each, where there are few.
 * @param {Site} site
 * @param {Range} range
 * @param {(value: number) => number} x
 * @param {number} from
 * @param {number} to
 * @param {number} y
 */
function ruler(site, range, x, from, to, y) {
  const [least, most] = integerRange(site, range.bits);
  const { kept_low, kept_high } = range;
  const own = range === site && site.scales.length === 1;
  const place = (/** @type {number} */ integer) =>
    own
      ? (integer - site.zeros[0]) * site.scales[0]
      : kept_low + ((integer - least) / (most - least)) * (kept_high - kept_low);
  const count = most - least + 1;
  const every = Math.max(1, Math.ceil(count / 64));
  const notches = [];
  for (let integer = least; integer <= most; integer += every) {
    const at = place(integer);
    if (at >= from && at <= to)
      notches.push(s("line", { class: "notch", x1: x(at), x2: x(at), y1: y, y2: y + 5 }));
  }
  const zero = own ? site.zeros[0] : Math.max(0, least);
  // The scale is rounded: an end may stand a little outside of what is drawn.
  const slack = (to - from) / 100;
  const labels = [...new Set([least, zero, most])].filter((integer) => {
    const at = place(integer);
    return at >= from - slack && at <= to + slack;
  });
  return [
    s("line", {
      class: "ruler",
      x1: x(Math.max(from, kept_low)),
      x2: x(Math.min(to, kept_high)),
      y1: y,
      y2: y,
    }),
    notches,
    labels.map((integer) =>
      s(
        "text",
        {
          class: "tick-text integer",
          x: x(place(integer)),
          y: y + 17,
          "text-anchor": anchor(x(place(integer)), x(to)),
        },
        String(integer),
      ),
    ),
  ];
}

/**
 * At most MOST_BARS numbers that stand for all: the largest of each run.
 * @param {readonly number[]} values
 */
export function condensed(values) {
  if (values.length <= MOST_BARS) return [...values];
  const run = Math.ceil(values.length / MOST_BARS);
  return Array.from({ length: Math.ceil(values.length / run) }, (_, i) =>
    Math.max(...values.slice(i * run, (i + 1) * run)),
  );
}

/**
 * Scales in words: how many, from the least to the greatest.
 * @param {readonly number[]} scales
 */
export function scalesText(scales, each = "") {
  const [least, most] = [short(Math.min(...scales)), short(Math.max(...scales))];
  const span = least === most ? `all ${least}` : `from ${least} to ${most}`;
  return `${scales.length.toLocaleString("en")} scales, ${each}${span}`;
}

/**
 * The scales of the channels as bars, each in relation to the largest.
 * @param {readonly number[]} scales
 * @param {number} width
 * @param {number} height
 */
export function scaleBars(scales, width, height) {
  const shown = condensed(scales);
  const most = Math.max(...shown) || 1;
  const step = width / shown.length;
  const gap = step > 4 ? 1 : 0;
  return s(
    "svg",
    {
      class: "q-scales",
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "img",
      "aria-label": scalesText(scales),
    },
    shown.map((scale, i) => {
      const tall = Math.max(1, (scale / most) * (height - 1));
      return s("rect", { x: i * step, y: height - tall, width: Math.max(0.8, step - gap), height: tall });
    }),
    s("line", { class: "axis", x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5 }),
  );
}

/** What each method with a curve minimizes. @type {Record<string, string>} */
const COSTS = { "KL divergence": "KL divergence (nats)", "least squares": "squared error" };

/**
 * What the curve of a site shows. Channels with scales of their own have thresholds of their own.
 * @param {Site} site
 */
export const triedCaption = ({ method, per }) =>
  `${COSTS[method] ?? "cost"} by threshold${per === "tensor" ? "; ● chosen" : `, summed over all ${per}s`}`;

/**
 * The thresholds that a method tried, each with what it costs; where there is one for the tensor, the chosen one is marked.
 * @param {Site} site
 * @param {number} width
 */
export function triedCurve(site, width) {
  const height = 64;
  const { tried } = site;
  const [from, to] = [tried[0].at, tried.at(-1).at];
  const costs = tried.map(({ cost }) => cost);
  const [least, most] = [Math.min(...costs), Math.max(...costs)];
  const x = (/** @type {number} */ at) => 8 + ((at - from) / (to - from || 1)) * (width - 16);
  const y = (/** @type {number} */ cost) =>
    height - 18 - ((cost - least) / (most - least || 1)) * (height - 26);
  const chosen = tried.reduce((best, point) => (point.cost < best.cost ? point : best));
  const one = site.per === "tensor";
  return s(
    "svg",
    {
      class: "q-tried",
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "img",
      "aria-label": `${triedCaption(site).replace("; ● chosen", "")}, from ${short(from)} to ${short(to)}${one ? `; ${short(chosen.at)} is chosen` : ""}`,
    },
    s("line", { class: "axis", x1: 4, x2: width - 4, y1: height - 15.5, y2: height - 15.5 }),
    s("polyline", { class: "curve", points: tried.map(({ at, cost }) => `${x(at)},${y(cost)}`).join(" ") }),
    one && s("circle", { class: "chosen", cx: x(chosen.at), cy: y(chosen.cost), r: 4 }),
    [from, to].map((at, i) =>
      s(
        "text",
        { class: "tick-text", x: x(at), y: height - 3, "text-anchor": i ? "end" : "start" },
        short(at),
      ),
    ),
  );
}
