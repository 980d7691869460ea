// Looking around in a graph: its camera moves to what is asked for, at once or gliding, now or as soon as there is a window.
import { LATER } from "../core/later.js";
import { clampZoom, fitCamera, keepInView, zoomAbout } from "./camera.js";
/** @import { Context } from "../core/types.js" */

const READABLE = 0.92; // below this scale, at which labels can be read, a first frame shows the beginning instead of the whole
const SETTLE = 90; // milliseconds without a zoom before the new scale is painted

/** The graph's drawing extends it with `size()`, `refresh()`, `moved()` and `fitted()`, and sets `scene`. */
export class GraphCamera {
  /** Where a window that is not there yet will look. @type {[number, number, number] | null} */
  later = null;
  /** @type {boolean} */
  placed = LATER;
  /** @type {boolean} */
  atFit = LATER;
  /** @type {boolean} */
  zooming = LATER;
  /** @type {ReturnType<typeof setTimeout>} */
  settle = LATER;
  /** The item that a window that is not there yet will show. @type {any} */
  awaited = LATER;
  /** @type {ReturnType<typeof requestAnimationFrame>} */
  gliding = LATER;
  /** @type {any} */
  scene = null;
  camera = { k: 1, x: 0, y: 0 };

  /** @param {Context} ctx */
  constructor(ctx) {
    this.ctx = ctx;
  }

  /** The window's width and height. */
  size() {
    return [0, 0];
  }

  /** Draws in the next frame. */
  refresh() {}

  moved() {}

  fitted() {}

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
    this.moved();
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
    this.fitted();
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

  /** Looks where it was asked to before there was a window; says whether it was. */
  lookLater() {
    if (!this.later) return false;
    this.lookAt(...this.later);
    this.later = null;
    return true;
  }

  halt() {
    cancelAnimationFrame(this.gliding);
    clearTimeout(this.settle);
  }
}
