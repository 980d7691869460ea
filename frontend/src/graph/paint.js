// Painting one stretch of a scene at one scale: labels near by, shapes further away, density from afar.

import { STUB } from "./scene.js";
import { outline } from "./shapes.js";
/** @import { Context } from "../core/types.js" */

export const FONT = 12; // of labels at scale 1, pixels
const SMALLEST = 8.5; // a label below this height on the screen is left out

/**
 * The colours of the current theme, read once from the tokens.
 * @param {Context} ctx
 */
export function readPalette(ctx, model) {
  const c = ctx.color,
    palette = {
      families: model.families.map(({ hue }) => ({
        line: c(`--hue-${hue}`) || c("--edge"),
        fill: c(`--hue-${hue}-fill`) || c("--panel"),
      })),
    };
  for (const name of [
    "paper",
    "panel",
    "ink",
    "soft",
    "line",
    "edge",
    "accent",
    "run",
    "now",
    "queued",
    "mono",
    "ui",
  ])
    palette[name] = c(`--${name}`);
  return palette;
}

/** Draws what lies in the box [x0, y0, x1, y1] of the scene. `g` is a canvas context already set to the scene's units. */
export function paint(g, { scene, model, palette, scale, dim }, box) {
  const items = scene.itemsIn(...box);
  const thin = scale < 0.16;
  for (const item of items) if (item.frame) frame(g, item, model, palette, scale);
  paths(g, scene, model, palette, scale, box, dim);
  if (scale >= 0.34) for (const item of items) if (item.frame) frameName(g, item, model, palette, scale);
  if (thin) return density(g, items, model, palette, dim, scale);
  for (const item of items) {
    if (item.frame) continue;
    g.globalAlpha = dim(item) ? 0.18 : 1;
    if (item.group >= 0) folded(g, item, model, palette, scale);
    else node(g, item, model, palette, scale);
  }
  g.globalAlpha = 1;
}

function density(g, items, model, palette, dim, scale) {
  const grow = Math.max(0, 1.6 / scale);
  for (const item of items) {
    if (item.frame) continue;
    g.globalAlpha = dim(item) ? 0.15 : 1;
    g.fillStyle =
      item.group >= 0 ? palette.soft : (palette.families[model.family(item.id)]?.line ?? palette.edge);
    g.fillRect(item.x, item.y, Math.max(item.w, grow), Math.max(item.h, grow));
  }
  g.globalAlpha = 1;
}

/**
 * Adds a path to the current one: lines where x stays, else curves that leave and arrive vertically.
 * @param {null | CanvasRenderingContext2D} g
 */
export function trace(g, p) {
  g.moveTo(p[0], p[1]);
  for (let k = 2; k < p.length; k += 2) {
    if (p[k] === p[k - 2]) g.lineTo(p[k], p[k + 1]);
    else {
      const middle = (p[k - 1] + p[k + 1]) / 2;
      g.bezierCurveTo(p[k - 2], middle, p[k], middle, p[k], p[k + 1]);
    }
  }
}

const shared = (model, source) => source < model.count && model.uses(source) > 1;

function paths(g, scene, model, palette, scale, box, dim) {
  const plain = [],
    many = [];
  for (const i of scene.pathsIn(...box)) {
    const path = scene.layout.paths[i];
    (shared(model, path.source) ? many : plain).push(path);
  }
  const faint = (path) => dim(scene.byId.get(path.source));
  /** @param {number} width */
  const draw = (list, colour, width) => {
    g.strokeStyle = colour;
    g.lineWidth = Math.max(width, 0.6 / scale);
    for (const faded of [true, false]) {
      g.globalAlpha = faded ? 0.15 : scale < 0.16 ? 0.5 : 0.9;
      g.beginPath();
      for (const path of list) if (faint(path) === faded) trace(g, path.points);
      g.stroke();
    }
  };
  draw(plain, palette.edge, 1.2);
  draw(many, palette.accent, 1.3);
  g.globalAlpha = 1;
  if (scale < 0.4) return;
  for (const path of [...plain, ...many]) {
    if (path.to < 0 || faint(path)) continue;
    g.fillStyle = shared(model, path.source) ? palette.accent : palette.edge;
    arrow(g, path.points.at(-2), path.points.at(-1));
  }
  stubs(g, scene, palette, box);
  if (scale < 0.85) return;
  shapesOnEdges(g, scene, model, palette, [...plain, ...many]);
  operandNumbers(g, model, palette, [...plain, ...many]);
}

/** At the heads of the edges, where several arrive: which operand each is. */
function operandNumbers(g, model, palette, list) {
  g.font = `9px ${palette.ui}`;
  g.textAlign = "left";
  g.textBaseline = "middle";
  const arriving = new Map();
  for (const { to } of list) arriving.set(to, (arriving.get(to) ?? 0) + 1);
  for (const { source, to, points } of list) {
    if (to < 0 || arriving.get(to) < 2) continue;
    label(g, operandsOf(model, source, to), points.at(-2) + 5, points.at(-1) - 6, palette);
  }
}

/** As which operands a value arrives: "0", "0, 1" for one used twice; nothing for a folded group. */
export function operandsOf(model, from, to) {
  if (from >= model.count || to >= model.count || model.operands[to].length < 2) return "";
  return model.operands[to].flatMap((u, k) => (u === from ? [k] : [])).join(", ");
}

/** @param {null | CanvasRenderingContext2D} g */
export function arrow(g, x, y, size = 4) {
  g.beginPath();
  g.moveTo(x, y);
  g.lineTo(x - size * 0.8, y - size * 1.6);
  g.lineTo(x + size * 0.8, y - size * 1.6);
  g.closePath();
  g.fill();
}

function stubs(g, scene, palette, [x0, y0, x1, y1]) {
  g.strokeStyle = g.fillStyle = palette.accent;
  g.lineWidth = 1.2;
  for (const { x, y, tx, ty } of scene.layout.stubs) {
    if (x >= x0 && x <= x1 && y >= y0 - 12 && y <= y1) stub(g, x, y, y + STUB);
    if (tx >= x0 && tx <= x1 && ty >= y0 && ty <= y1 + 12) stub(g, tx, ty, ty - STUB);
  }
}

/** @param {number} to */
function stub(g, x, from, to) {
  g.beginPath();
  g.moveTo(x, from);
  g.lineTo(x, to);
  g.stroke();
  g.beginPath();
  g.arc(x, to, 2.6, 0, 2 * Math.PI);
  g.fill();
}

/** The type that flows, written once below each value. */
function shapesOnEdges(g, scene, model, palette, list) {
  const done = new Set();
  g.font = `10.5px ${palette.mono}`;
  g.textAlign = "left";
  g.textBaseline = "middle";
  for (const { source, from, points } of list) {
    if (source >= model.count || from !== source || done.has(source)) continue;
    done.add(source);
    beside(g, scene, source, points, (x) => label(g, model.short(source), x, points[1] + 9, palette));
  }
}

/**
 * Calls `write(x)` for text at the start of a path, on the side to which nothing bends away.
 * @param {null | CanvasRenderingContext2D} g
 */
export function beside(g, scene, source, points, write) {
  const busy = scene.busyRight(source);
  g.textAlign = busy ? "right" : "left";
  write(points[0] + (busy ? -6 : 6));
}

/**
 * Text with a rim of paper, so that lines under it do not cut it.
 * @param {number} x
 * @param {number} y
 * @param {null | CanvasRenderingContext2D} g
 * @param {string} text
 */
export function label(g, text, x, y, palette, colour = palette.soft) {
  g.lineWidth = 3;
  g.lineJoin = "round";
  g.strokeStyle = palette.paper;
  g.strokeText(text, x, y);
  g.fillStyle = colour;
  g.fillText(text, x, y);
}

function frame(g, item, model, palette, scale) {
  const group = model.groups[item.group];
  g.fillStyle = palette.panel;
  g.globalAlpha = item.depth % 2 ? 0.55 : 0.9;
  g.beginPath();
  g.roundRect(item.x, item.y, item.w, item.h, 8);
  g.fill();
  g.globalAlpha = 1;
  g.strokeStyle = palette.line;
  g.lineWidth = Math.max(1.2, 0.8 / scale);
  if (group.kind === 2) g.setLineDash([5, 4]);
  g.stroke();
  g.setLineDash([]);
}

function frameName(g, item, model, palette, scale) {
  const group = model.groups[item.group];
  g.font = `600 ${Math.max(FONT, SMALLEST / scale)}px ${palette.ui}`;
  g.textAlign = "left";
  g.textBaseline = "middle";
  const text = fit(g, `▾ ${group.label}${group.times > 1 ? `  × ${group.times}` : ""}`, item.w - 14);
  label(g, text, item.x + 9, item.y + 12, { paper: palette.panel }, palette.soft);
}

function folded(g, item, model, palette, scale) {
  const group = model.groups[item.group];
  g.strokeStyle = palette.edge;
  g.lineWidth = 1.2;
  for (const shift of group.times > 1 ? [6, 3, 0] : [0]) {
    g.fillStyle = palette.panel;
    g.beginPath();
    g.roundRect(
      item.x + shift,
      item.y + shift,
      item.w - (group.times > 1 ? 6 : 0),
      item.h - (group.times > 1 ? 6 : 0),
      6,
    );
    g.fill();
    g.stroke();
  }
  const h = item.h - (group.times > 1 ? 6 : 0),
    w = item.w - (group.times > 1 ? 6 : 0);
  caption(
    g,
    palette,
    scale,
    item.x,
    item.y,
    w,
    h,
    `▸ ${group.label}`,
    group.times > 1 ? `× ${group.times}` : "",
    palette.ink,
    true,
  );
}

/**
 * @param {number} w
 * @param {number} h
 * @param {string} text
 * @param {string} note
 */
function caption(g, palette, scale, x, y, w, h, text, note, colour, strong = false) {
  const size = Math.max(FONT, SMALLEST / scale);
  if (size > h * 0.95) return;
  g.textAlign = "left";
  g.textBaseline = "middle";
  g.font = `600 ${size}px ${palette.ui}`;
  const aside = note ? g.measureText(note).width + 8 : 0;
  g.fillStyle = palette.accent;
  if (note) g.fillText(note, x + w - aside + 1, y + h / 2 + 0.5);
  g.font = `${strong ? 600 : 400} ${size}px ${strong ? palette.ui : palette.mono}`;
  g.fillStyle = colour;
  g.fillText(fit(g, text, w - aside - 10), x + 9, y + h / 2 + 0.5);
}

function node(g, item, model, palette, scale) {
  const family = model.families[model.family(item.id)] ?? { shape: "rect" };
  const colours = palette.families[model.family(item.id)] ?? { line: palette.edge, fill: palette.panel };
  const { x, y, w, h } = item,
    uses = model.uses(item.id);
  g.lineWidth = Math.max(1.2, 0.7 / scale);
  g.strokeStyle = colours.line;
  if (uses > 1 && scale > 0.3) {
    g.beginPath();
    outline(g, family.shape, x - 3, y - 3, w + 6, h + 6);
    g.stroke();
  }
  g.fillStyle = colours.fill;
  g.beginPath();
  outline(g, family.shape, x, y, w, h);
  g.fill();
  g.stroke();
  const size = Math.max(FONT, SMALLEST / scale);
  if (size > h * 0.95) return;
  g.font = `${size}px ${palette.mono}`;
  g.textAlign = "center";
  g.textBaseline = "middle";
  g.fillStyle = colours.line;
  g.fillText(fit(g, model.label(item.id), w), x + w / 2, y + h / 2 + 0.5);
  if (uses > 1 && scale > 0.45) badge(g, `×${uses}`, x + w, y + h, palette);
}

/** @param {string} text */
function badge(g, text, x, y, palette) {
  g.font = `600 9.5px ${palette.ui}`;
  const w = g.measureText(text).width + 8;
  g.fillStyle = palette.paper;
  g.strokeStyle = palette.accent;
  g.lineWidth = 1.1;
  g.beginPath();
  g.roundRect(x - w / 2, y - 6.5, w, 13, 6.5);
  g.fill();
  g.stroke();
  g.textAlign = "center";
  g.textBaseline = "middle";
  g.fillStyle = palette.accent;
  g.fillText(text, x, y + 0.5);
}

/**
 * The longest beginning of `text` that fits, with an ellipsis when it is not all.
 * @param {string} text
 * @param {number} width
 */
function fit(g, text, width) {
  const wide = g.measureText(text).width;
  if (wide <= width) return text;
  const keep = Math.floor((text.length * width) / wide) - 1;
  return keep < 1 ? "" : `${text.slice(0, keep)}…`;
}
