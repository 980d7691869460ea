// The node-link pane: a canvas of cached squares, an overlay for what is lit, a minimap, and a list that keyboards and screen readers use.

import { activeIn, h } from "../core/dom.js";
import { LATER } from "../core/later.js";
import { bindGestures, clampZoom, fitCamera, keepInView, zoomAbout } from "./camera.js";
import { createColoring } from "./coloring.js";
import { createMeasure } from "./measure.js";
import { createMinimap } from "./minimap.js";
import { drawOverlay, edgesOf } from "./overlay.js";
import { paint, readPalette } from "./paint.js";
import { createProxy } from "./proxy.js";
import { createScene } from "./scene.js";
import { createTiles } from "./tiles.js";
import { VectorContext } from "./vector.js";
/** @import { Context } from "../core/types.js" */

const READABLE = 0.92; // below this scale, at which labels can be read, a first frame shows the beginning instead of the whole
const SETTLE = 90; // milliseconds without a zoom before the new scale is painted

/**
 * `hooks`: `select(id, byReader)`, `hover(id | -1)`, `toggle(group)`, `describe(id)` for screen readers, `tip(id)` → lines of the tooltip, `moved()`.
 * Ids below `model.count` are nodes, the rest groups. Call `show(layout)` to draw.
 */
export function createGraph({ model, ctx, hooks }) {
  return new GraphView(model, ctx, hooks);
}

class GraphView {
  /** @type {ResizeObserver} */
  observer = LATER;
  /** @type {any} */
  stopTheme = LATER;
  /** @type {boolean} */
  hinted = LATER;
  /** @type {number[]} */
  sized = LATER;
  /** @type {null | any[]} */
  later = LATER;
  /** @type {boolean} */
  placed = LATER;
  /** @type {boolean} */
  atFit = LATER;
  /** @type {boolean} */
  zooming = LATER;
  /** @type {ReturnType<typeof setTimeout>} */
  settle = LATER;
  /** @type {any} */
  awaited = LATER;
  /** @type {ReturnType<typeof requestAnimationFrame>} */
  gliding = LATER;
  /** @type {boolean} */
  marked = LATER;

  /** @param {Context} ctx */
  constructor(model, ctx, hooks) {
    this.model = model;
    this.ctx = ctx;
    this.hooks = hooks;
    /** @type {number | null} */
    this.frame = null;
    this.scene = null;
    this.near = null;
    this.camera = { k: 1, x: 0, y: 0 };
    this.state = { selected: -1, hovered: -1, matches: [], lit: [], hoverLit: [] };
    /** @type {(item: any) => boolean} */
    this.dimmed = () => false;
    this.coloring = createColoring("family", model, []);
    this.tiles = createTiles((g, scale, box) => this.#paint(g, scale, box));
    this.base = h("canvas", { class: "base", "aria-hidden": "true" });
    this.top = h("canvas", { class: "over", "aria-hidden": "true" });
    // How a saved picture draws them: as shapes, both at once.
    Object.assign(this.base, { rxDraw: () => this.#vector() });
    Object.assign(this.top, { rxDraw: () => null });
    this.minimap = createMinimap(this);
    this.proxy = createProxy({ describe: hooks.describe, pick: (id) => this.#pick(id) });
    this.tip = h("div", { class: "gtip", "aria-hidden": "true", hidden: true });
    this.hint = h(
      "div",
      { class: "hint", "aria-hidden": "true", hidden: true },
      "Press the graph first, then the wheel zooms.",
    );
    this.el = h(
      "div",
      { class: "graph" },
      this.proxy.el,
      this.base,
      this.top,
      this.minimap.el,
      this.tip,
      this.hint,
    );
    /** The buttons that zoom, for the caller to place. */
    this.controls = this.#controls();
    this.palette = readPalette(ctx, model);
    this.measure = createMeasure({ mono: ctx.color("--mono"), ui: ctx.color("--ui") });
    this.#listen();
  }

  #controls() {
    /**
     * @param {string} label
     * @param {string} sign
     * @param {() => void} run
     */
    const button = (label, sign, run) =>
      h("button", { class: "btn", type: "button", "aria-label": label, title: label, onclick: run }, sign);
    return h(
      "div",
      { class: "zoom group", role: "group", "aria-label": "zoom" },
      button("zoom in", "+", () => this.zoom(1.4)),
      button("zoom out", "−", () => this.zoom(1 / 1.4)),
      button("show all", "⤢", () => this.fit(true)),
    );
  }

  #listen() {
    bindGestures(this.top, this, {
      tap: (x, y, event) => this.#tap(x, y, event),
      hover: (x, y) => this.#hover(x, y),
      refused: () => this.#hintWheel(),
    });
    this.top.addEventListener("dblclick", (event) => {
      const item = this.#at(event.offsetX, event.offsetY);
      if (item?.group >= 0) this.hooks.toggle(item.group, event.shiftKey);
    });
    for (const name of ["focus", "blur"]) this.proxy.el.addEventListener(name, () => this.refresh());
    this.observer = new ResizeObserver(() => this.#resized());
    this.observer.observe(this.el);
    this.stopTheme = this.ctx.on("theme", () => this.recolour());
  }

  size() {
    return [this.el.clientWidth, this.el.clientHeight];
  }

  wheelAllowed(event) {
    return event.ctrlKey || event.metaKey || this.el.contains(activeIn(this.el));
  }

  #hintWheel() {
    if (this.hinted) return;
    this.hinted = true;
    this.hint.hidden = false;
    setTimeout(() => (this.hint.hidden = true), 1600);
  }

  #resized() {
    const [w, height] = this.size();
    if (!w || !height || !this.scene) return;
    const first = !this.sized;
    if (this.sized && this.sized[0] === w && this.sized[1] === height) return;
    const grown = this.sized && this.atFit;
    this.sized = [w, height];
    if (this.later) {
      this.lookAt(.../** @type {[any, any, any]} */ (this.later));
      this.later = null;
    } else if ((first && !this.placed) || grown) this.fit();
    else this.refresh();
    if (first && this.awaited !== undefined) this.reveal(this.awaited);
  }

  /**
   * Draws `layout`. `keep`: an item that stays where it is on the screen.
   */
  show(layout, { keep = -1, label = "graph" } = {}) {
    const before = this.scene?.byId.get(keep);
    this.scene = createScene(this.model, layout, this.measure);
    this.near = neighbours(this.model, layout);
    const after = this.scene.byId.get(keep) ?? this.scene.byId.get(layout.rep[keep]);
    this.tiles.reset();
    this.minimap.show(this.scene, (g, scale, box) => this.#paint(g, scale, box));
    if (before && after) {
      this.camera = {
        ...this.camera,
        x: this.camera.x + (before.cx - after.cx) * this.camera.k,
        y: this.camera.y + (before.y - after.y) * this.camera.k,
      };
    }
    this.proxy.show(this.#inOrder(), label);
    this.setState(this.state);
    this.#resized();
  }

  /** The shown items in the order of the program, groups before what is in them. */
  #inOrder() {
    const { count } = this.model;
    const ranked = this.scene.items.map(({ id, depth }) => ({
      id,
      depth,
      rank: id < count ? id : this.hooks.rank(id - count),
    }));
    ranked.sort(
      (a, b) => a.rank - b.rank || Number(b.id >= count) - Number(a.id >= count) || a.depth - b.depth,
    );
    return ranked.map(({ id }) => id);
  }

  /** `selected`, `hovered`: ids or -1; `matches`: ids. */
  setState(change) {
    Object.assign(this.state, change);
    /** @param {number} id */
    const lit = (id) =>
      this.scene?.byId.has(id) && !this.scene.byId.get(id).frame ? edgesOf(id, this.scene, this.near) : [];
    this.state.lit = lit(this.state.selected);
    this.state.hoverLit = this.state.hovered === this.state.selected ? [] : lit(this.state.hovered);
    this.proxy.select(this.state.selected);
    this.refresh();
  }

  /** Fades every item for which `dimmed(item)` holds. */
  dim(dimmed) {
    this.dimmed = dimmed;
    this.tiles.reset();
    this.minimap.repaint();
    this.refresh();
  }

  /** Colours everything by `coloring`, of `createColoring`. */
  colour(coloring) {
    this.coloring = coloring;
    this.recolour();
  }

  recolour() {
    this.palette = readPalette(this.ctx, this.model);
    this.tiles.reset();
    this.minimap.repaint();
    this.refresh();
  }

  #paint(g, scale, box) {
    paint(
      g,
      {
        scene: this.scene,
        model: this.model,
        palette: this.palette,
        coloring: this.coloring,
        scale,
        dim: (item) => Boolean(item) && this.dimmed(item),
      },
      box,
    );
  }

  // ---- looking around

  /** @param {{ k: number; x: number; y: number; }} camera */
  move(camera, how = "drag") {
    const [w, height] = this.size();
    this.camera = this.scene ? keepInView(camera, this.scene.bounds, w, height) : camera;
    this.placed = true;
    this.atFit = false;
    if (how === "zoom") {
      this.zooming = true;
      clearTimeout(this.settle);
      this.settle = setTimeout(() => {
        this.zooming = false;
        this.refresh();
      }, SETTLE);
    }
    this.tip.hidden = true;
    this.refresh();
    this.hooks.moved?.();
  }

  /** @param {number} factor */
  zoom(factor) {
    const [w, height] = this.size();
    this.move(zoomAbout(this.camera, factor, w / 2, height / 2), "step");
  }

  /** The whole drawing (`whole`), or as much of its beginning as can be read. */
  fit(whole = false) {
    const [w, height] = this.size();
    if (!this.scene || !w || !height) return;
    const all = fitCamera(this.scene.bounds, w, height);
    this.move(
      whole || all.k > READABLE * 0.9 ? all : fitCamera(this.scene.bounds, w, height, { least: READABLE }),
      "step",
    );
    this.atFit = !whole;
    this.minimap.settle();
  }

  /**
   * Puts a place of the drawing into the middle of the window, now or as soon as there is a window.
   * @param {number} k
   * @param {number} x
   * @param {number} y
   */
  lookAt(k, x, y) {
    const [w, height] = this.size();
    cancelAnimationFrame(this.gliding);
    this.placed = true;
    this.atFit = false;
    if (w && height) this.move({ k: clampZoom(k), x: w / 2 - x * k, y: height / 2 - y * k }, "step");
    else this.later = [k, x, y];
  }

  /**
   * Brings an item into the window; moves only when it is not well inside.
   */
  reveal(id, { centre = false } = {}) {
    const item = this.scene?.byId.get(id),
      [w, height] = this.size();
    if (!item) return;
    if (!w) {
      this.awaited = id;
      return;
    }
    const { k, x, y } = this.camera,
      { bounds } = this.scene;
    /** @param {number} pad */
    const inside = (b, pad) =>
      b.x * k + x >= pad &&
      b.y * k + y >= pad &&
      (b.x + b.w) * k + x <= w - pad &&
      (b.y + b.h) * k + y <= height - pad;
    const head = { ...item, h: Math.min(item.h, 60) };
    if (!centre && (inside(bounds, 0) || inside(head, Math.min(40, w / 8, height / 8)))) return;
    const to = Math.max(k, READABLE);
    this.#glide({ k: to, x: w / 2 - item.cx * to, y: height / 2 - (item.y + Math.min(item.h, 60) / 2) * to });
  }

  /** @param {{ k: number; x: number; y: number; }} to */
  #glide(to) {
    const from = this.camera,
      start = performance.now();
    cancelAnimationFrame(this.gliding);
    if (this.ctx.reduced() || from.k !== to.k) return this.move(to, "step");
    const step = (now) => {
      const t = Math.min(1, (now - start) / 220),
        e = 1 - (1 - t) ** 3;
      this.move({ k: to.k, x: from.x + (to.x - from.x) * e, y: from.y + (to.y - from.y) * e });
      if (t < 1) this.gliding = requestAnimationFrame(step);
    };
    this.gliding = requestAnimationFrame(step);
    return undefined;
  }

  // ---- pointing and choosing

  /**
   * @param {number} sx
   * @param {number} sy
   */
  #at(sx, sy) {
    const { k, x, y } = this.camera;
    return this.scene?.hit((sx - x) / k, (sy - y) / k, Math.min(8, 3 / k)) ?? null;
  }

  press() {
    this.proxy.el.focus({ preventScroll: true });
  }

  #stubAt(sx, sy) {
    const { k, x, y } = this.camera;
    const stub = k > 0.4 ? this.scene?.stubAt((sx - x) / k, (sy - y) / k, 3 / k) : null;
    if (!stub) return null;
    // Where the other end is the border of a group, the first of the far users stands for it.
    return stub.to >= 0 ? stub : { ...stub, to: this.near(stub.from).users.at(-1) ?? -1 };
  }

  /**
   * @param {number} sx
   * @param {number} sy
   * @param {PointerEvent} event
   */
  #tap(sx, sy, event) {
    const stub = this.#stubAt(sx, sy);
    if (stub?.to >= 0) {
      this.hooks.select(stub.to, true);
      return this.reveal(stub.to, { centre: true });
    }
    const item = this.#at(sx, sy);
    if (!item) return this.hooks.select(-1, true);
    const twist = item.group >= 0 && sx < (item.x + 26) * this.camera.k + this.camera.x;
    if (twist) this.hooks.toggle(item.group, event.shiftKey);
    else this.#pick(item.id);
    return undefined;
  }

  #pick(id) {
    this.hooks.select(id, true);
  }

  #hover(sx, sy) {
    const stub = Number.isNaN(sx) ? null : this.#stubAt(sx, sy),
      item = Number.isNaN(sx) ? null : this.#at(sx, sy);
    const id = item?.id ?? -1;
    this.top.style.cursor = item || stub ? "pointer" : "grab";
    if (id !== this.state.hovered) this.hooks.hover(id);
    const lines =
      stub?.to >= 0
        ? ["a long edge: press to jump to", ...this.hooks.tip(stub.to).slice(0, 1)]
        : id >= 0
          ? this.hooks.tip(id)
          : [];
    this.tip.hidden = !lines.length;
    if (!lines.length) return;
    this.tip.replaceChildren(...lines.map((line, i) => h(i ? "div" : "b", null, line)));
    const [w] = this.size();
    this.tip.style.left = `${Math.min(sx + 14, Math.max(4, w - this.tip.offsetWidth - 6))}px`;
    this.tip.style.top = `${sy + 16}px`;
  }

  /**
   * Where an arrow key leads from `id`: "up" operand, "down" user, "left" and "right" along the layer, "home", "end".
   * @param {string} way
   */
  step(id, way) {
    const item = this.scene.byId.get(id);
    if (!item) return this.proxy.next(-1, 0);
    if (way === "home" || way === "end") return this.proxy.next(id, way === "home" ? -Infinity : Infinity);
    if (way === "up" || way === "down") {
      const { operands, users } = this.near(id);
      const list = (way === "up" ? operands : users).map((n) => this.scene.byId.get(n)).filter(Boolean);
      return list.sort((a, b) => Math.abs(a.cx - item.cx) - Math.abs(b.cx - item.cx))[0]?.id ?? id;
    }
    const beside = this.scene
      .itemsIn(-1e9, item.y, 1e9, item.y + 1)
      .filter((it) => !it.frame && it.y === item.y && it.id !== id);
    const side = beside.filter((it) => (way === "left" ? it.cx < item.cx : it.cx > item.cx));
    return side.sort((a, b) => Math.abs(a.cx - item.cx) - Math.abs(b.cx - item.cx))[0]?.id ?? id;
  }

  // ---- frames

  refresh() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.#draw();
    });
  }

  /**
   * @param {number} w
   * @param {number} height
   * @param {boolean} focus
   */
  #overlay(g, w, height, focus) {
    const { k, x, y } = this.camera;
    const seen = (it) =>
      it.x * k + x < w && (it.x + it.w) * k + x > 0 && it.y * k + y < height && (it.y + it.h) * k + y > 0;
    const { scene, palette, state } = this;
    drawOverlay(g, { scene, palette, scale: k, focus, ...state }, seen);
  }

  /** What is seen, as shapes of an SVG, in the theme that the page has now. */
  #vector() {
    const [w, height] = this.size();
    if (!this.scene) return null;
    const { k, x, y } = this.camera;
    const g = new VectorContext(`translate(${x} ${y}) scale(${k})`);
    const shown = this.palette;
    this.palette = readPalette(this.ctx, this.model);
    this.#paint(g, k, [-x / k, -y / k, (w - x) / k, (height - y) / k]);
    this.#overlay(g, w, height, false);
    this.palette = shown;
    return g.el;
  }

  #draw() {
    const [w, height] = this.size();
    if (!this.scene || !w || !height) return;
    const dpr = Math.min(3, window.devicePixelRatio || 1);
    for (const canvas of [this.base, this.top]) {
      if (canvas.width === Math.round(w * dpr) && canvas.height === Math.round(height * dpr)) continue;
      canvas.width = Math.round(w * dpr);
      canvas.height = Math.round(height * dpr);
    }
    const complete = this.tiles.draw(this.base.getContext("2d"), this.camera, w, height, dpr, this.zooming);
    const g = this.top.getContext("2d"),
      { k, x, y } = this.camera;
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, this.top.width, this.top.height);
    g.setTransform(k * dpr, 0, 0, k * dpr, Math.round(x * dpr), Math.round(y * dpr));
    this.#overlay(g, w, height, activeIn(this.el) === this.proxy.el);
    this.minimap.draw(this.palette.accent);
    if (!complete) this.refresh();
    else if (!this.marked) {
      performance.mark("relay-explorer-graph");
      this.marked = true;
    }
  }

  destroy() {
    cancelAnimationFrame(this.frame);
    cancelAnimationFrame(this.gliding);
    clearTimeout(this.settle);
    this.observer.disconnect();
    this.stopTheme();
  }
}

/** The shown operands and users of each shown item. */
function neighbours(model, layout) {
  const made = new Map();
  const of = (id) => {
    if (!made.has(id)) made.set(id, { operands: new Set(), users: new Set() });
    return made.get(id);
  };
  for (let k = 0; k < model.edges.length; k += 2) {
    const s = layout.rep[model.edges[k]],
      t = layout.rep[model.edges[k + 1]];
    if (s < 0 || t < 0 || s === t) continue;
    of(t).operands.add(s);
    of(s).users.add(t);
  }
  return (id) => ({ operands: [...(made.get(id)?.operands ?? [])], users: [...(made.get(id)?.users ?? [])] });
}
