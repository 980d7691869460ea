// The items of the drawing: nodes, folded groups as cards, open groups as frames, with labels that stay inside them.

import { FONT, shortened } from "./measure.js";
import { outline, room } from "./shapes.js";

const SMALLEST = 9; // pixels: from afar a label grows against its shape up to this height on the screen, as far as there is room
const READABLE = 5.5; // a label below this height on the screen is left out
const STACK = 6; // by how much the cards behind a repeated one stick out
const NOTES_ABOVE = 0.6; // the scale from which the second line of an item is written
const BADGES_ABOVE = 0.7;

/** How much higher an item with a second line is, pixels. */
export const NOTE = 13;

/**
 * @param {CanvasRenderingContext2D} g
 */
export function frame(g, item, { model, palette, scale }) {
  g.fillStyle = palette.panel;
  g.globalAlpha = item.depth % 2 ? 0.55 : 0.9;
  g.beginPath();
  g.roundRect(item.x, item.y, item.w, item.h, 8);
  g.fill();
  g.globalAlpha = 1;
  g.strokeStyle = palette.line;
  g.lineWidth = Math.max(1.2, 0.8 / scale);
  if (model.groups[item.group].kind === 2) g.setLineDash([5, 4]);
  g.stroke();
  g.setLineDash([]);
}

/**
 * The name of an open group, and what its cost is.
 * @param {CanvasRenderingContext2D} g
 */
export function frameName(g, item, { model, palette, coloring, scale }) {
  const group = model.groups[item.group];
  g.textAlign = "left";
  g.textBaseline = "middle";
  const note = coloring.note(item.id);
  const text = `▾ ${group.label}${group.times > 1 ? `  × ${group.times}` : ""}${note ? `  ${note}` : ""}`;
  const size = Math.min(Math.max(FONT, SMALLEST / scale), 20);
  g.font = `600 ${size}px ${palette.ui}`;
  g.lineWidth = 3;
  g.lineJoin = "round";
  g.strokeStyle = palette.panel;
  const shown = cut(g, text, item.w - 14);
  g.strokeText(shown, item.x + 9, item.y + 12);
  g.fillStyle = palette.soft;
  g.fillText(shown, item.x + 9, item.y + 12);
}

/**
 * A folded group.
 * @param {CanvasRenderingContext2D} g
 */
export function card(g, item, look) {
  const { model, palette, coloring, scale } = look;
  const group = model.groups[item.group],
    many = group.times > 1;
  const w = item.w - (many ? STACK : 0),
    h = item.h - (many ? STACK : 0);
  const colors = coloring.of(item, palette);
  g.strokeStyle = palette.edge;
  g.lineWidth = 1.2;
  for (const shift of many ? [STACK, STACK / 2, 0] : [0]) {
    g.fillStyle = colors.fill;
    g.beginPath();
    g.roundRect(item.x + shift, item.y + shift, w, h, 6);
    g.fill();
    g.stroke();
  }
  const times = many ? `× ${group.times}` : "";
  g.textBaseline = "middle";
  g.font = `600 ${FONT}px ${palette.ui}`;
  const aside = times ? g.measureText(times).width + 8 : 0;
  const text = `▸ ${shortened(group.label)}`;
  const size = sizeOf(g, text, w - aside - 18, h, scale);
  if (!size) return;
  const note = scale >= NOTES_ABOVE ? coloring.note(item.id) : "";
  const y = item.y + (note ? h / 2 - NOTE / 2 : h / 2) + 0.5;
  g.font = `600 ${size}px ${palette.ui}`;
  g.textAlign = "left";
  g.fillStyle = colors.ink;
  g.fillText(cut(g, text, w - aside - 16), item.x + 9, y);
  if (times) {
    g.textAlign = "right";
    g.font = `600 ${Math.min(size, FONT)}px ${palette.ui}`;
    g.fillStyle = colors.accent ?? palette.accent;
    g.fillText(times, item.x + w - 8, y);
  }
  if (note) second(g, note, item.x + 22, y + NOTE, w - 30, colors, palette, "left");
}

/**
 * A node.
 * @param {CanvasRenderingContext2D} g
 */
export function node(g, item, look) {
  const { model, palette, coloring, scale } = look;
  const { shape } = model.families[model.family(item.id)] ?? { shape: "rect" };
  const colors = coloring.of(item, palette);
  const { x, y, w, h } = item,
    uses = model.uses(item.id);
  g.lineWidth = Math.max(1.2, 0.7 / scale);
  g.strokeStyle = colors.line;
  if (uses > 1 && scale > 0.3) {
    g.beginPath();
    outline(g, shape, x - 3, y - 3, w + 6, h + 6);
    g.stroke();
  }
  g.fillStyle = colors.fill;
  g.beginPath();
  outline(g, shape, x, y, w, h);
  g.fill();
  g.stroke();
  const { width, centre } = room(shape, w);
  g.font = `${FONT}px ${palette.mono}`;
  g.textBaseline = "middle";
  const text = shortened(model.label(item.id)),
    size = sizeOf(g, text, width, h, scale);
  if (!size) return;
  const note = scale >= NOTES_ABOVE ? coloring.note(item.id) : "";
  g.font = `${size}px ${palette.mono}`;
  g.textAlign = "center";
  g.fillStyle = colors.ink;
  const middle = y + (note ? h / 2 - NOTE / 2 : h / 2) + 0.5;
  g.fillText(cut(g, text, width + 1), x + centre, middle);
  if (note) second(g, note, x + centre, middle + NOTE, width, colors, palette, "center");
  if (uses > 1 && scale >= BADGES_ABOVE) badge(g, `×${uses}`, x + w, y + h, palette);
}

/**
 * The height of a label: as in the layout, larger from afar where there is room, and 0 where it could not be read.
 * @param {CanvasRenderingContext2D} g
 * @param {string} text
 * @param {number} width
 * @param {number} height
 * @param {number} scale
 */
function sizeOf(g, text, width, height, scale) {
  const wide = g.measureText(text).width;
  const most = Math.min(height * 0.75, Math.max(FONT, (FONT * width) / Math.max(1, wide)));
  const size = Math.min(most, Math.max(FONT, SMALLEST / scale));
  return size * scale < READABLE ? 0 : size;
}

/**
 * @param {CanvasRenderingContext2D} g
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {CanvasTextAlign} align
 */
function second(g, text, x, y, width, colors, palette, align) {
  g.font = `11px ${palette.ui}`;
  g.textAlign = align;
  g.fillStyle = colors.ink;
  g.fillText(cut(g, text, width + 4), x, y);
}

/**
 * @param {CanvasRenderingContext2D} g
 * @param {string} text
 */
function badge(g, text, x, y, palette) {
  g.font = `600 11px ${palette.ui}`;
  const w = g.measureText(text).width + 8;
  g.fillStyle = palette.paper;
  g.strokeStyle = palette.accent;
  g.lineWidth = 1.1;
  g.beginPath();
  g.roundRect(x - w / 2, y - 7.5, w, 15, 7.5);
  g.fill();
  g.stroke();
  g.textAlign = "center";
  g.textBaseline = "middle";
  g.fillStyle = palette.accent;
  g.fillText(text, x, y + 0.5);
}

/**
 * The longest beginning of `text` that fits, with an ellipsis when it is not all.
 * @param {CanvasRenderingContext2D} g
 * @param {string} text
 * @param {number} width
 */
function cut(g, text, width) {
  const wide = g.measureText(text).width;
  if (wide <= width) return text;
  const keep = Math.floor((text.length * width) / wide) - 1;
  return keep < 1 ? "" : `${text.slice(0, keep)}…`;
}
