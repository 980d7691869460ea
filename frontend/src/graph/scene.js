// What the canvas draws: the shown items and paths of a layout, and which of them are near a place.

import { placeLabels } from "./labels.js";
import { estimate } from "./measure.js";

export const STUB = 7; // length of a stub, in the drawing's own units
const STUB_REACH = 5; // how near to its end counts as on it
const BAND = 3000; // the height of a part of the drawing whose texts are placed at once
const LABEL_REACH = 240; // how far a text may stand from the place where it is indexed
const CELL = 320; // side of a square of the index, in the drawing's own units

/** `items`: {id, x, y, w, h, …}; `id` below `model.count` is a node, above it a group. Frames (open groups) come first, outermost first. */
export function createScene(model, layout, measure = estimate) {
  const items = [];
  const depth = (g) => {
    let d = 0;
    for (let p = g; p >= 0; p = model.groups[p].parent) d++;
    return d;
  };
  layout.boxes.forEach((b, g) => {
    if (b)
      items.push({
        id: model.count + g,
        group: g,
        frame: b.open,
        depth: depth(g),
        x: b.x,
        y: b.y,
        w: b.w,
        h: b.h,
        cx: b.cx,
      });
  });
  items.sort((a, b) => b.frame - a.frame || a.depth - b.depth || a.id - b.id);
  for (let i = 0; i < model.count; i++) {
    if (Number.isNaN(layout.x[i])) continue;
    const w = layout.spec.width[i],
      h = layout.spec.height[i];
    items.push({
      id: i,
      group: -1,
      frame: false,
      depth: 0,
      x: layout.x[i] - w / 2,
      y: layout.y[i],
      w,
      h,
      cx: layout.x[i],
    });
  }
  const byId = new Map(items.map((item) => [item.id, item]));
  const grid = new Grid();
  const frames = items.filter((item) => item.frame);
  items.forEach(
    (item, i) => item.frame || grid.add("items", i, item.x, item.y, item.x + item.w, item.y + item.h),
  );
  layout.paths.forEach((path, i) => addPath(grid, i, path.points));
  const unique = (list) => [...new Set(list)].sort((a, b) => a - b);
  const right = busyOnTheRight(layout);
  /** @type {ReturnType<typeof placeLabels>} */
  const labels = [];
  const bands = new Set(); // those whose texts are placed
  return {
    layout,
    items,
    byId,
    bounds: { x: layout.left, y: 0, w: layout.width, h: layout.height },
    // Frames hold much and are few: they are looked through one by one.
    /**
     * @param {number} x0
     * @param {number} y0
     * @param {number} x1
     * @param {number} y1
     */
    itemsIn: (x0, y0, x1, y1) => [
      ...frames.filter((it) => it.x <= x1 && it.x + it.w >= x0 && it.y <= y1 && it.y + it.h >= y0),
      ...unique(grid.near("items", x0, y0, x1, y1)).map((i) => items[i]),
    ],
    /**
     * The texts on edges, placed band by band, when a band is first seen.
     * @param {number} x0
     * @param {number} y0
     * @param {number} x1
     * @param {number} y1
     */
    labelsIn(x0, y0, x1, y1) {
      for (let band = Math.floor(y0 / BAND); band <= Math.floor(y1 / BAND); band++) {
        if (bands.has(band)) continue;
        bands.add(band);
        for (const label of placeLabels(this, model, band * BAND, (band + 1) * BAND, measure)) {
          const { x, y } = label;
          grid.add("labels", labels.push(label) - 1, x - LABEL_REACH, y - 8, x + LABEL_REACH, y + 8);
        }
      }
      return unique(grid.near("labels", x0, y0, x1, y1)).map((i) => labels[i]);
    },
    /**
     * Whether a box lies across the border of an open group.
     * @param {number[]} box
     */
    crossesFrame: ([x0, y0, x1, y1]) =>
      frames.some(
        (it) =>
          x0 < it.x + it.w &&
          x1 > it.x &&
          y0 < it.y + it.h &&
          y1 > it.y &&
          !(x0 >= it.x && x1 <= it.x + it.w && y0 >= it.y && y1 <= it.y + it.h),
      ),
    pathsIn: (x0, y0, x1, y1) => unique(grid.near("paths", x0, y0, x1, y1)),
    /**
     * The topmost item at a place: a node or a folded group; or, on its head, an open one.
     * @param {number} x
     * @param {number} y
     */
    hit(x, y, reach = 0) {
      const found = this.itemsIn(x - reach, y - reach, x + reach, y + reach).reverse();
      return (
        found.find(
          (it) =>
            x >= it.x - reach &&
            x <= it.x + it.w + reach &&
            y >= it.y - reach &&
            y <= it.y + (it.frame ? 24 : it.h) + reach,
        ) ?? null
      );
    },
    /**
     * The stub at a place: {from, to} in the direction of a jump.
     * @param {number} x
     * @param {number} y
     * @param {number} reach
     */
    stubAt(x, y, reach) {
      /** @param {number} sy */
      const close = (sx, sy) => Math.hypot(x - sx, y - sy) <= STUB_REACH + reach;
      for (const { source, to, x: ax, y: ay, tx, ty } of layout.stubs) {
        if (close(ax, ay + STUB)) return { from: source, to };
        if (close(tx, ty - STUB)) return { from: to, to: source };
      }
      return null;
    },
    /** Whether something bends where text right of the beginning of the edges of `source` would stand. */
    busyRight: (source) => right().has(source),
  };
}

/** The sources with an edge that leaves to the right, or that goes straight down to where another arrives from the right. */
function busyOnTheRight({ paths }) {
  let found = null;
  return () => {
    if (found) return found;
    const arrives = new Set(paths.filter(({ points: p }) => p.at(-4) > p.at(-2) + 1).map((path) => path.to));
    const own = new Map(); // source → [leaves to the left, to the right, or straight to a busy place]
    for (const { source, from, to, points: p } of paths) {
      if (from !== source) continue;
      if (!own.has(source)) own.set(source, [false, false, false]);
      const x = p[2] === p[0] ? (p[4] ?? p[2]) : p[2],
        seen = own.get(source);
      if (x < p[0] - 1) seen[0] = true;
      else if (x > p[0] + 1) seen[1] = true;
      else seen[2] ||= arrives.has(to);
    }
    found = new Set(
      [...own].filter(([, [left, right, meets]]) => right || (meets && !left)).map(([source]) => source),
    );
    return found;
  };
}

/**
 * Long lanes are indexed piece by piece, so that a tile far from their ends does not draw them all.
 * @param {Grid} grid
 */
function addPath(grid, i, p) {
  for (let k = 2; k < p.length; k += 2) {
    grid.add(
      "paths",
      i,
      Math.min(p[k - 2], p[k]) - 8,
      p[k - 1] - 2,
      Math.max(p[k - 2], p[k]) + 8,
      p[k + 1] + 2,
    );
  }
}

class Grid {
  #cells = { items: new Map(), paths: new Map(), labels: new Map() };

  /**
   * @param {number} x0
   * @param {number} y0
   * @param {number} x1
   */
  *#covered(x0, y0, x1, y1) {
    for (let cy = Math.floor(y0 / CELL); cy <= Math.floor(y1 / CELL); cy++) {
      for (let cx = Math.floor(x0 / CELL); cx <= Math.floor(x1 / CELL); cx++) yield cy * 1048576 + cx;
    }
  }

  /**
   * @param {string} kind
   * @param {number} i
   * @param {number} x0
   * @param {number} y0
   * @param {number} x1
   */
  add(kind, i, x0, y0, x1, y1) {
    const cells = this.#cells[kind];
    for (const key of this.#covered(x0, y0, x1, y1)) {
      const cell = cells.get(key);
      if (cell) cell.push(i);
      else cells.set(key, [i]);
    }
  }

  /**
   * @param {string} kind
   * @param {number} x0
   * @param {number} y0
   * @param {number} x1
   * @param {number} y1
   */
  near(kind, x0, y0, x1, y1) {
    const cells = this.#cells[kind],
      out = [];
    const squares =
      (Math.floor(x1 / CELL) - Math.floor(x0 / CELL) + 1) *
      (Math.floor(y1 / CELL) - Math.floor(y0 / CELL) + 1);
    if (squares > cells.size) for (const list of cells.values()) for (const i of list) out.push(i);
    else for (const key of this.#covered(x0, y0, x1, y1)) for (const i of cells.get(key) ?? []) out.push(i);
    return out;
  }
}
