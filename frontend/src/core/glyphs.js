// The marks: each a shape as well as a color, the same everywhere.
import { s } from "./dom.js";
/** @import { Mark } from "./types.js" */

/** @type {Record<string, (x: number, y: number, r: number) => string>} */
const SHAPES = {
  dot: (x, y, r) => circle(x, y, r * 0.55),
  ring: (x, y, r) => circle(x, y, r * 0.8),
  bar: (x, y, r) => box(x - r * 0.42, y - r * 1.5, r * 0.84, r * 3),
  link: (x, y, r) => circle(x, y - r * 0.8, r * 0.72) + circle(x, y + r * 0.8, r * 0.72),
  square: (x, y, r) => box(x - r * 0.8, y - r * 0.8, r * 1.6, r * 1.6),
  triangle: (x, y, r) => `M${x} ${y - r * 1.15}L${x + r} ${y + r * 0.75}L${x - r} ${y + r * 0.75}Z`,
  cross: (x, y, r) => `M${x - r} ${y - r}L${x + r} ${y + r}M${x + r} ${y - r}L${x - r} ${y + r}`,
  down: (x, y, r) => `M${x} ${y + r * 1.1}L${x + r} ${y - r * 0.8}L${x - r} ${y - r * 0.8}Z`,
  diamond: (x, y, r) => `M${x} ${y - r * 1.15}L${x + r} ${y}L${x} ${y + r * 1.15}L${x - r} ${y}Z`,
  turn: (x, y, r) =>
    `M${x + r * 0.9} ${y - r * 0.5}A${r} ${r} 0 1 0 ${x + r * 0.95} ${y + r * 0.4}M${x + r * 1.15} ${y - r * 1.2}V${y - r * 0.35}H${x + r * 0.3}`,
  dots: (x, y, r) => circle(x - r, y, r * 0.35) + circle(x, y, r * 0.35) + circle(x + r, y, r * 0.35),
  flag: (x, y, r) =>
    `M${x - r * 0.7} ${y + r * 1.4}V${y - r * 1.4}L${x + r} ${y - r * 0.6}L${x - r * 0.7} ${y + r * 0.1}`,
};

/**
 * @param {number} x
 * @param {number} y
 * @param {number} r
 */
function circle(x, y, r) {
  return `M${x - r} ${y}A${r} ${r} 0 1 0 ${x + r} ${y}A${r} ${r} 0 1 0 ${x - r} ${y}Z`;
}
/**
 * @param {number} x
 * @param {number} y
 * @param {number} w
 * @param {number} height
 */
function box(x, y, w, height) {
  return `M${x} ${y}h${w}v${height}h${-w}Z`;
}

/**
 * The path of a shape (a key of SHAPES) centred on (x, y).
 * @param {string} shape
 * @param {number} x
 * @param {number} y
 * @param {number} r
 */
export function glyphPath(shape, x, y, r) {
  return (SHAPES[shape] ?? SHAPES.dot)(x, y, r);
}

/**
 * A small SVG of one mark, for legends.
 * @param {Mark} mark
 */
export function glyph(mark, size = 15) {
  const path = s("path", {
    class: `mark m-${mark.id}`,
    d: glyphPath(mark.shape, size / 2, size / 2, size * 0.27),
  });
  return s("svg", { width: size, height: size, viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true" }, path);
}
