// Where the blocks stand, left and right of the spine.

import { GAP, LANE } from "./blocks.js";

/** Places every component around its own spine, then sets the components side by side. Fills `block.x`. */
export function placeFresh(roots, layers) {
  const edge = new Float64Array(layers).fill(-Infinity);
  for (const root of roots) {
    const all = around(root, layers);
    let shift = edge[0] === -Infinity && root === roots[0] ? 0 : -Infinity;
    for (const b of all) for (const [from, to, left] of b.pieces) for (let l = from; l <= to; l++) shift = Math.max(shift, edge[l] - (b.x - left));
    if (shift === -Infinity) shift = 0;
    for (const b of all) {
      b.x += shift;
      for (const [from, to, , right] of b.pieces) for (let l = from; l <= to; l++) edge[l] = Math.max(edge[l], b.x + right + GAP);
    }
  }
}

function around(root, layers) {
  root.x = 0;
  const out = [root];
  for (const side of [1, -1]) {
    const contour = new Float64Array(layers);
    raise(contour, root, side);
    for (const block of walk(root, side)) {
      let x = 0;
      for (const [from, to, left, right] of block.pieces) {
        for (let l = from; l <= to; l++) x = Math.max(x, contour[l] + (side > 0 ? left : right));
      }
      block.x = side * x;
      raise(contour, block, side);
      out.push(block);
    }
  }
  return out;
}

function raise(contour, block, side) {
  for (const [from, to, left, right] of block.pieces) {
    const reach = side * block.x + (side > 0 ? right : left);
    for (let l = from; l <= to; l++) contour[l] = Math.max(contour[l], reach);
  }
}

/** The blocks of one half, inner before outer: of two, the one that spans less is nearer to what they hang on. */
function* walk(root, half) {
  const byReach = (a, b) => a.to - a.from - (b.to - b.from) || a.id - b.id;
  const stack = [];
  const open = (block, isRoot) => {
    const children = isRoot ? block.children.filter((c) => c.side === half) : block.children;
    const outer = children.filter((c) => isRoot || c.side === half).sort(byReach);
    const inner = isRoot ? [] : children.filter((c) => c.side !== half).sort(byReach).reverse();
    for (const c of outer.reverse()) stack.push([c, false]);
    if (!isRoot) stack.push([block, true]);
    for (const c of inner.reverse()) stack.push([c, false]);
  };
  open(root, true);
  while (stack.length) {
    const [block, ready] = stack.pop();
    if (ready) yield block;
    else open(block, false);
  }
}

/** Keeps what was there at its place, makes room where something grew, and puts what is new into the nearest gap. Fills `block.x`, one block a run. */
export function placeKept(level, layering, made, previous) {
  const x = new Float64Array(level.items.length).fill(NaN);
  level.refs.forEach((ref, v) => previous.items.has(ref) && (x[v] = previous.items.get(ref).x));
  const rows = Array.from({ length: layering.count }, () => []);
  x.forEach((at, v) => Number.isNaN(at) || rows[layering.layer[v]].push(v));
  makeRoom(level, rows, x);
  const slots = new Slots(layering.count);
  rows.forEach((row, l) => row.forEach((v) => slots.take(l, l, x[v] - level.left[v] - GAP, x[v] + level.right[v] + GAP)));
  const lanes = new Float64Array(level.nets.length).fill(NaN);
  const wanted = (v) => {
    const near = [...level.ins[v].map((k) => level.nets[k].from), ...level.outs[v].flatMap((k) => level.nets[k].to)].filter((u) => !Number.isNaN(x[u]));
    return near.length ? near.reduce((sum, u) => sum + x[u], 0) / near.length : 0;
  };
  const sorted = [...x.keys()].sort((a, b) => layering.layer[a] - layering.layer[b] || a - b);
  for (const v of sorted) {
    if (!Number.isNaN(x[v])) continue;
    const up = made.up[v] >= 0 ? x[made.up[v]] : NaN, l = layering.layer[v];
    x[v] = slots.nearest(l, l, level.left[v] + GAP, level.right[v] + GAP, Number.isNaN(up) ? wanted(v) : up);
    slots.take(l, l, x[v] - level.left[v] - GAP, x[v] + level.right[v] + GAP);
  }
  level.nets.forEach((net, k) => {
    if (!net.lane) return;
    const first = layering.layer[net.from] + 1;
    const near = previous.lanes.get(level.netRefs[k]) ?? x[net.from];
    lanes[k] = slots.nearest(first, net.lane, LANE, LANE, near);
    slots.take(first, net.lane, lanes[k] - LANE, lanes[k] + LANE);
  });
  return { x, lanes };
}

/** Where an item has grown into its neighbour, everything beyond it moves aside by what is missing: relative places stay. */
function makeRoom(level, rows, x) {
  for (const row of rows) row.sort((a, b) => x[a] - x[b] || a - b);
  for (let pass = 0; pass < 40; pass++) {
    let worst = 0, at = 0;
    for (const row of rows) {
      for (let i = 1; i < row.length; i++) {
        const [a, b] = [row[i - 1], row[i]];
        const missing = x[a] + level.right[a] + 2 * GAP - (x[b] - level.left[b]);
        if (missing > worst + 1e-6) [worst, at] = [missing, (x[a] + x[b]) / 2];
      }
    }
    if (!worst) return;
    for (let v = 0; v < x.length; v++) if (x[v] > at) x[v] += worst;
  }
  for (const row of rows) spread(level, row, x);
}

function spread(level, row, x) {
  for (let i = 1; i < row.length; i++) x[row[i]] = Math.max(x[row[i]], x[row[i - 1]] + level.right[row[i - 1]] + 2 * GAP + level.left[row[i]]);
}

/** Which stretches of each layer are taken. */
class Slots {
  constructor(layers) {
    this.rows = Array.from({ length: layers }, () => []);
  }

  take(from, to, a, b) {
    for (let l = from; l <= to; l++) {
      const row = this.rows[l];
      let i = row.length;
      while (i > 0 && row[i - 1][0] > a) i--;
      row.splice(i, 0, [a, b]);
    }
  }

  /** The x nearest to `wish` at which a piece that reaches `left` and `right` of it is free in all the layers. */
  nearest(from, to, left, right, wish) {
    const go = (dir) => {
      let x = wish;
      for (let moved = true; moved; ) {
        moved = false;
        for (let l = from; l <= to; l++) {
          for (const [a, b] of this.rows[l]) {
            if (x - left >= b - 1e-6 || x + right <= a + 1e-6) continue;
            x = dir > 0 ? b + left : a - right;
            moved = true;
          }
        }
      }
      return x;
    };
    const r = go(1), l = go(-1);
    return r - wish <= wish - l ? r : l;
  }
}
