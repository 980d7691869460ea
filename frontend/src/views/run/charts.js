// The roofline of a run: its kernels under the roof that the machine sets them, and the legend of their rules.
import { closestTo, fill, h, s } from "../../core/dom.js";
import { outlineText } from "../../graph/shapes.js";
import { placeNumbers } from "./numbers.js";
import { computing, extent, logScale, logTicks, percent, roof, short } from "./model.js";
/** @import { Rule } from "../../generated/run.js" */
/**
 * @import { RunModel } from "./model.js"
 * @param {string} name
 */

export const hue = (name) => ({ "--hue": `var(--hue-${name})`, "--fill": `var(--hue-${name}-fill)` });
const BEYOND = 1.05; // of a limit: above it, the limit does not hold for a kernel
const LEFT = 50;
const BOTTOM = 38;

/**
 * How large a mark is, by its kernel's share of the time.
 * @param {number} share
 */
export const sizeOf = (share) => 9 + 24 * Math.sqrt(share);

/**
 * Of some places for a name, the first that is free of marks, else the one that is furthest from any.
 * @param {number[][]} places
 */
export function freest(places, boxes, room = 60) {
  const far = (/** @type {number[]} */ [px, py]) =>
    Math.min(Infinity, ...boxes.map(({ cx, cy, size }) => Math.hypot(cx - px, cy - py) - size / 2));
  return (
    places.find((place) => far(place) >= room) ??
    places.reduce((best, place) => (far(place) > far(best) ? place : best))
  );
}

/**
 * The mark of a rule, for legends and tables.
 * @param {Rule} rule
 */
export function markOf(rule, size = 14) {
  return s(
    "svg",
    {
      class: "run-mark",
      style: hue(rule.hue),
      width: size,
      height: size,
      viewBox: `0 0 ${size} ${size}`,
      "aria-hidden": "true",
    },
    s("path", { d: outlineText(rule.shape, 1, 1, size - 2, size - 2) }),
  );
}

/**
 * A chart that is drawn anew when its size changes; `hooks`: point(kernel, launch), choose(kernel, launch).
 * @param {string} className
 * @param {string} label
 */
export function chart(className, label, draw) {
  const svg = s("svg", { class: className, role: "img", "aria-label": label });
  let size = "";
  const look = () => {
    const [width, height] = [svg.clientWidth, svg.clientHeight];
    if (!width || !height || size === `${width} ${height}`) return;
    size = `${width} ${height}`;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    draw(svg, width, height);
  };
  const sizes = new ResizeObserver(look);
  sizes.observe(svg);
  return { svg, destroy: () => sizes.disconnect() };
}

/** @param {PointerEvent | MouseEvent} event */
const kernelAt = (event) => {
  const found = closestTo(event, "[data-kernel]");
  return found ? [Number(found.dataset.kernel), Number(found.dataset.launch ?? -1)] : null;
};

/**
 * @param {SVGSVGElement} svg
 * @param {{ point: (kernel: number, launch: number) => void }} hooks
 */
export function pointed(svg, hooks) {
  svg.addEventListener("pointerover", (event) => {
    const [kernel, launch] = kernelAt(event) ?? [-1, -1];
    hooks.point(kernel, launch);
  });
  svg.addEventListener("pointerleave", () => hooks.point(-1, -1));
}

/** @param {SVGSVGElement} svg */
function listen(svg, hooks) {
  pointed(svg, hooks);
  svg.addEventListener("click", (event) => {
    const at = kernelAt(event);
    if (at) hooks.choose(...at);
  });
  svg.addEventListener("dblclick", (event) => {
    const at = kernelAt(event);
    if (at) hooks.open(at[0]);
  });
}

/** @param {RunModel} model */
export function createRoofline(model, hooks) {
  const { machine, ridge } = model;
  const lit = s("g", { class: "roof-lit" });
  const label = `Roofline: at most ${short(machine.flops)} GFLOP/s and ${short(machine.bandwidth)} GB/s. ${model.kernels.length} kernels; the table has the same numbers.`;
  let place = null;
  let marks = [];
  let shown = -1;

  function draw(svg, width, height) {
    const ends = extent(model);
    const x = logScale(ends.x[0], ends.x[1], LEFT, width - 10);
    const y = logScale(ends.y[0], ends.y[1], height - BOTTOM, 12);
    place = { x, y };
    const grid = [
      logTicks(...ends.x).map((v) => [
        s("line", { class: "grid", x1: x.at(v), x2: x.at(v), y1: 12, y2: height - BOTTOM }),
        s("text", { class: "tick", x: x.at(v), y: height - BOTTOM + 15, "text-anchor": "middle" }, short(v)),
      ]),
      logTicks(...ends.y).map((v) => [
        s("line", { class: "grid", x1: LEFT, x2: width - 10, y1: y.at(v), y2: y.at(v) }),
        s("text", { class: "tick", x: LEFT - 6, y: y.at(v) + 4, "text-anchor": "end" }, short(v)),
      ]),
    ];
    const first = Math.max(ends.x[0], ends.y[0] / machine.bandwidth); // where the roof comes into the picture
    const path = `M${x.at(first)} ${y.at(machine.bandwidth * first)}L${x.at(ridge)} ${y.at(machine.flops)}H${width - 10}`;
    const slope =
      (Math.atan2(y.at(machine.flops) - y.at(machine.bandwidth * first), x.at(ridge) - x.at(first)) * 180) /
      Math.PI;
    const boxes = computing(model.kernels).map((kernel) => {
      const size = sizeOf(kernel.share);
      const [cx, cy] = [x.at(kernel.intensity), y.at(kernel.rate)];
      return { index: kernel.index, kernel, size, cx, cy };
    });
    // The name of the slope is above or below it, where fewest marks are.
    const turn = (slope * Math.PI) / 180;
    const beside = [-10, 17].flatMap((below) =>
      [0.5, 0.72, 0.28, 0.86, 0.14]
        .map((part) => first ** (1 - part) * ridge ** part)
        .map((v) => [x.at(v) - below * Math.sin(turn), y.at(machine.bandwidth * v) + below * Math.cos(turn)]),
    );
    const [mx, my] = freest(beside, boxes);
    const named = slope < -8 && mx > LEFT + 40;
    const roofLine = [
      [x.at(first), y.at(machine.bandwidth * first)],
      [x.at(ridge), y.at(machine.flops)],
      [width - 10, y.at(machine.flops)],
    ];
    const name = [-60, 60].map((along) => [mx + along * Math.cos(turn), my + along * Math.sin(turn) - 4]);
    const places = placeNumbers(boxes, named ? [roofLine, name] : [roofLine], [
      LEFT,
      32,
      width - 10,
      height - BOTTOM,
    ]);
    marks = boxes.map(({ index, kernel, size, cx, cy }) => {
      const at = places.get(index);
      return s(
        "g",
        { class: "roof-mark", style: hue(kernel.rule.hue), "data-kernel": index },
        s("path", { d: outlineText(kernel.rule.shape, cx - size / 2, cy - size / 2, size, size) }),
        at?.line && s("line", { x1: cx, y1: cy, x2: at.line[0], y2: at.line[1] }),
        at && s("text", { x: at.x, y: at.y + 4, "text-anchor": "middle" }, String(index + 1)),
      );
    });
    fill(
      svg,
      grid,
      s("path", { class: "under", d: `${path}V${height - BOTTOM}H${x.at(first)}Z` }),
      s("line", {
        class: "ridge",
        x1: x.at(ridge),
        x2: x.at(ridge),
        y1: y.at(machine.flops),
        y2: height - BOTTOM,
      }),
      s(
        "text",
        {
          class: "tick",
          x: x.at(ridge) + (x.at(ridge) > width - 90 ? -5 : 5),
          y: height - BOTTOM - 6,
          "text-anchor": x.at(ridge) > width - 90 ? "end" : "start",
        },
        `ridge: ${short(ridge)}`,
      ),
      s("path", { class: "roof", d: path }),
      s(
        "text",
        { class: "roof-name", x: width - 14, y: 24, "text-anchor": "end" },
        `arithmetic: ${short(machine.flops)} GFLOP/s`,
      ),
      named &&
        s(
          "text",
          {
            class: "roof-name",
            x: mx,
            y: my,
            "text-anchor": "middle",
            transform: `rotate(${slope} ${mx} ${my})`,
          },
          `memory: ${short(machine.bandwidth)} GB/s`,
        ),
      s("g", { class: "roof-marks" }, marks),
      lit,
      s(
        "text",
        { class: "axis", x: (LEFT + width) / 2, y: height - 6, "text-anchor": "middle" },
        "operations per byte of arguments and results",
      ),
      s(
        "text",
        {
          class: "axis",
          x: 13,
          y: height / 2 - 12,
          "text-anchor": "middle",
          transform: `rotate(-90 13 ${height / 2 - 12})`,
        },
        "GFLOP/s",
      ),
    );
    light(shown);
  }

  /**
   * Marks a kernel, and how far it is from its limit.
   * @param {number} index
   */
  function light(index) {
    shown = index;
    for (const mark of marks) mark.classList.toggle("is-lit", Number(mark.dataset.kernel) === index);
    const group = made.svg.querySelector(".roof-marks");
    const front = marks.find((mark) => Number(mark.dataset.kernel) === index);
    group?.replaceChildren(...marks.filter((mark) => mark !== front), ...(front ? [front] : [])); // it lies on the others
    const kernel = model.kernels[index];
    if (!place || !kernel || !kernel.flops) return fill(lit);
    const at = place.x.at(kernel.intensity);
    const [from, to] = [place.y.at(kernel.rate), place.y.at(roof(model, kernel.intensity))];
    const away = sizeOf(kernel.share) / 2;
    const gap = Math.abs(from - to) > away + 4;
    fill(
      lit,
      gap && s("line", { class: "way", x1: at, x2: at, y1: from + (from > to ? -away : away), y2: to }),
      s("circle", { cx: at, cy: to, r: 3.5 }),
      s(
        "text",
        { class: "way-name", x: at + (gap ? 7 : away + 4), y: gap ? (from + to) / 2 + 4 : to - 8 },
        percent(kernel.reached),
      ),
    );
    return lit;
  }

  const made = chart("roofline", label, draw);
  listen(made.svg, hooks);
  return { ...made, light };
}

/**
 * Numbers in ascending order, three and more in a row as "11–14".
 * @param {number[]} list
 */
export function ranges(list) {
  /** @type {number[][]} */
  const runs = [];
  for (const n of list) {
    const run = runs.at(-1);
    if (run && run.at(-1) === n - 1) run.push(n);
    else runs.push([n]);
  }
  return runs.flatMap((run) => (run.length > 2 ? [`${run[0]}–${run.at(-1)}`] : run.map(String))).join(", ");
}

/**
 * Why marks are above the roof, or nothing where none is.
 * @param {RunModel} model
 */
export function beyondRoof(model) {
  const above = computing(model.kernels).filter(({ reached }) => reached > BEYOND);
  /** @param {typeof above} kernels */
  const numbers = (kernels) => ranges(kernels.map(({ index }) => index + 1));
  const [flat, slope] = [true, false].map((side) => above.filter(({ arithmetic }) => arithmetic === side));
  const [winograd, clock] = [true, false].map((side) =>
    flat.filter(({ rule }) => (rule.name === "winograd") === side),
  );
  const reasons = [
    slope.length && `${numbers(slope)} read their inputs from the caches, which are faster than memory`,
    winograd.length && `${numbers(winograd)} need fewer multiplications than the layer's definition`,
    clock.length &&
      `for ${numbers(clock)}, the processor's clock was faster than when its limit was measured`,
  ].filter(Boolean);
  return reasons.length ? h("p", { class: "roof-note" }, "Above the roof: ", reasons.join("; "), ".") : null;
}

/**
 * The legend of the rules; the kernels of one are lit while it is pointed at.
 * @param {RunModel} model
 */
export function createRules(model) {
  return h(
    "span",
    { class: "run-rules" },
    model.rules.map((rule) => {
      const mine = model.kernels.filter((kernel) => kernel.rule === rule);
      const share = mine.reduce((sum, kernel) => sum + kernel.share, 0);
      return h("span", null, markOf(rule), rule.name, " ", h("b", null, percent(share)));
    }),
  );
}
