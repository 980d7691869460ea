// Where the blocks stand, left and right of the spine.

import { GAP, LANE } from "./blocks.js";

/** Places every component around its own spine, then sets the components side by side. Fills `block.x`. */
export function placeFresh(roots, layers) {
  const edge = new Float64Array(layers).fill(-Infinity);
  for (const root of roots) {
    const all = around(root);
    let shift = edge[0] === -Infinity && root === roots[0] ? 0 : -Infinity;
    for (const b of all)
      for (const [from, to, left] of b.pieces)
        for (let l = from; l <= to; l++) shift = Math.max(shift, edge[l] - (b.x - left));
    if (shift === -Infinity) shift = 0;
    for (const b of all) {
      b.x += shift;
      for (const [from, to, , right] of b.pieces)
        for (let l = from; l <= to; l++) edge[l] = Math.max(edge[l], b.x + right + GAP);
    }
  }
}

/**
 * The blocks of a component around its spine: each as near to what it hangs on as there is room, on its side.
 */
function around(root) {
  root.x = 0;
  const out = [root],
    slots = new Slots(root.from, root.to);
  slots.takeAll(root.pieces, 0);
  for (const side of [1, -1]) {
    for (const [block, near] of walk(root, side)) {
      block.x = slots.towards(block.pieces, near.x, side);
      slots.takeAll(block.pieces, block.x);
      out.push(block);
    }
  }
  return out;
}

/**
 * The blocks of one half, inner before outer, each with the placed one that it hangs on: of two, the one that spans less comes first.
 * @param {number} half
 */
function* walk(root, half) {
  const byReach = (a, b) => a.to - a.from - (b.to - b.from) || a.id - b.id;
  const stack = [];
  /**
   * @param {boolean} isRoot
   * @param {any} block
   * @param {any} near
   */
  const open = (block, isRoot, near) => {
    const children = isRoot ? block.children.filter((c) => c.side === half) : block.children;
    const outer = children.filter((c) => isRoot || c.side === half).sort(byReach);
    const inner = isRoot
      ? []
      : children
          .filter((c) => c.side !== half)
          .sort(byReach)
          .reverse();
    for (const c of outer.reverse()) stack.push([c, false, block]);
    if (!isRoot) stack.push([block, true, near]);
    for (const c of inner.reverse()) stack.push([c, false, near]);
  };
  open(root, true, root);
  while (stack.length) {
    const [block, ready, near] = stack.pop();
    if (ready) yield [block, near];
    else open(block, false, near);
  }
}

/** Keeps what was there at its place, makes room where something grew, and puts what is new into the nearest gap. Fills `block.x`, one block a run. */
export function placeKept(level, layering, made, previous) {
  const x = new Float64Array(level.items.length).fill(NaN);
  level.refs.forEach((ref, v) => previous.items.has(ref) && (x[v] = previous.items.get(ref).x));
  const rows = Array.from({ length: layering.count }, () => []);
  x.forEach((at, v) => Number.isNaN(at) || rows[layering.layer[v]].push(v));
  makeRoom(level, rows, x);
  const slots = new Slots(0, layering.count - 1);
  rows.forEach((row, l) =>
    row.forEach((v) => slots.take(l, l, x[v] - level.left[v] - GAP, x[v] + level.right[v] + GAP)),
  );
  const lanes = new Float64Array(level.nets.length).fill(NaN);
  /** @param {number} v */
  const wanted = (v) => {
    const near = [
      ...level.ins[v].map((k) => level.nets[k].from),
      ...level.outs[v].flatMap((k) => level.nets[k].to),
    ].filter((u) => !Number.isNaN(x[u]));
    return near.length ? near.reduce((sum, u) => sum + x[u], 0) / near.length : 0;
  };
  const sorted = [...x.keys()].sort((a, b) => layering.layer[a] - layering.layer[b] || a - b);
  for (const v of sorted) {
    if (!Number.isNaN(x[v])) continue;
    const up = made.up[v] >= 0 ? x[made.up[v]] : NaN,
      l = layering.layer[v];
    const piece = [[l, l, level.left[v] + GAP, level.right[v] + GAP]];
    x[v] = slots.nearest(piece, Number.isNaN(up) ? wanted(v) : up);
    slots.takeAll(piece, x[v]);
  }
  level.nets.forEach((net, k) => {
    if (!net.lane) return;
    const piece = [[layering.layer[net.from] + 1, net.lane, LANE, LANE]];
    lanes[k] = slots.nearest(piece, previous.lanes.get(level.netRefs[k]) ?? x[net.from]);
    slots.takeAll(piece, lanes[k]);
  });
  return { x, lanes };
}

/** Where an item has grown into its neighbour, everything beyond it moves aside by what is missing: relative places stay. */
function makeRoom(level, rows, x) {
  for (const row of rows) row.sort((a, b) => x[a] - x[b] || a - b);
  for (let pass = 0; pass < 40; pass++) {
    let worst = 0,
      at = 0;
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

/** @param {any[]} row */
function spread(level, row, x) {
  for (let i = 1; i < row.length; i++)
    x[row[i]] = Math.max(x[row[i]], x[row[i - 1]] + level.right[row[i - 1]] + 2 * GAP + level.left[row[i]]);
}

/** Which stretches of each layer are taken: sorted, and apart. */
class Slots {
  constructor(first, last) {
    this.first = first;
    this.rows = Array.from({ length: last - first + 1 }, () => []);
  }

  /**
   * @param {number} from
   * @param {number} to
   * @param {number} a
   */
  take(from, to, a, b) {
    for (let l = from; l <= to; l++) {
      const row = this.rows[l - this.first];
      row.splice(this.#after(row, a), 0, [a, b]);
    }
  }

  /** @param {number} x */
  takeAll(pieces, x) {
    for (const [from, to, left, right] of pieces) this.take(from, to, x - left, x + right);
  }

  /**
   * The index of the first stretch that ends beyond `a`.
   * @param {any[]} row
   * @param {number} a
   */
  #after(row, a) {
    let low = 0,
      high = row.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row[middle][1] > a + 1e-6) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /**
   * The first x from `start` on, to the right (`side` 1) or left (-1), at which all `pieces` are free.
   * @param {number} side
   * @param {number} start
   */
  towards(pieces, start, side) {
    let x = start;
    for (let moved = true; moved;) {
      moved = false;
      for (const [from, to, left, right] of pieces) {
        for (let l = from; l <= to; l++) {
          const row = this.rows[l - this.first],
            hit = row[this.#after(row, x - left)];
          if (!hit || hit[0] >= x + right - 1e-6) continue;
          x = side > 0 ? hit[1] + left : hit[0] - right;
          moved = true;
        }
      }
    }
    return x;
  }

  /**
   * The x nearest to `wish` at which all `pieces` are free.
   * @param {number} wish
   */
  nearest(pieces, wish) {
    const r = this.towards(pieces, wish, 1),
      l = this.towards(pieces, wish, -1);
    return r - wish <= wish - l ? r : l;
  }
}
