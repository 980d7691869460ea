// An SVG of the page, copied into a picture: only shapes and text, with the looks that the style sheets give them.
import { s } from "../dom.js";
import { paintAttributes, paintOf } from "./colors.js";
import { fontAttributes, round, xmlText } from "./words.js";

const TAGS = new Set(
  "g path rect circle ellipse line polyline polygon text tspan defs marker pattern clipPath title desc".split(
    " ",
  ),
);
const GEOMETRY = (
  "id d x y x1 y1 x2 y2 cx cy r rx ry dx dy width height points transform viewBox preserveAspectRatio markerWidth " +
  "markerHeight refX refY orient markerUnits patternUnits patternTransform clipPathUnits textLength pathLength"
).split(" ");
/** What is written only where it differs from what every reader of SVG assumes. @type {[property: string, assumed: string][]} */
const LOOKS = [
  ["stroke-width", "1px"],
  ["stroke-dasharray", "none"],
  ["stroke-linecap", "butt"],
  ["stroke-linejoin", "miter"],
  ["vector-effect", "none"],
  ["marker-end", "none"],
  ["marker-start", "none"],
  ["marker-mid", "none"],
];
const WORDS = [
  ["text-anchor", "start"],
  ["dominant-baseline", "auto"],
  ["paint-order", "normal"],
];

/**
 * @param {Element} source
 * @returns {SVGElement | null}
 */
export function copyShape(source) {
  const tag = source.localName;
  if (!TAGS.has(tag)) return null;
  const style = getComputedStyle(source);
  if (style.display === "none") return null;
  const copy = s(/** @type {"g"} */ (tag));
  for (const name of GEOMETRY) {
    const value = source.getAttribute(name);
    if (value !== null && !/url\(\s*["']?[^#"']/.test(value)) copy.setAttribute(name, value);
  }
  if (!source.hasAttribute("transform") && style.transform !== "none" && tag !== "marker")
    copy.setAttribute("transform", style.transform);
  if (style.opacity !== "1") copy.setAttribute("opacity", style.opacity);
  if (!["g", "defs", "marker", "pattern", "clipPath", "title", "desc"].includes(tag)) dress(copy, tag, style);
  for (const child of source.childNodes) {
    if (child instanceof Text) {
      if (["text", "tspan", "title", "desc"].includes(tag)) copy.append(xmlText(child.data));
    } else if (child instanceof Element) {
      const inner = copyShape(child);
      if (inner) copy.append(inner);
    }
  }
  return copy;
}

/**
 * @param {SVGElement} copy
 * @param {string} tag
 * @param {CSSStyleDeclaration} style
 */
function dress(copy, tag, style) {
  if (style.visibility === "hidden") copy.setAttribute("visibility", "hidden");
  const put = (/** @type {string} */ name, /** @type {unknown} */ value) => {
    if (value !== null && value !== undefined) copy.setAttribute(name, String(value));
  };
  for (const name of /** @type {const} */ (["fill", "stroke"])) {
    const local = /^url\("?(#[^")]+)"?\)/.exec(style[name])?.[1];
    const paint = paintOf(style[name]);
    if (local) put(name, `url(${local})`);
    else if (!paint) put(name, "none");
    else {
      const opacity = Number(style.getPropertyValue(`${name}-opacity`) || 1);
      for (const [key, value] of Object.entries(
        paintAttributes(name, { ...paint, alpha: paint.alpha * opacity }),
      ))
        put(key, value);
    }
  }
  for (const [name, assumed] of LOOKS) {
    const value = style.getPropertyValue(name);
    if (value && value !== assumed) put(name, value.replace(/url\("(#[^"]+)"\)/, "url($1)"));
  }
  if (tag !== "text" && tag !== "tspan") return;
  for (const [name, assumed] of WORDS) {
    const value = style.getPropertyValue(name);
    if (value && value !== assumed) put(name, value);
  }
  for (const [key, value] of Object.entries(fontAttributes(style))) put(key, value);
}

/**
 * @param {SVGSVGElement} source
 * @param {{ x: number, y: number }} origin
 */
export function copySvg(source, origin) {
  const box = source.getBoundingClientRect();
  const style = getComputedStyle(source);
  const copy = s("svg", {
    x: round(box.left - origin.x),
    y: round(box.top - origin.y),
    width: round(box.width),
    height: round(box.height),
    viewBox: source.getAttribute("viewBox"),
    preserveAspectRatio: source.getAttribute("preserveAspectRatio"),
    overflow: style.overflow === "visible" ? "visible" : null,
    opacity: style.opacity === "1" ? null : style.opacity,
  });
  for (const child of source.children) {
    const shape = copyShape(child);
    if (shape) copy.append(shape);
  }
  return copy;
}
