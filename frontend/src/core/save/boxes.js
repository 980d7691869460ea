// The boxes of a page in a picture: backgrounds, borders, the bars that shadows draw, and what CSS adds before and after.
import { s } from "../dom.js";
import { paintAttributes, paintOf } from "./colors.js";
import { fontAttributes, round, xmlText } from "./words.js";

/** @typedef {{ x: number, y: number, width: number, height: number }} Rect */

const SIDES = /** @type {const} */ (["Top", "Right", "Bottom", "Left"]);

/** From the top left clockwise. @typedef {readonly [number, number, number, number]} Radii */

/** @type {Radii} */
const SQUARE = [0, 0, 0, 0];

/**
 * @param {CSSStyleDeclaration} style
 * @returns {Radii}
 */
const radiiOf = (style) => [
  parseFloat(style.borderTopLeftRadius) || 0,
  parseFloat(style.borderTopRightRadius) || 0,
  parseFloat(style.borderBottomRightRadius) || 0,
  parseFloat(style.borderBottomLeftRadius) || 0,
];

/**
 * @param {Radii} radii
 * @param {number} by
 * @returns {Radii}
 */
const grown = ([a, b, c, d], by) => [a && a + by, b && b + by, c && c + by, d && d + by];

/**
 * @param {Rect} box
 * @param {Radii} radii
 * @param {Record<string, unknown>} looks
 */
function rectangle(box, radii, looks) {
  const [x, y, width, height] = [box.x, box.y, Math.max(0, box.width), Math.max(0, box.height)];
  const [a, b, c, d] = radii.map((radius) => round(Math.max(0, Math.min(radius, width / 2, height / 2))));
  if (a === b && b === c && c === d)
    return s("rect", {
      x: round(x),
      y: round(y),
      width: round(width),
      height: round(height),
      rx: a || null,
      ...looks,
    });
  const corner = (/** @type {number} */ r, /** @type {number} */ dx, /** @type {number} */ dy) =>
    r ? `a${r} ${r} 0 0 1 ${dx * r} ${dy * r}` : "";
  const path = [
    `M${round(x + a)} ${round(y)}h${round(width - a - b)}${corner(b, 1, 1)}`,
    `v${round(height - b - c)}${corner(c, -1, 1)}h${round(c + d - width)}${corner(d, -1, -1)}`,
    `v${round(d + a - height)}${corner(a, 1, -1)}Z`,
  ];
  return s("path", { d: path.join(""), ...looks });
}

/**
 * What an element's style draws in its box.
 * @param {CSSStyleDeclaration} style
 * @param {Rect} box
 * @param {(pattern: SVGElement) => string} define keeps a pattern and returns its address
 */
export function drawBox(style, box, define) {
  if (box.width <= 0 || box.height <= 0) return [];
  const radii = radiiOf(style);
  const out = [];
  const outer = shadow(style, box, radii, false);
  if (outer) out.push(outer);
  const fill = paintOf(style.backgroundColor);
  if (fill) out.push(rectangle(box, radii, paintAttributes("fill", fill)));
  out.push(...gradient(style, box, radii, define));
  const inner = shadow(style, box, radii, true);
  if (inner) out.push(inner);
  out.push(...borders(style, box, radii));
  return out;
}

/**
 * @param {CSSStyleDeclaration} style
 * @param {Rect} box
 * @param {Radii} radii
 */
function borders(style, box, radii) {
  const sides = SIDES.map((side) => ({
    width: parseFloat(style[`border${side}Width`]) || 0,
    kind: style[`border${side}Style`],
    paint: paintOf(style[`border${side}Color`]),
  })).map((side) => (side.kind === "none" || side.kind === "hidden" ? { ...side, width: 0 } : side));
  const [top] = sides;
  const dashes = (/** @type {string} */ kind, /** @type {number} */ width) =>
    kind === "dashed" ? `${3 * width} ${2 * width}` : kind === "dotted" ? `${width} ${width}` : null;
  const same = sides.every(
    ({ width, kind, paint }) =>
      width === top.width &&
      kind === top.kind &&
      paint?.color === top.paint?.color &&
      paint?.alpha === top.paint?.alpha,
  );
  if (same) {
    if (!top.width || !top.paint) return [];
    const half = top.width / 2;
    return [
      rectangle(
        { x: box.x + half, y: box.y + half, width: box.width - top.width, height: box.height - top.width },
        grown(radii, -half),
        {
          fill: "none",
          ...paintAttributes("stroke", top.paint),
          "stroke-width": top.width,
          "stroke-dasharray": dashes(top.kind, top.width),
        },
      ),
    ];
  }
  return sides.flatMap(({ width, kind, paint }, i) => {
    if (!width || !paint) return [];
    const across = i % 2 === 0;
    const at = [
      box.y + width / 2,
      box.x + box.width - width / 2,
      box.y + box.height - width / 2,
      box.x + width / 2,
    ][i];
    return [
      s("line", {
        x1: round(across ? box.x : at),
        y1: round(across ? at : box.y),
        x2: round(across ? box.x + box.width : at),
        y2: round(across ? at : box.y + box.height),
        ...paintAttributes("stroke", paint),
        "stroke-width": width,
        "stroke-dasharray": dashes(kind, width),
      }),
    ];
  });
}

/**
 * Shadows without blur, which explorers use as bars and rings.
 * @param {CSSStyleDeclaration} style
 * @param {Rect} box
 * @param {Radii} radii
 * @param {boolean} inside
 */
function shadow(style, box, radii, inside) {
  const match = /^(rgba?\([^)]*\)|color\([^)]*\)|#\w+)((?: -?[\d.]+px){4})( inset)?/.exec(style.boxShadow);
  if (!match || Boolean(match[3]) !== inside) return null;
  const paint = paintOf(match[1]);
  const [x, y, blur, spread] = match[2].trim().split(" ").map(parseFloat);
  if (!paint || blur > 0) return null;
  if (!inside)
    return rectangle(
      {
        x: box.x - spread + x,
        y: box.y - spread + y,
        width: box.width + 2 * spread,
        height: box.height + 2 * spread,
      },
      grown(radii, spread),
      paintAttributes("fill", paint),
    );
  if (spread) {
    const half = spread / 2;
    return rectangle(
      { x: box.x + half, y: box.y + half, width: box.width - spread, height: box.height - spread },
      radii,
      { fill: "none", ...paintAttributes("stroke", paint), "stroke-width": spread },
    );
  }
  return rectangle(
    {
      x: x < 0 ? box.x + box.width + x : box.x,
      y: y < 0 ? box.y + box.height + y : box.y,
      width: x ? Math.abs(x) : box.width,
      height: y ? Math.abs(y) : box.height,
    },
    SQUARE,
    paintAttributes("fill", paint),
  );
}

/**
 * Which part of a box its background image takes: `background-size` and `background-position` in pixels.
 * @param {CSSStyleDeclaration} style
 * @param {Rect} box
 * @returns {Rect}
 */
function imageArea(style, box) {
  const [wide, high = "auto"] = style.backgroundSize.split(" ");
  const [left, top = "0%"] = style.backgroundPosition.split(" ");
  const size = (/** @type {string} */ text, /** @type {number} */ whole) =>
    text.endsWith("px") ? parseFloat(text) : text.endsWith("%") ? (parseFloat(text) / 100) * whole : whole;
  const width = Math.min(box.width, size(wide, box.width));
  const height = Math.min(box.height, size(high, box.height));
  const at = (/** @type {string} */ text, /** @type {number} */ free) =>
    text.endsWith("px") ? parseFloat(text) : ((parseFloat(text) || 0) / 100) * free;
  return { x: box.x + at(left, box.width - width), y: box.y + at(top, box.height - height), width, height };
}

/**
 * Hatching, and bars whose color changes once.
 * @param {CSSStyleDeclaration} style
 * @param {Rect} whole
 * @param {Radii} radii
 * @param {(pattern: SVGElement) => string} define
 */
function gradient(style, whole, radii, define) {
  const image = style.backgroundImage;
  if (!/linear-gradient\(/.test(image)) return [];
  const box = imageArea(style, whole);
  const stops = [...image.matchAll(/(rgba?\([^)]*\)|color\([^)]*\))((?:\s+-?[\d.]+(?:px|%))*)/g)].map(
    ([, color, at]) => ({ paint: paintOf(color), at: at.trim().split(/\s+/).filter(Boolean) }),
  );
  if (image.startsWith("repeating-linear-gradient")) {
    const line = stops.find(({ paint }) => paint)?.paint;
    const lengths = stops.flatMap(({ at }) => at.map(parseFloat));
    const period = Math.max(...lengths, 3);
    if (!line) return [];
    const angle = /\((-?[\d.]+)deg/.exec(image)?.[1];
    const turn = angle ? Number(angle) - 90 : image.includes("to right") ? 0 : 90;
    const pattern = s(
      "pattern",
      {
        width: period,
        height: period,
        patternUnits: "userSpaceOnUse",
        patternTransform: `translate(${round(box.x)} ${round(box.y)}) rotate(${turn})`,
      },
      s("rect", { x: period - 1, width: 1, height: period, ...paintAttributes("fill", line) }),
    );
    return [rectangle(box, radii, { fill: define(pattern) })];
  }
  if (!image.startsWith("linear-gradient")) return [];
  const [first, second] = stops;
  const share = /%$/.test(first?.at.at(-1) ?? "") ? parseFloat(first.at.at(-1) ?? "") / 100 : 1;
  const out = [];
  if (second?.paint && share < 1) out.push(rectangle(box, radii, paintAttributes("fill", second.paint)));
  if (first?.paint && share > 0)
    out.push(rectangle({ ...box, width: box.width * share }, radii, paintAttributes("fill", first.paint)));
  return out;
}

/**
 * What CSS adds before or after an element's content.
 * @param {Element} node
 * @param {"::before" | "::after"} which
 * @param {Rect} box of the element
 * @param {(node: Element) => Rect} boxOf
 * @param {(pattern: SVGElement) => string} define
 */
export function drawPseudo(node, which, box, boxOf, define) {
  const style = getComputedStyle(node, which);
  if (style.content === "none" || style.content === "normal" || style.display === "none") return null;
  const text = /^"(.*)"$/s.exec(style.content)?.[1] ?? "";
  const sized = (/** @type {string} */ value) => parseFloat(value) || 0;
  const lengths = { x: 0, y: 0, width: sized(style.width), height: sized(style.height) };
  if (style.boxSizing !== "border-box") {
    lengths.width +=
      sized(style.paddingLeft) +
      sized(style.paddingRight) +
      sized(style.borderLeftWidth) +
      sized(style.borderRightWidth);
    lengths.height +=
      sized(style.paddingTop) +
      sized(style.paddingBottom) +
      sized(style.borderTopWidth) +
      sized(style.borderBottomWidth);
  }
  if (style.position === "absolute") {
    let block = /** @type {HTMLElement} */ (node);
    while (getComputedStyle(block).position === "static" && block.parentElement) block = block.parentElement;
    const around = block === node ? box : boxOf(block);
    const own = getComputedStyle(block);
    lengths.x = around.x + sized(own.borderLeftWidth) + sized(style.left);
    lengths.y = around.y + sized(own.borderTopWidth) + sized(style.top);
  } else if (text) {
    lengths.x = which === "::before" ? box.x : box.x + box.width - lengths.width;
    lengths.y = box.y;
    lengths.height ||= box.height;
  } else return null;
  const group = s(
    "g",
    { opacity: style.opacity === "1" ? null : style.opacity },
    drawBox(style, lengths, define),
  );
  if (style.transform !== "none") {
    const [x, y] = [lengths.x + lengths.width / 2, lengths.y + lengths.height / 2];
    group.setAttribute(
      "transform",
      `translate(${round(x)} ${round(y)}) ${style.transform} translate(${round(-x)} ${round(-y)})`,
    );
  }
  const paint = paintOf(style.color);
  if (text && paint)
    group.append(
      s(
        "text",
        {
          x: round(lengths.x + lengths.width / 2),
          y: round(lengths.y + lengths.height / 2),
          "text-anchor": "middle",
          "dominant-baseline": "central",
          ...fontAttributes(style),
          ...paintAttributes("fill", paint),
        },
        xmlText(text),
      ),
    );
  return group.childNodes.length ? group : null;
}
