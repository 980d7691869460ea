// A part of an explorer as one SVG: shapes and text where the browser has put them, with the colors that it shows. The
// file refers to nothing outside of itself, its text can be selected, and it can be drawn on a canvas in every browser.
import { s } from "../dom.js";
import { drawBox, drawPseudo } from "./boxes.js";
import { paintAttributes, paintOf } from "./colors.js";
import { copySvg } from "./shapes.js";
import { drawText, round, xmlText } from "./words.js";
/** @import { Box, Ellipsis } from "./words.js" */

/** What is of no use in a picture. */
const LEFT_OUT =
  ".bar .btn, .ir-tools, .transport, .pop, .sr, .zoom, .flow-zoom, .minimap, .gtip, .hint, .proxy, .foot .keys, .find, [hidden]";

/** A canvas that can also draw itself as shapes. @typedef {HTMLCanvasElement & { rxDraw?: () => SVGElement | null }} Drawn */

/** What a picture is drawn with: where its origin is, what is seen of a part, and what it is in. @typedef {{ x: number, y: number, clip: Box, ellipsis: Ellipsis | null, decoration: string }} Around */

let count = 0;

class Picture {
  constructor() {
    this.defs = s("defs");
    this.name = `p${++count}`;
  }

  /** @param {SVGElement} node */
  define(node) {
    node.id = `${this.name}-${this.defs.childNodes.length}`;
    this.defs.append(node);
    return `url(#${node.id})`;
  }

  /**
   * @param {Element} node
   * @param {Around} around
   * @returns {SVGElement[]}
   */
  element(node, around) {
    if (node.matches(LEFT_OUT)) return [];
    const style = getComputedStyle(node);
    if (style.display === "none" || style.opacity === "0") return [];
    const rect = node.getBoundingClientRect();
    const { clip } = around;
    const empty = rect.width === 0 && rect.height === 0;
    const unseen =
      rect.right <= clip.left ||
      rect.left >= clip.right ||
      rect.bottom <= clip.top ||
      rect.top >= clip.bottom;
    if (!empty && unseen && style.display !== "contents") return [];
    if (node instanceof SVGSVGElement) return [copySvg(node, around)];
    if (node instanceof HTMLCanvasElement) return this.canvas(node, rect, around);
    const shift = (/** @type {Element} */ other) => {
      const r = other.getBoundingClientRect();
      return { x: r.left - around.x, y: r.top - around.y, width: r.width, height: r.height };
    };
    const box = shift(node);
    const define = (/** @type {SVGElement} */ pattern) => this.define(pattern);
    /** @type {SVGElement[]} */
    const out = [];
    if (style.visibility !== "hidden" && !empty) {
      // What stands in a text may go on in the next line.
      const boxes = style.display === "inline" ? [...node.getClientRects()] : [rect];
      for (const r of boxes)
        out.push(
          ...drawBox(
            style,
            { x: r.left - around.x, y: r.top - around.y, width: r.width, height: r.height },
            define,
          ),
        );
    }
    const before = drawPseudo(node, "::before", box, shift, define);
    const after = drawPseudo(node, "::after", box, shift, define);
    const { within, outside } = this.children(node, style, rect, around);
    const inner = [before, ...within, after].filter((part) => part !== null);
    const cut = this.cutter(node, style, box);
    out.push(...(cut && inner.length ? [s("g", { "clip-path": cut }, inner)] : inner), ...outside);
    return style.opacity === "1" || !out.length ? out : [s("g", { opacity: style.opacity }, out)];
  }

  /**
   * The clip path of an element whose content does not fit, or null.
   * @param {Element} node
   * @param {CSSStyleDeclaration} style
   * @param {{ x: number, y: number, width: number, height: number }} box
   */
  cutter(node, style, box) {
    if (style.overflowX === "visible" && style.overflowY === "visible") return null;
    if (node.scrollWidth <= node.clientWidth + 1 && node.scrollHeight <= node.clientHeight + 1) return null;
    const rect = s("rect", {
      x: round(box.x),
      y: round(box.y),
      width: round(box.width),
      height: round(box.height),
    });
    return this.define(s("clipPath", null, rect));
  }

  /**
   * @param {Element} node
   * @param {CSSStyleDeclaration} style
   * @param {DOMRect} rect
   * @param {Around} around
   * What stands in an element, and what is placed in the page outside of it although it belongs to it.
   * @returns {{ within: SVGElement[], outside: SVGElement[] }}
   */
  children(node, style, rect, around) {
    let { clip, ellipsis, decoration } = around;
    if (style.overflowX !== "visible" || style.overflowY !== "visible") {
      clip = {
        left: Math.max(clip.left, rect.left),
        right: Math.min(clip.right, rect.right),
        top: Math.max(clip.top, rect.top),
        bottom: Math.min(clip.bottom, rect.bottom),
      };
      ellipsis = null;
      if (style.textOverflow === "ellipsis" && node.scrollWidth > node.clientWidth)
        ellipsis = {
          right: rect.right - parseFloat(style.borderRightWidth) - parseFloat(style.paddingRight),
          done: false,
        };
    }
    if (style.textDecorationLine !== "none") decoration = style.textDecorationLine;
    const inside = { ...around, clip, ellipsis, decoration };
    if (node instanceof HTMLInputElement || node instanceof HTMLSelectElement)
      return { within: [field(node, style, rect, inside)], outside: [] };
    /** @type {SVGElement[]} */
    const outside = [];
    /** @type {{ order: number, parts: SVGElement[] }[]} */
    const layers = [];
    for (const child of node.childNodes) {
      if (child instanceof Text) {
        if (style.visibility !== "hidden")
          layers.push({ order: 0, parts: drawText(child, style, inside, clip, ellipsis, decoration) });
      } else if (child instanceof Element) {
        const own = getComputedStyle(child);
        const order = own.position === "static" ? 0 : 1 + (parseInt(own.zIndex, 10) || 0);
        if (own.position === "absolute" && style.position === "static")
          outside.push(...this.element(child, { ...inside, clip: around.clip, ellipsis: null }));
        else layers.push({ order, parts: this.element(child, inside) });
      }
    }
    return { within: layers.sort((a, b) => a.order - b.order).flatMap(({ parts }) => parts), outside };
  }

  /**
   * @param {Drawn} node
   * @param {DOMRect} rect
   * @param {Around} around
   */
  canvas(node, rect, around) {
    const at = { x: round(rect.left - around.x), y: round(rect.top - around.y) };
    const size = { width: round(rect.width), height: round(rect.height) };
    if (node.rxDraw) {
      const drawing = node.rxDraw();
      return drawing ? [s("svg", { ...at, ...size, overflow: "hidden" }, drawing)] : [];
    }
    return node.width && node.height
      ? [s("image", { ...at, ...size, preserveAspectRatio: "none", href: node.toDataURL() })]
      : [];
  }
}

/**
 * What a field holds, since that is no text of the page.
 * @param {HTMLInputElement | HTMLSelectElement} node
 * @param {CSSStyleDeclaration} style
 * @param {DOMRect} rect
 * @param {Around} around
 */
function field(node, style, rect, around) {
  const text = node instanceof HTMLSelectElement ? (node.selectedOptions[0]?.textContent ?? "") : node.value;
  const paint = paintOf(style.color);
  const typed = node instanceof HTMLSelectElement || ["text", "search", "number"].includes(node.type);
  return s(
    "text",
    {
      x: round(rect.left - around.x + parseFloat(style.paddingLeft) + 2),
      y: round((rect.top + rect.bottom) / 2 - around.y),
      "dominant-baseline": "central",
      "font-family": style.fontFamily,
      "font-size": parseFloat(style.fontSize),
      ...(paint ? paintAttributes("fill", paint) : {}),
    },
    typed ? xmlText(text) : "",
  );
}

/**
 * @param {HTMLElement} node
 * @param {{ title: string, description: string }} texts
 * @returns {SVGSVGElement}
 */
export function draw(node, { title, description }) {
  const rect = node.getBoundingClientRect();
  const picture = new Picture();
  /** @type {Element} */
  let behind = node;
  while (behind.parentElement && !paintOf(getComputedStyle(behind).backgroundColor))
    behind = behind.parentElement;
  const paper = paintOf(getComputedStyle(behind).backgroundColor) ?? { color: "#ffffff", alpha: 1 };
  const [width, height] = [Math.ceil(rect.width), Math.ceil(rect.height)];
  const parts = picture.element(node, {
    x: rect.left,
    y: rect.top,
    clip: { left: rect.left, right: rect.right, top: rect.top, bottom: rect.bottom },
    ellipsis: null,
    decoration: "",
  });
  return s(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" },
    s("title", null, xmlText(title)),
    s("desc", null, xmlText(description)),
    picture.defs,
    s("rect", { width, height, ...paintAttributes("fill", paper) }),
    parts,
  );
}

/** @param {SVGSVGElement} picture */
export const svgText = (picture) => new XMLSerializer().serializeToString(picture);
