// What changes with the pointer and the selection, drawn above the bitmaps: rings, the edges of one node, the numbers of its operands.

import { operandsOf } from "./labels.js";
import { arrow, beside, label, trace } from "./paint.js";

const MOST = 400; // edges lit at once

/**
 * The lit edges of item `id`: [{path, out, operand}], its operands' first.
 * @param {number} id
 */
export function edgesOf(id, scene, near, model) {
  const out = [],
    { users, operands } = near(id);
  /**
   * @param {boolean} outgoing
   * @param {number} from
   * @param {number} to
   */
  const add = (from, to, outgoing) => {
    for (const i of scene.layout.pathsOf(from, to))
      out.push({ path: scene.layout.paths[i], outgoing, operand: operandsOf(model, from, to) });
  };
  for (const u of operands.slice(0, MOST)) add(u, id, false);
  for (const t of users.slice(0, MOST)) add(id, t, true);
  return out;
}

/**
 * Draws on `g`, which is in the scene's units. `lit`: what `edgesOf` gave for the selection and for what is hovered.
 * @param {null | CanvasRenderingContext2D} g
 */
export function drawOverlay(
  g,
  { scene, model, palette, scale, selected, hovered, focus, matches, lit, hoverLit },
  seen,
) {
  for (const id of matches) {
    const item = scene.byId.get(id);
    if (item && seen(item)) halo(g, item, palette.now, 9 / Math.min(1, scale) ** 0.6, palette.accent, scale);
  }
  edges(g, hoverLit, palette, scale, 0.75);
  edges(g, lit, palette, scale, 1);
  const done = new Set();
  for (const { path } of scale > 0.5 ? [...lit, ...hoverLit] : []) {
    if (path.from !== path.source || path.source >= model.count || done.has(path.source)) continue;
    done.add(path.source);
    g.font = `${Math.max(10.5, 9.5 / scale)}px ${palette.mono}`;
    g.textBaseline = "middle";
    beside(g, scene, path.source, path.points, (x) =>
      label(g, model.short(path.source), x, path.points[1] + 9, palette, palette.ink),
    );
  }
  for (const { path, operand } of scale > 0.5 ? lit : []) number(g, path, operand, palette, scale);
  ring(g, scene.byId.get(hovered), palette.soft, 1.6, scale);
  ring(g, scene.byId.get(selected), palette.accent, 2.6, scale);
  if (focus) ring(g, scene.byId.get(selected), palette.accent, 1.4, scale, 8);
}

/**
 * @param {number} reach
 * @param {null | CanvasRenderingContext2D} g
 */
function halo(g, item, fill, reach, line, scale) {
  const r = Math.max(reach, 3 / scale);
  g.fillStyle = fill;
  g.strokeStyle = line;
  g.lineWidth = 1.4 / scale;
  g.globalAlpha = 0.55;
  g.beginPath();
  g.roundRect(item.x - r, item.y - r, item.w + 2 * r, (item.frame ? 24 : item.h) + 2 * r, r);
  g.rect(item.x - 1, item.y - 1, item.w + 2, (item.frame ? 24 : item.h) + 2);
  g.fill("evenodd");
  g.globalAlpha = 1;
  g.beginPath();
  g.roundRect(item.x - r, item.y - r, item.w + 2 * r, (item.frame ? 24 : item.h) + 2 * r, r);
  g.stroke();
}

/**
 * Operands come solid in one colour, users go dashed in another.
 * @param {number} alpha
 * @param {null | CanvasRenderingContext2D} g
 */
function edges(g, list, palette, scale, alpha) {
  g.globalAlpha = alpha;
  for (const { path, outgoing } of list) {
    g.strokeStyle = g.fillStyle = outgoing ? palette.accent : palette.run;
    g.lineWidth = Math.max(2.2, 1.6 / scale);
    g.setLineDash(outgoing ? [7, 4] : []);
    g.beginPath();
    trace(g, path.points);
    g.stroke();
    g.setLineDash([]);
    if (path.to >= 0) arrow(g, path.points.at(-2), path.points.at(-1), Math.max(4.6, 3.4 / scale));
  }
  g.globalAlpha = 1;
}

/** @param {null | CanvasRenderingContext2D} g */
function number(g, path, operand, palette, scale) {
  if (!operand || path.to < 0) return;
  const size = Math.max(9.5, 8.5 / scale),
    x = path.points.at(-2) + 9,
    y = path.points.at(-1) - 8;
  g.font = `700 ${size}px ${palette.ui}`;
  g.textAlign = "left";
  g.textBaseline = "middle";
  label(g, operand, x - 2, y, palette, palette.ink);
}

/**
 * @param {number} width
 * @param {null | CanvasRenderingContext2D} g
 */
function ring(g, item, colour, width, scale, away = 4) {
  if (!item) return;
  const d = Math.max(away, (away * 0.6) / scale);
  g.strokeStyle = colour;
  g.lineWidth = Math.max(width, width / scale);
  g.beginPath();
  g.roundRect(item.x - d, item.y - d, item.w + 2 * d, item.h + 2 * d, 8 + d);
  g.stroke();
}
