// Time: one mark a step while they fit; a rail of bins, with the rare marks standing above it, when they do not. A long run
// can be magnified, and a part of it selected.
import { fill, h, s } from "./dom.js";
import { glyphPath } from "./glyphs.js";
import { createHand } from "./timehand.js";
/** @import { Keep, Mark } from "./types.js" */

const ROOM = 9;
const BIN = 3;
const PAD = 9;

/**
 * Bins of the steps from `first` up to `end`: `[{ from, to, mark, weight }]`, each with the mark that most of its steps have.
 * @param {readonly number[]} kinds
 * @param {number} count
 */
export function binSteps(kinds, count, first = 0, end = kinds.length) {
  const bins = [];
  for (let i = 0; i < count; i++) {
    const from = first + Math.floor((i * (end - first)) / count);
    const to = first + Math.floor(((i + 1) * (end - first)) / count);
    if (to <= from) continue;
    /** @type {Map<number, number>} */
    const tally = new Map();
    for (let step = from; step < to; step++) tally.set(kinds[step], (tally.get(kinds[step]) ?? 0) + 1);
    const [mark, most] = [...tally].reduce((best, entry) => (entry[1] > best[1] ? entry : best));
    bins.push({ from, to, mark, weight: most / (to - from) });
  }
  return bins;
}

/**
 * How many steps of each kind a part of a run has, most first: "61 steps: 20 calls, …".
 * @param {readonly number[]} kinds
 * @param {readonly Mark[]} marks
 * @param {readonly [number, number]} range first and last step
 */
export function rangeText(kinds, marks, [from, to]) {
  /** @type {Map<number, number>} */
  const tally = new Map();
  for (let step = from; step <= to; step++) tally.set(kinds[step], (tally.get(kinds[step]) ?? 0) + 1);
  const most = [...tally].sort((a, b) => b[1] - a[1]);
  const parts = most.slice(0, 5).map(([mark, count]) => `${marks[mark].label} ${count}`);
  if (most.length > 5) parts.push("…");
  const count = to - from + 1;
  return `steps ${from + 1} to ${to + 1} · ${count} ${count === 1 ? "step" : "steps"}: ${parts.join(", ")}`;
}

/**
 * `kinds[step]` is an index into `marks` (`{ id, shape, label, rare?, always? }`); a mark that is shown `always` stands
 * above the bins of a long run wherever it occurs. `profile[step]`, where given, is a height (of a stack, say) that
 * the marks follow. `onSeek(step)` is called while the reader drags, `onRange([first, last] | null)` when a part is selected;
 * `valueText(step)` is what a screen reader hears.
 * @param {{ kinds: readonly number[], marks: readonly Mark[], label: string, valueText: (step: number) => string, onSeek: (step: number) => unknown, onRange?: (range: [number, number] | null) => unknown, profile?: readonly number[] | null }} options
 */
export function createTimeline({
  kinds,
  marks,
  label,
  valueText,
  onSeek,
  onRange = () => {},
  profile = null,
}) {
  const svg = s("svg", { "aria-hidden": "true" });
  const playhead = s("g", { class: "playhead" });
  const span = s("g", { class: "span" });
  const tip = h("span", { class: "tip", hidden: true });
  const last = Math.max(0, kinds.length - 1);
  const el = h(
    "div",
    {
      class: "time",
      role: "slider",
      tabindex: 0,
      "aria-label": label,
      "aria-valuemin": 1,
      "aria-valuenow": 1,
      "aria-valuemax": last + 1,
      "aria-keyshortcuts": "+ - 0 Shift+ArrowRight Shift+ArrowLeft",
    },
    svg,
    tip,
  );
  let width = 0;
  let height = 34;
  let step = 0;
  /** @type {Keep} */
  let keep = null;
  /** The part of the run that is shown, and the one that is selected. */
  let shown = [0, last];
  /** @type {[number, number] | null} */
  let range = null;

  const highest = profile ? profile.reduce((most, at) => Math.max(most, at), 1) : 1;
  const lowest = profile ? profile.reduce((least, at) => Math.min(least, at), highest) : 0;
  /**
   * How high a step stands, from 0 to 1.
   * @param {number} at
   */
  const rise = (at) => (profile && highest > lowest ? (profile[at] - lowest) / (highest - lowest) : 0.4);
  /** @param {number} at */
  const y = (at) => (profile ? height - 7 - (height - 15) * rise(at) : height / 2 + 2);

  const inner = () => Math.max(1, width - 2 * PAD);
  /** @param {number} at */
  const x = (at) => PAD + (shown[1] > shown[0] ? ((at - shown[0]) / (shown[1] - shown[0])) * inner() : 0);
  /** @param {number} px */
  const timeAt = (px) => shown[0] + ((px - PAD) / inner()) * (shown[1] - shown[0]);
  /** @param {number} px */
  const stepAt = (px) => Math.max(0, Math.min(last, Math.round(timeAt(px))));
  const dense = () => inner() / Math.max(1, shown[1] - shown[0]) < ROOM;
  const magnified = () => shown[1] - shown[0] < last;
  /** The steps that are shown. */
  const ends = () => [Math.max(0, Math.ceil(shown[0])), Math.min(kinds.length - 1, Math.floor(shown[1]))];

  function drawMarks() {
    const [from, to] = ends();
    const out = [];
    for (let at = from; at <= to; at++)
      out.push(
        s("path", {
          class: `mark m-${marks[kinds[at]].id}${keep && !keep(at) ? " dim" : ""}`,
          d: glyphPath(marks[kinds[at]].shape, x(at), y(at), 4.6),
        }),
      );
    return out;
  }

  /** The line that the marks follow: one stair for each step. */
  function drawProfile() {
    const [from, to] = ends();
    let d = `M${x(from)} ${y(from)}`;
    for (let at = from + 1; at <= to; at++) d += `H${(x(at - 1) + x(at)) / 2}V${y(at)}`;
    return s("path", { class: "profile", d: `${d}H${x(to)}` });
  }

  function drawBins() {
    const out = [];
    const [first, to] = ends();
    for (const bin of binSteps(kinds, Math.max(1, Math.floor(inner() / BIN)), first, to + 1)) {
      let kept = !keep;
      for (let at = bin.from; keep && !kept && at < bin.to; at++) kept = keep(at);
      let tall = (height - 16) * (0.45 + 0.55 * bin.weight);
      if (profile) {
        tall = 0;
        for (let at = bin.from; at < bin.to; at++) tall = Math.max(tall, 4 + (height - 16) * rise(at));
      }
      out.push(
        s("rect", {
          class: `bin m-${marks[bin.mark].id}${kept ? "" : " dim"}`,
          x: x(bin.from),
          y: height - 4 - tall,
          width: Math.max(1.5, x(bin.to) - x(bin.from) - 0.6),
          height: tall,
        }),
      );
    }
    let free = -Infinity;
    for (let at = first; at <= to; at++) {
      const mark = marks[kinds[at]];
      if (!mark.rare || (x(at) < free && !mark.always) || (keep && !keep(at))) continue;
      free = x(at) + 9;
      out.push(s("path", { class: `mark m-${mark.id}`, d: glyphPath(mark.shape, x(at), 5, 3.6) }));
    }
    return out;
  }

  /** Which part of the run is magnified. */
  function drawPart() {
    if (!magnified()) return null;
    const along = (/** @type {number} */ at) => PAD + (at / last) * inner();
    return s("line", {
      class: "part",
      x1: along(shown[0]),
      x2: along(shown[1]),
      y1: height - 0.5,
      y2: height - 0.5,
    });
  }

  function draw() {
    width = el.clientWidth;
    height = el.clientHeight || 34;
    if (!width) return;
    const rail = dense() ? height - 3.5 : height / 2 + 2;
    fill(
      svg,
      span,
      profile && !dense()
        ? drawProfile()
        : s("line", { class: "rail", x1: PAD, x2: width - PAD, y1: rail, y2: rail }),
      dense() ? drawBins() : drawMarks(),
      drawPart(),
      playhead,
    );
    place();
  }

  function place() {
    const at = x(step);
    if (dense())
      fill(
        playhead,
        s("line", { x1: at, x2: at, y1: 1, y2: height - 1 }),
        s("rect", { x: at - 4, y: height - 9, width: 8, height: 9, rx: 3 }),
      );
    else
      fill(playhead, s("rect", { class: "halo", x: at - 8, y: y(step) - 12, width: 16, height: 24, rx: 5 }));
    const edge = (/** @type {number} */ to) =>
      s("path", { class: "handle", d: `M${to} 1V${height - 1}M${to - 2.5} ${height / 2 - 5}v10h5v-10z` });
    if (!range) return void fill(span);
    const [left, right] = range.map((to) => Math.max(PAD, Math.min(width - PAD, x(to))));
    fill(
      span,
      s("rect", { x: left, y: 1, width: Math.max(2, right - left), height: height - 2 }),
      edge(left),
      edge(right),
    );
  }

  /**
   * @param {number} at
   * @param {boolean} show
   */
  function hint(at, show) {
    tip.hidden = !show;
    tip.textContent = `${at + 1} · ${marks[kinds[at]].label}`;
    tip.style.left = `${Math.max(40, Math.min(width - 40, x(at)))}px`;
  }

  /**
   * Shows `factor` times as much around a time, which stays where it is.
   * @param {number} factor
   */
  function zoom(factor, around = step) {
    const length = Math.min(last, Math.max(Math.min(last, 8), (shown[1] - shown[0]) * factor));
    const part = (around - shown[0]) / Math.max(1e-9, shown[1] - shown[0]);
    pan(Math.min(1, Math.max(0, part)) * -length + around, length);
  }

  /** @param {number} from */
  function pan(from, length = shown[1] - shown[0]) {
    const to = Math.max(0, Math.min(last - length, from));
    shown = [to, to + length];
    draw();
  }

  /** @param {[number, number] | null} next */
  function select(next) {
    const before = range;
    range = next && [Math.min(...next), Math.max(...next)];
    if (String(before) === String(range)) return;
    place();
    say();
    onRange(range);
  }

  function say() {
    el.setAttribute("aria-valuenow", String(step + 1));
    const part = range ? ` Selected: ${rangeText(kinds, marks, range)}.` : "";
    el.setAttribute("aria-valuetext", valueText(step) + part);
  }

  const stopHand = createHand(el, {
    x,
    timeAt,
    stepAt,
    zoom,
    pan,
    select,
    hint,
    seek: (at) => void (at !== step && onSeek(at)),
    whole: () => pan(0, last),
    now: () => ({ step, range, length: shown[1] - shown[0], from: shown[0], last }),
  });
  const sizes = new ResizeObserver(() => {
    if (el.clientWidth !== width || el.clientHeight !== height) draw();
  });
  sizes.observe(el);

  return {
    el,
    /** @param {number} at */
    setStep(at) {
      step = at;
      say();
      if (magnified() && (at < shown[0] || at > shown[1])) pan(at - (shown[1] - shown[0]) / 2);
      if (width) place();
    },
    /**
     * Dims the steps for which `predicate` does not hold; null dims none.
     * @param {Keep} predicate
     */
    setKeep(predicate) {
      keep = predicate;
      draw();
    },
    zoom,
    pan,
    select,
    /** @param {readonly [number, number]} part first and last step */
    show([from, to]) {
      const length = Math.min(last, Math.max(to - from, 4) * 1.1);
      pan((from + to - length) / 2, length);
    },
    get range() {
      return range;
    },
    /** Whether the run is long enough to be magnified. */
    long: last >= 40,
    destroy() {
      stopHand();
      sizes.disconnect();
    },
  };
}
