// The part of a canvas context that the graph is painted with, drawing SVG shapes instead of pixels.
import { s } from "../core/dom.js";
import { paintAttributes, paintOf } from "../core/save/colors.js";
import { round, xmlText } from "../core/save/words.js";

/** @type {CanvasRenderingContext2D | null} */
let ruler = null;

/** A font of a canvas: style and weight, size, families. */
const FONT = /^(?:(italic|oblique)\s+)?(?:(\d+|bold|normal)\s+)?([\d.]+)px\s+(.*)$/s;
const BASELINES = { middle: "central", top: "text-before-edge", bottom: "text-after-edge" };
const ANCHORS = { center: "middle", right: "end", end: "end" };

const INITIAL = {
  fillStyle: "#000000",
  strokeStyle: "#000000",
  lineWidth: 1,
  lineJoin: "miter",
  lineCap: "butt",
  globalAlpha: 1,
  font: "10px sans-serif",
  textAlign: "start",
  textBaseline: "alphabetic",
};

export class VectorContext {
  fillStyle = INITIAL.fillStyle;
  strokeStyle = INITIAL.strokeStyle;
  lineWidth = INITIAL.lineWidth;
  lineJoin = INITIAL.lineJoin;
  lineCap = INITIAL.lineCap;
  globalAlpha = INITIAL.globalAlpha;
  font = INITIAL.font;
  textAlign = INITIAL.textAlign;
  textBaseline = INITIAL.textBaseline;
  /** @type {number[]} */
  dashes = [];
  /** @type {string[]} */
  path = [];
  /** @type {typeof INITIAL[]} */
  stack = [];

  /** @param {string} transform of everything that is painted */
  constructor(transform) {
    this.el = s("g", { transform });
  }

  save() {
    const state = { ...INITIAL };
    for (const key of /** @type {(keyof typeof INITIAL)[]} */ (Object.keys(INITIAL)))
      Object.assign(state, { [key]: this[key] });
    this.stack.push(state);
  }

  restore() {
    Object.assign(this, this.stack.pop());
  }

  /** @param {number[]} dashes */
  setLineDash(dashes) {
    this.dashes = dashes;
  }

  beginPath() {
    this.path = [];
  }

  /** @param {string} letter @param {number[]} numbers */
  #add(letter, ...numbers) {
    this.path.push(letter + numbers.map(round).join(" "));
  }

  closePath() {
    this.path.push("Z");
  }

  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.#add("M", x, y);
  }

  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.#add(this.path.length ? "L" : "M", x, y);
  }

  /** @param {[number, number, number, number, number, number]} points */
  bezierCurveTo(...points) {
    this.#add("C", ...points);
  }

  /** @param {[number, number, number, number]} points */
  quadraticCurveTo(...points) {
    this.#add("Q", ...points);
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  rect(x, y, w, h) {
    this.path.push(`M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}Z`);
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h @param {number} radius */
  roundRect(x, y, w, h, radius = 0) {
    const r = Math.max(0, Math.min(radius, w / 2, h / 2));
    const arc = (/** @type {number} */ dx, /** @type {number} */ dy) =>
      `a${round(r)} ${round(r)} 0 0 1 ${round(dx)} ${round(dy)}`;
    this.path.push(
      `M${round(x + r)} ${round(y)}h${round(w - 2 * r)}${arc(r, r)}v${round(h - 2 * r)}${arc(-r, r)}h${round(2 * r - w)}${arc(-r, -r)}v${round(2 * r - h)}${arc(r, -r)}Z`,
    );
  }

  /** A whole circle or ellipse: the graph draws no part of one. @param {number} x @param {number} y @param {number} rx @param {number} ry */
  ellipse(x, y, rx, ry) {
    const arc = (/** @type {number} */ dx) => `a${round(rx)} ${round(ry)} 0 1 1 ${round(dx)} 0`;
    this.path.push(`M${round(x - rx)} ${round(y)}${arc(2 * rx)}${arc(-2 * rx)}Z`);
  }

  /** @param {number} x @param {number} y @param {number} r */
  arc(x, y, r) {
    this.ellipse(x, y, r, r);
  }

  /** @param {"fill" | "stroke"} name @param {string} color */
  #paint(name, color) {
    const paint = paintOf(color);
    return paint
      ? paintAttributes(name, { ...paint, alpha: paint.alpha * this.globalAlpha })
      : { [name]: "none" };
  }

  #line() {
    return {
      ...this.#paint("stroke", this.strokeStyle),
      "stroke-width": round(this.lineWidth),
      "stroke-linejoin": this.lineJoin === "miter" ? null : this.lineJoin,
      "stroke-linecap": this.lineCap === "butt" ? null : this.lineCap,
      "stroke-dasharray": this.dashes.length ? this.dashes.join(" ") : null,
    };
  }

  fill() {
    if (this.path.length)
      this.el.append(s("path", { d: this.path.join(""), ...this.#paint("fill", this.fillStyle) }));
  }

  stroke() {
    if (this.path.length) this.el.append(s("path", { d: this.path.join(""), fill: "none", ...this.#line() }));
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  fillRect(x, y, w, h) {
    this.el.append(
      s("rect", {
        x: round(x),
        y: round(y),
        width: round(w),
        height: round(h),
        ...this.#paint("fill", this.fillStyle),
      }),
    );
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  strokeRect(x, y, w, h) {
    this.el.append(
      s("rect", {
        x: round(x),
        y: round(y),
        width: round(w),
        height: round(h),
        fill: "none",
        ...this.#line(),
      }),
    );
  }

  /** @param {string} text @param {number} x @param {number} y @param {Record<string, unknown>} looks */
  #text(text, x, y, looks) {
    const [, style, weight, size, family] = FONT.exec(this.font) ?? [null, null, null, "10", "sans-serif"];
    this.el.append(
      s(
        "text",
        {
          x: round(x),
          y: round(y),
          "font-family": family,
          "font-size": Number(size),
          "font-weight": weight,
          "font-style": style,
          "text-anchor": ANCHORS[/** @type {"center"} */ (this.textAlign)] ?? null,
          "dominant-baseline": BASELINES[/** @type {"middle"} */ (this.textBaseline)] ?? null,
          ...looks,
        },
        xmlText(text),
      ),
    );
  }

  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    if (text) this.#text(text, x, y, this.#paint("fill", this.fillStyle));
  }

  /** @param {string} text @param {number} x @param {number} y */
  strokeText(text, x, y) {
    if (text) this.#text(text, x, y, { fill: "none", ...this.#line() });
  }

  /** @param {string} text */
  measureText(text) {
    ruler ??= document.createElement("canvas").getContext("2d");
    if (!ruler) return { width: 7 * text.length };
    ruler.font = this.font;
    return ruler.measureText(text);
  }
}
