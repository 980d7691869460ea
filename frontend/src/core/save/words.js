// The text of a page as text of an SVG: one element for each line, where the browser has put it.
import { s } from "../dom.js";
import { paintAttributes, paintOf } from "./colors.js";

/** @typedef {{ left: number, right: number, top: number, bottom: number }} Box */
/** What cuts a line: the right edge of its block, and whether the ellipsis is there already. @typedef {{ right: number, done: boolean }} Ellipsis */

// XML has no place for these, not even escaped.
// eslint-disable-next-line no-control-regex
const NOT_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])/g;

/** @param {string} text */
export const xmlText = (text) => text.replace(NOT_XML, "\ufffd");

/** @type {CanvasRenderingContext2D | null} */
let measure = null;
/** @type {Map<string, number>} */
const ascents = new Map();

/**
 * Which part of a line's height is above the baseline.
 * @param {CSSStyleDeclaration} style
 */
function ascent(style) {
  const font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  let share = ascents.get(font);
  if (share !== undefined) return share;
  measure ??= document.createElement("canvas").getContext("2d");
  share = 0.8;
  if (measure) {
    measure.font = font;
    const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = measure.measureText("x");
    if (above > 0) share = above / (above + below);
  }
  ascents.set(font, share);
  return share;
}

/**
 * The lines of a text node: what stands in each, and where.
 * @param {Text} node
 * @returns {{ text: string, from: number, to: number, box: Box }[]}
 */
function linesOf(node) {
  const { data } = node;
  const from = data.search(/\S/);
  if (from < 0) return [];
  const to = data.trimEnd().length;
  const range = document.createRange();
  const boxOf = (/** @type {number} */ start, /** @type {number} */ end) => {
    range.setStart(node, start);
    range.setEnd(node, end);
    return [...range.getClientRects()].filter(({ width }) => width > 0);
  };
  const boxes = boxOf(from, to);
  if (!boxes.length) return [];
  const line = (/** @type {number} */ start, /** @type {number} */ end, /** @type {DOMRect[]} */ rects) => ({
    text: data.slice(start, end),
    from: start,
    to: end,
    box: {
      left: Math.min(...rects.map((r) => r.left)),
      right: Math.max(...rects.map((r) => r.right)),
      top: rects[0].top,
      bottom: rects[0].bottom,
    },
  });
  const first = boxes[0];
  if (boxes.every(({ top }) => Math.abs(top - first.top) < 2)) return [line(from, to, boxes)];
  const lines = [];
  /** @type {DOMRect[]} */
  let rects = [];
  let start = from;
  for (let at = from; at < to; at++) {
    const [rect] = boxOf(at, at + 1);
    if (!rect) continue;
    if (rects.length && Math.abs(rect.top - rects[0].top) >= 2) {
      lines.push(line(start, at, rects));
      rects = [];
      start = at;
    }
    rects.push(rect);
  }
  if (rects.length) lines.push(line(start, to, rects));
  return lines;
}

/**
 * How much of a line is seen before the ellipsis that stands at `right`.
 * @param {Text} node
 * @param {{ from: number, to: number }} line
 * @param {number} right
 */
function fitting(node, { from, to }, right) {
  const range = document.createRange();
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    range.setStart(node, from);
    range.setEnd(node, middle);
    if (range.getBoundingClientRect().right <= right) low = middle;
    else high = middle - 1;
  }
  range.setStart(node, from);
  range.setEnd(node, Math.max(low, from));
  return { end: low, box: range.getBoundingClientRect() };
}

/**
 * The lines of `node` as SVG text, shifted by the origin; what lies outside of `clip` is left out.
 * @param {Text} node
 * @param {CSSStyleDeclaration} style
 * @param {{ x: number, y: number }} origin
 * @param {Box} clip
 * @param {Ellipsis | null} ellipsis
 * @param {string} decoration
 */
export function drawText(node, style, origin, clip, ellipsis, decoration) {
  const paint = paintOf(style.color);
  if (!paint) return [];
  const out = [];
  for (const line of linesOf(node)) {
    let { text, box } = line;
    if (box.bottom <= clip.top || box.top >= clip.bottom || box.left >= clip.right || box.right <= clip.left)
      continue;
    if (ellipsis && box.right > ellipsis.right + 0.5) {
      if (ellipsis.done) continue;
      ellipsis.done = true;
      const size = parseFloat(style.fontSize);
      const fit = fitting(node, line, ellipsis.right - size * 0.75);
      text = `${text.slice(0, fit.end - line.from)}…`;
      // Where the line before it ends too late, the ellipsis takes the place of its end.
      if (fit.end === line.from) box = { ...box, left: Math.min(box.left, ellipsis.right - size * 0.75) };
    }
    const shown = style.whiteSpace.startsWith("pre") ? text : text.replace(/\s+/g, " ").trimEnd();
    const cased = style.textTransform === "uppercase" ? shown.toUpperCase() : shown;
    out.push(
      s(
        "text",
        {
          x: round(box.left - origin.x),
          y: round(box.top - origin.y + (box.bottom - box.top) * ascent(style)),
          // The same room whichever font the reader of the file has.
          textLength: [...cased].length > 1 && text === line.text ? round(box.right - box.left) : null,
          lengthAdjust: "spacingAndGlyphs",
          ...fontAttributes(style),
          ...paintAttributes("fill", paint),
          "text-decoration": decoration || null,
          "xml:space": "preserve",
          style: "white-space:pre",
        },
        xmlText(cased),
      ),
    );
  }
  return out;
}

/** @param {CSSStyleDeclaration} style */
export const fontAttributes = (style) => ({
  "font-family": style.fontFamily,
  "font-size": parseFloat(style.fontSize),
  "font-weight": style.fontWeight === "400" ? null : style.fontWeight,
  "font-style": style.fontStyle === "normal" ? null : style.fontStyle,
});

/** @param {number} value */
export const round = (value) => Number(value.toFixed(2));
