// Painting one stretch of a scene at one scale: labels near by, shapes further away, density from afar.

import { card, frame, frameName, node } from "./items.js";
import { OPERAND_SIZE, TYPE_SIZE } from "./labels.js";
import { STUB } from "./scene.js";
/** @import { Context } from "../core/types.js" */

const HUES = ["blue", "orange", "teal", "red", "purple", "olive", "sky", "pink", "brown", "grey"];
const HEATS = 7; // steps of the heat map

/**
 * The colors of the current theme, read once from the tokens.
 * @param {Context} ctx
 */
export function readPalette(ctx, model) {
  const c = ctx.color;
  /** @param {string} hue */
  const colors = (hue) => ({
    line: c(`--hue-${hue}`) || c("--edge"),
    fill: c(`--hue-${hue}-fill`) || c("--panel"),
  });
  const palette = {
    families: model.families.map(({ hue }) => colors(hue)),
    hues: Object.fromEntries(HUES.map((hue) => [hue, colors(hue)])),
    heat: Array.from({ length: HEATS }, (_, step) => ({
      fill: c(`--heat-${step}`) || c("--panel"),
      ink: c(`--heat-${step}-ink`) || c("--ink"),
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
export function paint(g, { scene, model, palette, coloring, scale, dim }, box) {
  const items = scene.itemsIn(...box);
  const thin = scale < 0.16;
  const look = { model, palette, coloring, scale };
  for (const item of items) if (item.frame) frame(g, item, look);
  paths(g, scene, model, palette, scale, box, dim);
  if (scale >= 0.34) for (const item of items) if (item.frame) frameName(g, item, look);
  if (thin) return density(g, items, look, dim);
  for (const item of items) {
    if (item.frame) continue;
    g.globalAlpha = dim(item) ? 0.18 : 1;
    (item.group >= 0 ? card : node)(g, item, look);
  }
  g.globalAlpha = 1;
}

function density(g, items, { coloring, palette, scale }, dim) {
  const grow = Math.max(0, 1.6 / scale);
  for (const item of items) {
    if (item.frame) continue;
    g.globalAlpha = dim(item) ? 0.15 : 1;
    g.fillStyle = coloring.of(item, palette).dot;
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
  const draw = (list, color, width) => {
    g.strokeStyle = color;
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
  labels(g, scene, palette, box, faint);
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

/** The types that flow, and the numbers of operands. */
function labels(g, scene, palette, box, faint) {
  g.textBaseline = "middle";
  for (const { text, x, y, align, source, kind } of scene.labelsIn(...box)) {
    if (faint({ source })) continue;
    g.font = kind === "type" ? `${TYPE_SIZE}px ${palette.mono}` : `${OPERAND_SIZE}px ${palette.ui}`;
    g.textAlign = align;
    label(g, text, x, y, palette);
  }
}

/**
 * Text with a rim of paper, so that lines under it do not cut it.
 * @param {number} x
 * @param {number} y
 * @param {null | CanvasRenderingContext2D} g
 * @param {string} text
 */
export function label(g, text, x, y, palette, color = palette.soft) {
  g.lineWidth = 3;
  g.lineJoin = "round";
  g.strokeStyle = palette.paper;
  g.strokeText(text, x, y);
  g.fillStyle = color;
  g.fillText(text, x, y);
}
