// What changes with the pointer and the selection, drawn above the bitmaps: rings, the edges of one node, the numbers of its operands.

import { OPERAND_SIZE, TYPE_SIZE } from "./labels.js";
import { arrow, label, trace } from "./paint.js";

const MOST = 400; // edges lit at once

/**
 * The lit edges of item `id`: [{path, outgoing}], its operands' first.
 * @param {number} id
 */
export function edgesOf(id, scene, near) {
  const out = [],
    { users, operands } = near(id);
  /**
   * @param {boolean} outgoing
   * @param {number} from
   * @param {number} to
   */
  const add = (from, to, outgoing) => {
    for (const i of scene.layout.pathsOf(from, to)) out.push({ path: scene.layout.paths[i], outgoing });
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
  { scene, palette, scale, selected, hovered, focus, matches, lit, hoverLit },
  seen,
) {
  for (const id of matches) {
    const item = scene.byId.get(id);
    if (item && seen(item)) halo(g, item, palette.now, 9 / Math.min(1, scale) ** 0.6, palette.accent, scale);
  }
  edges(g, hoverLit, palette, scale, 0.75);
  edges(g, lit, palette, scale, 1);
  if (scale > 0.5) texts(g, scene, [...lit, ...hoverLit], palette, scale);
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
 * Operands come solid in one color, users go dashed in another.
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

/**
 * The texts of lit edges: the types of the values, and which operands they are, where the drawing has them.
 * @param {null | CanvasRenderingContext2D} g
 */
function texts(g, scene, list, palette, scale) {
  const written = new Set();
  for (const { path } of list) {
    const { points: p } = path;
    for (const shown of scene.labelsIn(p[0] - 1, p[1], p[0] + 1, p[1] + 20))
      if (shown.kind === "type" && shown.source === path.source) written.add(shown);
    for (const shown of scene.labelsIn(p.at(-2) - 1, p.at(-1) - 20, p.at(-2) + 1, p.at(-1)))
      if (shown.kind === "operand" && shown.to === path.to) written.add(shown);
  }
  g.textBaseline = "middle";
  for (const { text, x, y, align, kind } of written) {
    g.font =
      kind === "type"
        ? `${Math.max(TYPE_SIZE, 9.5 / scale)}px ${palette.mono}`
        : `700 ${Math.max(OPERAND_SIZE, 8.5 / scale)}px ${palette.ui}`;
    g.textAlign = align;
    label(g, text, x, y, palette, palette.ink);
  }
}

/**
 * @param {number} width
 * @param {null | CanvasRenderingContext2D} g
 */
function ring(g, item, color, width, scale, away = 4) {
  if (!item) return;
  const d = Math.max(away, (away * 0.6) / scale);
  g.strokeStyle = color;
  g.lineWidth = Math.max(width, width / scale);
  g.beginPath();
  g.roundRect(item.x - d, item.y - d, item.w + 2 * d, item.h + 2 * d, 8 + d);
  g.stroke();
}
