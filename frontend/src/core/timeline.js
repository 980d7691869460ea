// Time: one mark a step while they fit; a rail of bins, with the rare marks standing above it, when they do not.
import { fill, h, s } from "./dom.js";
import { glyphPath } from "./glyphs.js";
/** @import { Keep, Mark } from "./types.js" */

const ROOM = 9;
const BIN = 3;
const MIDDLE = 19;
const PAD = 9;

/**
 * Bins of a long run: `[{ from, to, mark, weight }]`, each with the mark that most of its steps have.
 * @param {readonly number[]} kinds
 * @param {number} count
 */
export function binSteps(kinds, count) {
  const bins = [];
  for (let i = 0; i < count; i++) {
    const from = Math.floor((i * kinds.length) / count);
    const to = Math.floor(((i + 1) * kinds.length) / count);
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
 * `kinds[step]` is an index into `marks` (`{ id, shape, label, rare?, always? }`); a mark that is shown `always` stands
 * above the bins of a long run wherever it occurs. `profile[step]`, where given, is a height (of a stack, say) that
 * the marks follow. `onSeek(step)` is called while the reader drags; `valueText(step)` is what a screen reader hears.
 * @param {{ kinds: readonly number[], marks: readonly Mark[], label: string, valueText: (step: number) => string, onSeek: (step: number) => unknown, profile?: readonly number[] | null }} options
 */
export function createTimeline({ kinds, marks, label, valueText, onSeek, profile = null }) {
  const svg = s("svg", { "aria-hidden": "true" });
  const playhead = s("g", { class: "playhead" });
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
    },
    svg,
    tip,
  );
  let width = 0;
  let step = 0;
  /** @type {Keep} */
  let keep = null;
  let dragging = false;

  const highest = profile ? profile.reduce((most, at) => Math.max(most, at), 1) : 1;
  const lowest = profile ? profile.reduce((least, at) => Math.min(least, at), highest) : 0;
  /**
   * How high a step stands, from 0 to 1.
   * @param {number} at
   */
  const rise = (at) => (profile && highest > lowest ? (profile[at] - lowest) / (highest - lowest) : 0.4);
  /** @param {number} at */
  const y = (at) => (profile ? 27 - 19 * rise(at) : MIDDLE);

  /** @param {number} at */
  const x = (at) => PAD + (last ? (at / last) * (width - 2 * PAD) : 0);
  /** @param {number} px */
  const stepAt = (px) =>
    Math.max(0, Math.min(last, Math.round(((px - PAD) / Math.max(1, width - 2 * PAD)) * last)));
  const dense = () => (width - 2 * PAD) / Math.max(1, last) < ROOM;

  function drawMarks() {
    return kinds.map((kind, at) =>
      s("path", {
        class: `mark m-${marks[kind].id}${keep && !keep(at) ? " dim" : ""}`,
        d: glyphPath(marks[kind].shape, x(at), y(at), 4.6),
      }),
    );
  }

  /** The line that the marks follow: one stair for each step. */
  function drawProfile() {
    let d = `M${x(0)} ${y(0)}`;
    for (let at = 1; at <= last; at++) d += `H${(x(at - 1) + x(at)) / 2}V${y(at)}`;
    return s("path", { class: "profile", d: `${d}H${x(last)}` });
  }

  function drawBins() {
    const out = [];
    for (const bin of binSteps(kinds, Math.max(1, Math.floor((width - 2 * PAD) / BIN)))) {
      let kept = !keep;
      for (let at = bin.from; keep && !kept && at < bin.to; at++) kept = keep(at);
      let tall = 8 + 10 * bin.weight;
      if (profile) {
        tall = 0;
        for (let at = bin.from; at < bin.to; at++) tall = Math.max(tall, 4 + 18 * rise(at));
      }
      out.push(
        s("rect", {
          class: `bin m-${marks[bin.mark].id}${kept ? "" : " dim"}`,
          x: x(bin.from),
          y: MIDDLE + 11 - tall,
          width: Math.max(1.5, x(bin.to) - x(bin.from) - 0.6),
          height: tall,
        }),
      );
    }
    let free = -Infinity;
    for (let at = 0; at < kinds.length; at++) {
      const mark = marks[kinds[at]];
      if (!mark.rare || (x(at) < free && !mark.always) || (keep && !keep(at))) continue;
      free = x(at) + 9;
      out.push(s("path", { class: `mark m-${mark.id}`, d: glyphPath(mark.shape, x(at), 5, 3.6) }));
    }
    return out;
  }

  function draw() {
    width = el.clientWidth;
    if (!width) return;
    const rail = dense() ? 30.5 : MIDDLE;
    fill(
      svg,
      profile && !dense()
        ? drawProfile()
        : s("line", { class: "rail", x1: PAD, x2: width - PAD, y1: rail, y2: rail }),
      dense() ? drawBins() : drawMarks(),
      playhead,
    );
    place();
  }

  function place() {
    const at = x(step);
    if (dense())
      fill(
        playhead,
        s("line", { x1: at, x2: at, y1: 1, y2: 33 }),
        s("rect", { x: at - 4, y: 25, width: 8, height: 9, rx: 3 }),
      );
    else
      fill(playhead, s("rect", { class: "halo", x: at - 8, y: y(step) - 12, width: 16, height: 24, rx: 5 }));
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

  el.addEventListener("pointerdown", (event) => {
    dragging = true;
    el.setPointerCapture(event.pointerId);
    onSeek(stepAt(event.offsetX));
  });
  el.addEventListener("pointermove", (event) => {
    const at = stepAt(event.clientX - el.getBoundingClientRect().left);
    hint(at, kinds.length > 0);
    if (dragging && at !== step) onSeek(at);
  });
  for (const name of ["pointerup", "pointercancel"])
    el.addEventListener(name, () => {
      dragging = false;
    });
  el.addEventListener("pointerleave", () => hint(step, false));
  const sizes = new ResizeObserver(() => {
    if (el.clientWidth !== width) draw();
  });
  sizes.observe(el);

  return {
    el,
    /** @param {number} at */
    setStep(at) {
      step = at;
      el.setAttribute("aria-valuenow", String(at + 1));
      el.setAttribute("aria-valuetext", valueText(at));
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
    destroy() {
      sizes.disconnect();
    },
  };
}
