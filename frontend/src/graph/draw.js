// The node-link pane: a canvas of cached squares, an overlay for what is lit, a minimap, and a list that keyboards and screen readers use.

import { activeIn, h } from "../core/dom.js";
import { LATER } from "../core/later.js";
import { createColoring } from "./coloring.js";
import { GraphCamera } from "./looking.js";
import { createMeasure } from "./measure.js";
import { createMinimap } from "./minimap.js";
import { drawOverlay, edgesOf } from "./overlay.js";
import { neighbours, stepFrom } from "./neighbours.js";
import { paint, readPalette } from "./paint.js";
import { createPointing } from "./pointing.js";
import { createProxy } from "./proxy.js";
import { createScene } from "./scene.js";
import { createTiles } from "./tiles.js";
import { VectorContext } from "./vector.js";
/** @import { Context } from "../core/types.js" */

/**
 * `hooks`: `select(id, byReader)`, `hover(id | -1)`, `toggle(group)`, `describe(id)` for screen readers, `tip(id)` → lines of the tooltip, `moved()`.
 * Ids below `model.count` are nodes, the rest groups. Call `show(layout)` to draw.
 */
export function createGraph({ model, ctx, hooks }) {
  return new GraphView(model, ctx, hooks);
}

class GraphView extends GraphCamera {
  /** @type {ResizeObserver} */
  observer = LATER;
  /** @type {any} */
  stopTheme = LATER;
  /** @type {number[]} */
  sized = LATER;
  /** @type {boolean} */
  marked = LATER;

  /** @param {Context} ctx */
  constructor(model, ctx, hooks) {
    super(ctx);
    this.model = model;
    this.hooks = hooks;
    /** @type {number | null} */
    this.frame = null;
    this.near = null;
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
    this.proxy = createProxy({ describe: hooks.describe, pick: (id) => hooks.select(id, true) });
    this.pointing = createPointing(this);
    this.el = h(
      "div",
      { class: "graph" },
      this.proxy.el,
      this.base,
      this.top,
      this.minimap.el,
      this.pointing.els,
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
    for (const name of ["focus", "blur"]) this.proxy.el.addEventListener(name, () => this.refresh());
    this.observer = new ResizeObserver(() => this.#resized());
    this.observer.observe(this.el);
    this.stopTheme = this.ctx.on("theme", () => this.recolor());
  }

  size() {
    return [this.el.clientWidth, this.el.clientHeight];
  }

  #resized() {
    const [w, height] = this.size();
    if (!w || !height || !this.scene) return;
    const first = !this.sized;
    if (this.sized && this.sized[0] === w && this.sized[1] === height) return;
    const grown = this.sized && this.atFit;
    this.sized = [w, height];
    if (!this.lookLater()) {
      if ((first && !this.placed) || grown) this.fit();
      else this.refresh();
    }
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

  /** Colors everything by `coloring`, of `createColoring`. */
  color(coloring) {
    this.coloring = coloring;
    this.recolor();
  }

  recolor() {
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

  press() {
    this.proxy.el.focus({ preventScroll: true });
  }

  /**
   * Where an arrow key leads from `id`.
   * @param {string} way
   */
  step(id, way) {
    const item = this.scene.byId.get(id);
    if (!item) return this.proxy.next(-1, 0);
    if (way === "home" || way === "end") return this.proxy.next(id, way === "home" ? -Infinity : Infinity);
    return stepFrom(item, way, this.scene, this.near);
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

  /** The camera moved. */
  moved() {
    this.pointing.hide();
    this.refresh();
    this.hooks.moved?.();
  }

  /** The camera shows the whole drawing again. */
  fitted() {
    this.minimap.settle();
  }

  destroy() {
    cancelAnimationFrame(this.frame);
    this.halt();
    this.observer.disconnect();
    this.stopTheme();
  }
}
