// The small texts on edges: the type that flows from a value, and which operand it is where it arrives. A text that would cover a node,
// the border of a group or another text goes to the other side of its edge, or is left out: the tooltip and the details have it too.

import { FONT, estimate } from "./measure.js";
/** @import { Measure } from "./measure.js" */

/** @typedef {{ text: string, x: number, y: number, align: CanvasTextAlign, source: number, to: number, kind: "type" | "operand" }} Label */

export const TYPE_SIZE = 10.5,
  OPERAND_SIZE = 10;
const NEAR = 60; // how far outside of a region something may be that a text in it could cover
const CELL = 160; // side of a square of the index of texts
const BADGE = 15; // the height of a number of uses, and about its width per letter

/** Boxes, found by the squares that they touch. */
class Boxes {
  /** @type {Map<number, number[][]>} */
  #cells = new Map();

  /** @param {number[]} box */
  *#keys([x0, y0, x1, y1]) {
    for (let cy = Math.floor(y0 / CELL); cy <= Math.floor(y1 / CELL); cy++)
      for (let cx = Math.floor(x0 / CELL); cx <= Math.floor(x1 / CELL); cx++) yield cy * 1048576 + cx;
  }

  /** @param {number[]} box */
  add(box) {
    for (const key of this.#keys(box)) {
      const cell = this.#cells.get(key);
      if (cell) cell.push(box);
      else this.#cells.set(key, [box]);
    }
  }

  /** @param {number[]} box */
  free(box) {
    for (const key of this.#keys(box)) {
      for (const other of this.#cells.get(key) ?? []) if (overlap(box, other)) return false;
    }
    return true;
  }
}

/**
 * @param {number[]} a
 * @param {number[]} b
 */
const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

/** As which operands a value arrives: "0", "0, 1" for one used twice; nothing for a folded group. */
function operandsOf(model, from, to) {
  if (from >= model.count || to >= model.count || model.operands[to].length < 2) return "";
  return model.operands[to].flatMap((u, k) => (u === from ? [k] : [])).join(", ");
}

/**
 * The texts of a scene between two heights that have room, in the order of the paths.
 * @param {number} top
 * @param {number} bottom
 * @param {Measure} measure
 * @returns {Label[]}
 */
export function placeLabels(scene, model, top, bottom, measure = estimate) {
  const { bounds, layout } = scene;
  const region = [bounds.x, top - NEAR, bounds.x + bounds.w, bottom + NEAR];
  const paths = scene.pathsIn(...region).map((/** @type {number} */ i) => layout.paths[i]);
  const within = (/** @type {number} */ y) => y >= top && y < bottom;
  const taken = new Boxes();
  /** @type {Label[]} */
  const labels = [];
  for (const item of scene.itemsIn(...region)) {
    if (item.frame) taken.add([item.x, item.y, item.x + item.w, item.y + 24]);
    else taken.add([item.x, item.y, item.x + item.w, item.y + item.h]);
    const uses = item.group < 0 ? model.uses(item.id) : 0;
    if (uses > 1) {
      const half = (measure(`×${uses}`, "ui") + 10) / 2;
      const [x, y] = [item.x + item.w, item.y + item.h];
      taken.add([x - half, y - BADGE / 2, x + half, y + BADGE / 2]);
    }
  }
  /**
   * @param {Omit<Label, "align" | "x">} label
   * @param {number} x
   * @param {CanvasTextAlign[]} sides
   */
  function place(label, x, sides) {
    const size = label.kind === "type" ? TYPE_SIZE : OPERAND_SIZE;
    const width = (measure(label.text, label.kind === "type" ? "mono" : "ui") * size) / FONT;
    for (const align of sides) {
      const at = align === "right" ? x - 6 : x + 6,
        left = align === "right" ? at - width : at;
      const box = [left - 1, label.y - size / 2, left + width + 1, label.y + size / 2];
      if (!taken.free(box) || scene.crossesFrame(box)) continue;
      taken.add(box);
      labels.push({ ...label, x: at, align });
      return;
    }
  }

  const arriving = new Map();
  for (const path of paths) {
    if (path.to < 0 || !within(path.points.at(-1))) continue;
    if (!arriving.has(path.to)) arriving.set(path.to, []);
    arriving.get(path.to).push(path);
  }
  for (const [to, heads] of arriving) {
    if (heads.length < 2) continue;
    const x = heads[0].points.at(-2),
      y = heads[0].points.at(-1) - 7;
    // Those that come from one side share a place.
    for (const [side, from] of /** @type {[CanvasTextAlign, (dx: number) => boolean][]} */ ([
      ["right", (dx) => dx <= 1],
      ["left", (dx) => dx > 1],
    ])) {
      const numbers = heads
        .filter(({ points }) => from(points.at(-4) - x))
        .flatMap(({ source }) => operandsOf(model, source, to).split(", ").filter(Boolean));
      if (!numbers.length) continue;
      const text = numbers.sort((a, b) => a - b).join(", ");
      place({ text, y, source: heads[0].source, to, kind: "operand" }, x, [side]);
    }
  }

  const done = new Set();
  for (const { source, from, points } of paths) {
    if (source >= model.count || from !== source || done.has(source) || !within(points[1])) continue;
    done.add(source);
    const text = model.short(source);
    if (!text) continue;
    /** @type {CanvasTextAlign[]} */
    const sides = scene.busyRight(source) ? ["right", "left"] : ["left", "right"];
    place({ text, y: points[1] + 9, source, to: -1, kind: "type" }, points[0], sides);
  }
  return labels;
}
