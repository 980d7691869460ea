// The graph pane: the values of the stage that is shown, each where it was in the stage before; what is gone is there once more, as a ghost.
import { path } from "d3-path";
import { closestTo, fill, h, s, set } from "../../core/dom.js";
import { ADDED, COMPUTED, KEPT, MARKS, MOVED, REMOVED, REWRITTEN, wordOf } from "./marks.js";
import { createPlaces, graphItems, short } from "./slots.js";
/** @import { PipelineModel } from "./model.js" */

/**
 * An edge or a node of the graph: `box` is [left, top, right, bottom], `el` what is in the page.
 * @typedef {{ box: number[], layer: SVGElement, make: () => SVGElement, names: () => string, el: SVGElement | null }} Drawn
 */

/** More nodes than these are not drawn. */
const MOST = 6000;
const PAD = 14;
const AROUND = 240;
const [LEAST, MOST_ZOOM] = [0.4, 1.4];
const TINTS = 6;

/**
 * `onPick(item)`, `onHover(item | -1)`. `draw({ stage, kin, lit, pointed })` shows a stage; `look(items)` brings one of them into the window.
 * @param {PipelineModel} model
 */
export function createGraphPane(model, { onPick, onHover }) {
  const svg = s("svg", { class: "flow", role: "img" });
  const scroller = h(
    "div",
    { class: "flow-window", tabindex: 0, role: "group", "aria-label": "graph: scroll it" },
    svg,
  );
  /**
   * @param {string} sign
   * @param {string} label
   * @param {() => void} run
   */
  const button = (sign, label, run) =>
    h("button", { class: "btn", type: "button", title: label, "aria-label": label, onclick: run }, sign);
  const note = h("p", { class: "soft flow-note", hidden: true });
  const el = h(
    "div",
    { class: "flow-box" },
    scroller,
    h(
      "div",
      { class: "group flow-zoom", role: "group", "aria-label": "zoom" },
      button("+", "zoom in", () => zoom(1.25)),
      button("−", "zoom out", () => zoom(0.8)),
    ),
    note,
  );
  let places = null;
  let state = null;
  let shown = new Map();
  let scale = 0;
  let frame = 0;
  /** What of the graph is in the window, as last read: to read it while a stage is drawn would lay out the page. */
  let port = { left: 0, top: 0, width: 0, height: 0 };
  let measured = false;
  /** What the stage that is shown draws, with the element of what is in the window. @type {Drawn[]} */
  let drawn = [];
  const layers = { edges: s("g"), ghosts: s("g"), nodes: s("g") };
  svg.append(layers.edges, layers.ghosts, layers.nodes);

  const known = () => (places ??= createPlaces(model));

  function measure() {
    measured = true;
    port = {
      left: scroller.scrollLeft,
      top: scroller.scrollTop,
      width: scroller.clientWidth,
      height: scroller.clientHeight,
    };
  }

  /**
   * @param {number} left
   * @param {number} top
   */
  function scrollTo(left, top) {
    scroller.scrollTo(left, top);
    measure();
  }

  /** Until there is a width, nothing is known about the scale. */
  function fit() {
    if (!measured) measure();
    const { bounds } = known();
    const room = port.width - 2 * PAD;
    if (room <= 0) return false;
    // All of it, where it can still be read then.
    const whole = Math.min(1, room / Math.max(1, bounds.w), (port.height - 3 * PAD) / Math.max(1, bounds.h));
    scale ||= Math.max(0.62, whole);
    return true;
  }

  /** @param {number} by */
  function zoom(by) {
    if (!fit()) return;
    const [x, y] = [port.left + port.width / 2, port.top + port.height / 2].map((at) => at / scale);
    scale = Math.max(LEAST, Math.min(MOST_ZOOM, scale * by));
    paint();
    scrollTo(x * scale - port.width / 2, y * scale - port.height / 2);
  }

  /** What stands in each place: `Map(slot → { item, mark, ghost })`. */
  function occupants({ stage }) {
    const { slot } = known();
    const { items } = model;
    const found = new Map();
    const before = new Map(stage.before < 0 ? [] : graphItems(model, stage.before).map((i) => [slot[i], i]));
    const moved = new Set(
      stage.pairs.filter(({ mark, after }) => mark === MOVED && after >= 0).map(({ after }) => after),
    );
    const fate = (i) => {
      const other = before.get(slot[i]);
      if (stage.before < 0) return KEPT;
      if (other === undefined) return ADDED;
      if (other === i) return KEPT;
      if (items[i].mark === REWRITTEN) return REWRITTEN;
      return moved.has(items[i].row) ? MOVED : KEPT;
    };
    for (const i of graphItems(model, stage.shown))
      found.set(slot[i], { item: i, mark: fate(i), ghost: false });
    for (const [at, i] of before) if (!found.has(at)) found.set(at, { item: i, mark: REMOVED, ghost: true });
    return found;
  }

  /** Kernels by number, in the order of their first node. */
  function kernelsOf(stage) {
    const found = new Map();
    for (const i of graphItems(model, stage.shown)) {
      const { kernel } = model.items[i];
      if (kernel >= 0 && !found.has(kernel)) found.set(kernel, found.size + 1);
    }
    return found;
  }

  function course(points) {
    const line = path();
    line.moveTo(points[0], points[1]);
    for (let i = 2; i < points.length; i += 2) {
      const [x0, y0, x1, y1] = points.slice(i - 2, i + 2);
      if (Math.abs(x0 - x1) < 0.5) line.lineTo(x1, y1);
      else line.bezierCurveTo(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1);
    }
    return line.toString();
  }

  /** The edges and nodes of the stage that is shown, none of them with an element. @returns {Drawn[]} */
  function drawnOf() {
    const { slot, paths, x, y, width, height } = known();
    const out = [];
    for (const { item, mark, ghost } of shown.values()) {
      for (const operand of model.items[item].operands) {
        const points = paths.get(`${slot[operand]} ${slot[item]}`);
        if (!points) continue;
        const [xs, ys] = [0, 1].map((odd) => points.filter((_, k) => k % 2 === odd));
        out.push({
          box: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)],
          layer: layers.edges,
          make: () => s("path", { d: course(points) }),
          names: () =>
            `flow-edge${ghost ? " ghost" : ""}${state.kin.has(item) && state.kin.has(operand) ? " hot" : ""}`,
          el: null,
        });
      }
      const [left, top, w] = [x[slot[item]] - width[slot[item]] / 2, y[slot[item]], width[slot[item]]];
      out.push({
        box: [left, top, left + w, top + height],
        layer: ghost ? layers.ghosts : layers.nodes,
        make: () => node({ item, mark, ghost }),
        names: () => namesOf(item, mark, ghost),
        el: null,
      });
    }
    return out;
  }

  /** The number of a node's kernel, 0 for none. */
  const numberOf = (item, ghost) => (ghost ? 0 : (state.kernels.get(model.items[item].kernel) ?? 0));

  function namesOf(i, mark, ghost) {
    const number = numberOf(i, ghost);
    return [
      "flow-node",
      `n-${MARKS[mark].id}`,
      model.items[i].part === COMPUTED ? "" : "given",
      number ? `k${(number - 1) % TINTS}` : "",
      state.kin.has(i) ? "is-kin" : "",
      state.lit.has(i) ? "is-rewrite" : "",
      state.pointed === i ? "is-hover" : "",
    ]
      .filter(Boolean)
      .join(" ");
  }

  function node({ item: i, mark, ghost }) {
    const { slot, x, y, width, height } = known();
    const { label, part } = model.items[i];
    const at = slot[i];
    const number = numberOf(i, ghost);
    const w = width[at];
    /**
     * @param {string} key
     * @param {number} tx
     * @param {string} value
     */
    const text = (key, tx, value, anchor = "middle") =>
      s("text", { class: key, x: tx, y: height / 2, "text-anchor": anchor }, value);
    const title = `${model.title(i)}${mark === KEPT ? "" : `: ${wordOf(mark)}`}${number ? `, in kernel ${number}` : ""}`;
    return s(
      "g",
      { "data-item": i, transform: `translate(${x[at] - w / 2} ${y[at]})` },
      s("title", null, title),
      s("rect", { width: w, height, rx: part === COMPUTED ? 6 : 13 }),
      text("flow-label", w / 2, short(label)),
      MARKS[mark].sign &&
        s("text", { class: `flow-sign s-${MARKS[mark].id}`, x: 4, y: -3 }, MARKS[mark].sign),
      number > 0 && s("text", { class: "flow-kernel", x: w - 3, y: -3, "text-anchor": "end" }, `k${number}`),
    );
  }

  /** Draws what is in the window and around it; what is drawn already stays. */
  function paint() {
    if (!state || el.closest("[hidden]") || !fit()) return;
    const { bounds, count } = known();
    note.hidden = count <= MOST;
    note.textContent =
      count > MOST
        ? `The graph has ${count.toLocaleString("en")} nodes, too many to draw. The rows show all of them.`
        : "";
    if (count > MOST) return;
    const [w, tall] = [bounds.w + 2 * PAD, bounds.h + 2 * PAD + 6];
    set(svg, "width", w * scale);
    set(svg, "height", tall * scale);
    set(svg, "viewBox", `${bounds.x - PAD} ${-PAD - 6} ${w} ${tall}`);
    const left = port.left / scale + bounds.x - AROUND;
    const right = left + port.width / scale + 2 * AROUND;
    const top = port.top / scale - AROUND;
    const bottom = top + port.height / scale + 2 * AROUND;
    for (const part of drawn) {
      const [x0, y0, x1, y1] = part.box;
      if (x1 >= left && x0 <= right && y1 >= top && y0 <= bottom) {
        if (!part.el) part.layer.append((part.el = part.make()));
        set(part.el, "class", part.names());
      } else if (part.el) {
        part.el.remove();
        part.el = null;
      }
    }
  }

  function draw(next) {
    const again = state?.stage === next.stage;
    state = { lit: new Set(), pointed: -1, kernels: again ? state.kernels : kernelsOf(next.stage), ...next };
    if (!again) restage();
    paint();
  }

  /** Another stage is shown: nothing of the one before stays. */
  function restage() {
    shown = occupants(state);
    for (const layer of Object.values(layers)) fill(layer);
    drawn = known().count > MOST ? [] : drawnOf();
    const here = [...shown.values()];
    const counts = MARKS.map((_, mark) => here.filter((entry) => entry.mark === mark).length);
    const told = MARKS.map((_, mark) =>
      mark > 0 && counts[mark] ? `, ${counts[mark]} ${wordOf(mark)}` : "",
    ).join("");
    svg.setAttribute(
      "aria-label",
      `graph of ${here.filter(({ ghost }) => !ghost).length} values${told}; the rows say the same in words`,
    );
  }

  /** Brings the first of `items` into the window, if it is not there. */
  function look(items) {
    if (!state || !fit()) return;
    const { slot, x, y, bounds } = known();
    const item = items.find((i) => slot[i] >= 0);
    if (item === undefined) return;
    const [cx, cy] = [(x[slot[item]] - bounds.x + PAD) * scale, (y[slot[item]] + PAD) * scale];
    const apart =
      cy < port.top + 10 ||
      cy > port.top + port.height - 40 ||
      cx < port.left + 20 ||
      cx > port.left + port.width - 20;
    if (!apart) return;
    scrollTo(cx - port.width / 2, cy - port.height / 2);
    paint();
  }

  /** @param {PointerEvent} event */
  const itemAt = (event) => {
    const found = closestTo(event, ".flow-node");
    return found ? Number(found.dataset.item) : -1;
  };
  svg.addEventListener("click", (event) => {
    const item = itemAt(event);
    if (item >= 0) onPick(item);
  });
  svg.addEventListener("pointerover", (event) => onHover(itemAt(event)));
  svg.addEventListener("pointerleave", () => onHover(-1));
  scroller.addEventListener("scroll", () => {
    measure();
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(paint);
  });
  const sizes = new ResizeObserver(() => {
    measure();
    paint();
  });
  sizes.observe(scroller);
  return {
    el,
    draw,
    look,
    paint,
    /** The first changed value of the stage that is drawn, in the order of the program. */
    firstChange: () =>
      [...shown.values()]
        .filter(({ mark }) => mark !== KEPT)
        .map(({ item }) => item)
        .sort((a, b) => a - b),
    destroy() {
      cancelAnimationFrame(frame);
      sizes.disconnect();
    },
  };
}
