// The outlines of the operator families, for the canvas and for the legend: each family has its own shape and color.

const POINT = 8; // how far a slanted side goes in, pixels

const OUTLINES = {
  rect: (p, x, y, w, h) => p.roundRect(x, y, w, h, Math.min(4, h / 5)),
  round: (p, x, y, w, h) => p.roundRect(x, y, w, h, h / 2),
  circle: (p, x, y, w, h) => p.ellipse(x + w / 2, y + h / 2, w / 2, h / 2, 0, 0, 2 * Math.PI),
  hex: (p, x, y, w, h) =>
    polygon(p, x, y, w, h, [
      [0, 0.5],
      [POINT, 0],
      [-POINT, 0],
      [-0, 0.5],
      [-POINT, 1],
      [POINT, 1],
    ]),
  diamond: (p, x, y, w, h) =>
    polygon(p, x, y, w, h, [
      [0, 0.5],
      [1.8 * POINT, 0],
      [-1.8 * POINT, 0],
      [-0, 0.5],
      [-1.8 * POINT, 1],
      [1.8 * POINT, 1],
    ]),
  trapezium: (p, x, y, w, h) =>
    polygon(p, x, y, w, h, [
      [0, 0],
      [-0, 0],
      [-POINT, 1],
      [POINT, 1],
    ]),
  parallelogram: (p, x, y, w, h) =>
    polygon(p, x, y, w, h, [
      [POINT, 0],
      [-0, 0],
      [-POINT, 1],
      [0, 1],
    ]),
  bar: (p, x, y, w, h) => {
    p.rect(x, y, w, h);
    p.moveTo(x + 5 * Math.min(1, h / 28), y);
    p.lineTo(x + 5 * Math.min(1, h / 28), y + h);
  },
};

/**
 * Corners as [from the left (or, when negative or -0, from the right), share of the height].
 * @param {number[][]} corners
 */
function polygon(p, x, y, w, h, corners) {
  const scale = Math.min(1, h / 28, w / 40);
  corners.forEach(([dx, dy], i) => {
    const right = dx < 0 || Object.is(dx, -0);
    const at = right ? x + w + dx * scale : x + dx * scale;
    if (i) p.lineTo(at, y + dy * h);
    else p.moveTo(at, y + dy * h);
  });
  p.closePath();
}

export const SHAPES = Object.keys(OUTLINES);

/**
 * Adds the outline of `shape` in a box to a Path2D or a canvas context; an unknown shape is a rectangle.
 * @param {number} x
 * @param {number} y
 * @param {number} w
 * @param {number} h
 * @param {string} shape
 */
export function outline(path, shape, x, y, w, h) {
  (OUTLINES[shape] ?? OUTLINES.rect)(path, x, y, w, h);
}

const MARGIN = 6; // between the text and the outline, pixels
const TALL = 28; // of a node whose text has TEXT pixels of height
const TEXT = 13;
const STRIP = 5; // at the left of a bar

/** How far the sides of a shape go in at the height of its text: [left, right], in pixels. */
const SLANTS = {
  hex: [POINT, POINT].map((point) => (point * TEXT) / TALL),
  diamond: [1.8 * POINT, 1.8 * POINT].map((point) => (point * TEXT) / TALL),
  trapezium: [POINT, POINT].map((point) => point * (0.5 + TEXT / TALL / 2)),
  parallelogram: [POINT, POINT].map((point) => point * (0.5 + TEXT / TALL / 2)),
  round: [4, 4],
  bar: [STRIP, 0],
};
const ELLIPSE = Math.sqrt(1 - (TEXT / TALL) ** 2); // of its width, what an ellipse has at the height of the text

/**
 * The room for text in a node of this shape that is `w` wide: its width, and its centre from the left.
 * @param {string} shape
 * @param {number} w
 */
export function room(shape, w) {
  if (shape === "circle") return { width: w * ELLIPSE - MARGIN, centre: w / 2 };
  const [left, right] = SLANTS[shape] ?? [0, 0];
  return { width: w - left - right - 2 * MARGIN, centre: (w + left - right) / 2 };
}

/**
 * How wide a node of this shape must be for text of this width.
 * @param {string} shape
 * @param {number} text
 */
export function widthFor(shape, text) {
  if (shape === "circle") return (text + MARGIN) / ELLIPSE;
  const [left, right] = SLANTS[shape] ?? [0, 0];
  return text + left + right + 2 * MARGIN;
}

/**
 * The same outline as the text of an SVG path.
 * @param {number} x
 * @param {number} y
 * @param {number} w
 * @param {number} h
 * @param {string} shape
 */
export function outlineText(shape, x, y, w, h) {
  const parts = [];
  const pen = {
    moveTo: (a, b) => parts.push(`M${a} ${b}`),
    lineTo: (a, b) => parts.push(`L${a} ${b}`),
    closePath: () => parts.push("Z"),
    rect: (a, b, c, d) => parts.push(`M${a} ${b}h${c}v${d}h${-c}Z`),
    roundRect: (a, b, c, d, r) =>
      parts.push(
        `M${a + r} ${b}h${c - 2 * r}a${r} ${r} 0 0 1 ${r} ${r}v${d - 2 * r}a${r} ${r} 0 0 1 ${-r} ${r}h${2 * r - c}a${r} ${r} 0 0 1 ${-r} ${-r}v${2 * r - d}a${r} ${r} 0 0 1 ${r} ${-r}Z`,
      ),
    ellipse: (cx, cy, rx, ry) =>
      parts.push(`M${cx - rx} ${cy}a${rx} ${ry} 0 1 1 ${2 * rx} 0a${rx} ${ry} 0 1 1 ${-2 * rx} 0Z`),
  };
  outline(pen, shape, x, y, w, h);
  return parts.join("");
}
