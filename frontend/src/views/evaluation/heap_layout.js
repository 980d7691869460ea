// Where the pieces of a heap's picture stand: children below the dot that leads to them, trees as narrow as they
// can be, one block for each root, blocks side by side while there is room. Pure arithmetic, in pixels.
import { path } from "d3-path";

export const CELL = 24;
/** From one row of a tree to the next: a cell, the edge, and room for the names that point at a value. */
const LEVEL = 56;
const LINE = 42;
const CHARACTER = 7.1;
const GAP = 7;
const APART = 12;
const TOP = 20;
/** How long a text in a box may be: shorter and shorter, until the picture fits. */
const LONGEST = [18, 11, 7, 4];
const SHORTEST_LABEL = 8;

/**
 * @param {string} text
 * @param {number} most
 */
export const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** @param {number} most */
function sizeSeg(seg, most) {
  const whole =
    seg.kind === "text" && seg.name ? `${seg.name}=${seg.text}` : seg.kind === "dot" ? seg.name : seg.text;
  seg.shown = cut(whole, seg.kind === "label" ? Math.max(most, SHORTEST_LABEL) : most);
  if (seg.kind === "dot") return 20 + (seg.shown ? seg.shown.length * CHARACTER + 5 : 0);
  return seg.shown.length * CHARACTER + 10;
}

/**
 * Cells of a unit from x = 0 on; a childless chain wraps at `width`.
 * @param {number} width
 * @param {number} most
 */
function sizeUnit(unit, width, most) {
  let x = 0;
  let line = 0;
  for (const cell of unit.cells) {
    cell.w = 0;
    for (const seg of cell.segs) {
      seg.x = cell.w;
      seg.w = sizeSeg(seg, most);
      cell.w += seg.w;
    }
    cell.w = Math.max(26, cell.w);
    if (x > 0 && x + cell.w > width && unit.children.length === 0) {
      x = 14;
      line += 1;
    }
    cell.x = x;
    cell.line = line;
    x += cell.w + GAP;
  }
  unit.w = Math.max(...unit.cells.map((cell) => cell.x + cell.w));
  unit.levels = 1 + Math.ceil((line * LINE) / LEVEL);
}

const anchor = (unit, child) => {
  const cell = unit.cells[child.cell];
  const seg = cell.segs[child.seg];
  return cell.x + seg.x + seg.w - 10;
};

/**
 * Lays out what is below `unit`; returns its outline, `[left, right]` by level, with the unit's left edge at 0.
 * @param {number} width
 * @param {number} most
 */
function settle(unit, width, most) {
  sizeUnit(unit, width, most);
  const outline = Array.from({ length: unit.levels }, () => [0, unit.w]);
  unit.children.sort((a, b) => a.cell - b.cell || a.seg - b.seg);
  const filled = [];
  let drift = 0;
  const placed = unit.children.map((child) => {
    const inner = settle(child.unit, width, most);
    const wish = anchor(unit, child) - middle(child.unit);
    let x = wish;
    inner.forEach(([left], level) => {
      if (filled[level] !== undefined) x = Math.max(x, filled[level] + APART - left);
    });
    inner.forEach(([, right], level) => {
      filled[level] = x + right;
    });
    drift += x - wish;
    return { child, inner, x };
  });
  const back = placed.length ? drift / placed.length : 0;
  for (const { child, inner, x } of placed) {
    child.x = x - back;
    inner.forEach(([left, right], level) => {
      const at = outline[level + 1] ?? [Infinity, -Infinity];
      outline[level + 1] = [Math.min(at[0], left + child.x), Math.max(at[1], right + child.x)];
    });
  }
  return outline;
}

/** The point of a unit that stands below its dot: the middle of what has children, else of its first cell. */
const middle = (unit) => (unit.children.length && unit.cells.length === 1 ? unit.w / 2 : unit.cells[0].w / 2);

/**
 * @param {number} x
 * @param {number} y
 */
function spread(unit, x, y, out) {
  unit.at = { x, y };
  for (const [i, cell] of unit.cells.entries()) {
    const box = { ...cell, x: x + cell.x, y: y + cell.line * LINE, h: CELL };
    out.cells.push(box);
    if (box.id >= 0) out.place.set(box.id, box);
    for (const seg of cell.segs) {
      const piece = { x: box.x + seg.x, y: box.y, w: seg.w, h: CELL };
      if (seg.list !== undefined && !out.place.has(seg.list)) out.place.set(seg.list, piece);
      if (seg.kind === "text" && seg.id >= 0 && seg.id !== cell.id && !out.place.has(seg.id))
        out.place.set(seg.id, piece);
    }
    const next = unit.cells[i + 1];
    if (next && next.line === cell.line)
      out.edges.push({
        kind: "chain",
        from: cell.id,
        to: next.id,
        d: `M${box.x + cell.w} ${box.y + CELL / 2}h${GAP}`,
      });
  }
  for (const child of unit.children) {
    const from = { x: x + anchor(unit, child), y: y + CELL / 2 };
    const to = { x: x + child.x + Math.min(middle(child.unit), child.unit.cells[0].w - 6), y: y + LEVEL };
    const curve = path();
    curve.moveTo(from.x, from.y);
    curve.bezierCurveTo(from.x, from.y + 26, to.x, to.y - 24, to.x, to.y);
    out.edges.push({
      kind: "tree",
      from: unit.cells[child.cell].id,
      to: child.unit.cells[0].id,
      d: curve.toString(),
    });
    spread(child.unit, x + child.x, y + LEVEL, out);
  }
}

/** A curve to a value that is drawn elsewhere: it arrives from above, or from below where that is the way, with an arrow. */
function across(from, box) {
  const down = box.y + box.h >= from.y - CELL ? 1 : -1;
  const to = {
    x: Math.max(box.x + 10, Math.min(box.x + box.w - 10, from.x)),
    y: down > 0 ? box.y - 2 : box.y + box.h + 2,
  };
  const curve = path();
  curve.moveTo(from.x, from.y);
  const dip = down * Math.max(22, Math.abs(to.y - from.y) / 2);
  curve.bezierCurveTo(from.x, from.y + dip, to.x, to.y - dip, to.x, to.y);
  return curve.toString();
}

/**
 * `{ width, height, cells, edges, place }` of a `shape`; `place` says where each value stands. Texts are cut shorter where
 * that makes the picture fit into `width`.
 */
export function layout(made, width = 380) {
  let out = null;
  for (const most of LONGEST) {
    out = arrange(made, width, most);
    if (out.width <= width) break;
  }
  return out;
}

function arrange({ units, links }, width, most) {
  const out = { width: 0, height: 0, cells: [], edges: [], place: new Map() };
  let x = 0;
  let y = 0;
  let tall = 0;
  for (const unit of units) {
    const outline = settle(unit, width - 8, most);
    const left = Math.min(...outline.map(([at]) => at));
    const right = Math.max(...outline.map(([, at]) => at));
    const lines = Math.max(...unit.cells.map((cell) => cell.line));
    const height =
      TOP + (outline.length > unit.levels ? (outline.length - 1) * LEVEL : lines * LINE) + CELL + 10;
    if (x > 0 && x + right - left > width - 4) {
      x = 0;
      y += tall;
      tall = 0;
    }
    spread(unit, x - left + 2, y + TOP, out);
    x += right - left + 2 * APART;
    tall = Math.max(tall, height);
    out.width = Math.max(out.width, x - 2 * APART + 6);
  }
  out.height = y + tall;
  for (const { unit, cell, seg, to } of links) {
    const piece = unit.cells[cell].segs[seg];
    const box = out.place.get(to);
    if (!box) continue;
    const from = {
      x: unit.at.x + unit.cells[cell].x + piece.x + piece.w - 10,
      y: unit.at.y + unit.cells[cell].line * LINE + CELL / 2,
    };
    out.edges.push({ kind: "shared", from: unit.cells[cell].id, to, d: across(from, box) });
  }
  return out;
}
