// Straight vertical runs. A block is a chain of items, each above the next, or the lane of a value that is used layers further down. Every block gets
// one x, so chains and lanes are straight by construction, and a network's longest chain is its spine.

import { ITEM } from "./levels.js";

export const LANE = 7; // half the width of a lane
export const GAP = 9; // half the space between two items

const MAX_SPAN = 120; // layers that a lane crosses before a stub that jumps replaces it
const MAX_BESIDE = 40; // lanes side by side in one layer

/** Chains, lanes and the blocks made of them. `net.lane` is the last layer of the net's lane (0: none); `net.stub[i]`: target i is reached by a stub. */
export function makeBlocks(level, layering, sorted, adj) {
  const chains = link(level, layering, sorted, adj);
  layLanes(level, layering, chains);
  const blocks = [],
    of = new Int32Array(level.items.length).fill(-1);
  const add = (top) => {
    const block = {
      id: blocks.length,
      pieces: [],
      items: [],
      nets: [],
      top,
      bottom: top,
      parent: -1,
      side: 0,
      children: [],
      from: top,
      to: top,
      x: 0,
    };
    blocks.push(block);
    return block;
  };
  for (let v = 0; v < of.length; v++) {
    if (chains.up[v] >= 0) continue;
    const block = add(layering.layer[v]);
    for (let u = v; u >= 0; u = chains.down[u]) {
      const net = chains.via[u];
      if (net >= 0) addLane(block, level, layering, net);
      addItem(block, level, layering, u);
      of[u] = block.id;
      if (chains.down[u] < 0) extend(block, level, layering, u);
    }
  }
  for (const [k, net] of level.nets.entries()) {
    if (!net.lane || net.block >= 0) continue;
    addLane(add(layering.layer[net.from] + 1), level, layering, k);
  }
  return { blocks, of, ...chains };
}

/** @param {number} v */
function addItem(block, level, layering, v) {
  const l = layering.layer[v];
  block.items.push(v);
  block.pieces.push([l, l, level.left[v] + GAP, level.right[v] + GAP]);
  block.bottom = Math.max(block.bottom, l);
}

/** @param {number} k */
function addLane(block, level, layering, k) {
  const net = level.nets[k],
    first = layering.layer[net.from] + 1;
  net.block = block.id;
  block.nets.push(k);
  block.pieces.push([first, net.lane, LANE, LANE]);
  block.bottom = Math.max(block.bottom, net.lane);
}

/**
 * A chain's last value goes straight on as a lane where nothing else is below it.
 * @param {number} v
 */
function extend(block, level, layering, v) {
  for (const k of level.outs[v]) {
    if (!level.nets[k].lane || level.nets[k].block >= 0) continue;
    addLane(block, level, layering, k);
    return;
  }
}

/** Pairs each item with the one below it that goes on furthest, and each with the operand that comes from furthest. */
function link(level, { layer }, sorted, { preds, succs }) {
  const n = level.items.length;
  const up = new Int32Array(n).fill(-1),
    down = new Int32Array(n).fill(-1),
    via = new Int32Array(n).fill(-1);
  const depth = new Int32Array(n),
    above = new Int32Array(n);
  for (let i = n - 1; i >= 0; i--)
    for (const t of succs[sorted[i]]) depth[sorted[i]] = Math.max(depth[sorted[i]], depth[t] + 1);
  for (const v of sorted) for (const u of preds[v]) above[v] = Math.max(above[v], above[u] + 1);
  const last = new Int32Array(n);
  for (let u = 0; u < n; u++) for (const t of succs[u]) last[u] = Math.max(last[u], layer[t]);
  /** @param {number} u */
  const fits = (u, v) =>
    layer[v] === layer[u] + 1 || (layer[v] === last[u] && layer[v] - layer[u] <= MAX_SPAN);
  /** @param {number} u */
  const join = (u, v) => {
    down[u] = v;
    up[v] = u;
    if (layer[v] > layer[u] + 1) via[v] = level.outs[u].find((k) => level.nets[k].at.has(v));
  };
  const wish = sorted.map(() => -1);
  for (let u = 0; u < n; u++) {
    for (const t of succs[u]) if (fits(u, t) && (wish[u] < 0 || depth[t] > depth[wish[u]])) wish[u] = t;
  }
  for (const v of sorted) {
    let best = -1;
    for (const u of preds[v]) if (wish[u] === v && (best < 0 || above[u] > above[best])) best = u;
    if (best >= 0) join(best, v);
  }
  for (const v of sorted) {
    if (up[v] >= 0) continue;
    const u = preds[v].find((w) => down[w] < 0 && fits(w, v));
    if (u !== undefined) join(u, v);
  }
  return { up, down, via };
}

/** Gives lanes to the nets that need one, the shortest first, until the drawing would fill with them. */
function layLanes(level, layering, { via, up }) {
  const { layer } = layering;
  const beside = new Uint16Array(layering.count);
  const inChain = new Set();
  via.forEach((k, v) => k >= 0 && up[v] >= 0 && inChain.add(k));
  const wanting = [];
  level.nets.forEach((net, k) => {
    Object.assign(net, { lane: 0, block: -1, stub: net.back.slice() });
    let far = 0;
    for (const [i, t] of net.to.entries()) {
      if (net.back[i]) continue;
      const span = layer[t] - layer[net.from];
      if (span > MAX_SPAN) net.stub[i] = true;
      else if (span > 1) far = Math.max(far, layer[t] - 1);
    }
    if (far) wanting.push([inChain.has(k) ? -1 : far - layer[net.from], k, far]);
  });
  wanting.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  for (const [span, k, far] of wanting) {
    const net = level.nets[k],
      first = layer[net.from] + 1;
    let fits = true;
    for (let l = first; l <= far && fits && span >= 0; l++) fits = beside[l] < MAX_BESIDE;
    if (!fits) {
      net.to.forEach((t, i) => (net.stub[i] ||= layer[t] > first));
      continue;
    }
    for (let l = first; l <= far; l++) beside[l]++;
    net.lane = far;
  }
}

/** Hangs every block on a neighbour that is nearer to the spine of its component. Returns the roots. */
export function hang(level, { blocks, of, up }) {
  const near = blocks.map(() => new Set());
  const meet = (a, b) => {
    if (a < 0 || b < 0 || a === b) return;
    near[a].add(b);
    near[b].add(a);
  };
  for (const net of level.nets) {
    const from = of[net.from];
    meet(from, net.block);
    for (const [i, t] of net.to.entries()) if (!net.stub[i]) meet(net.block >= 0 ? net.block : from, of[t]);
  }
  const bySize = blocks
    .map((b) => b.id)
    .sort((a, b) => blocks[b].items.length - blocks[a].items.length || a - b);
  const seen = new Uint8Array(blocks.length),
    roots = [],
    inOrder = [];
  for (const root of bySize) {
    if (seen[root]) continue;
    roots.push(blocks[root]);
    seen[root] = 1;
    for (let queue = [root], q = 0; q < queue.length; q++) {
      const b = queue[q];
      inOrder.push(b);
      for (const c of near[b]) {
        if (seen[c]) continue;
        seen[c] = 1;
        blocks[c].parent = b;
        blocks[c].side = sideOf(level, blocks, of, up, blocks[c], blocks[b]);
        blocks[b].children.push(blocks[c]);
        queue.push(c);
      }
    }
  }
  for (const block of blocks) Object.assign(block, { from: block.top, to: block.bottom });
  for (const b of inOrder.reverse()) {
    const p = blocks[blocks[b].parent];
    if (p) Object.assign(p, { from: Math.min(p.from, blocks[b].from), to: Math.max(p.to, blocks[b].to) });
  }
  return roots.sort((a, b) => (a.items[0] ?? 0) - (b.items[0] ?? 0));
}

/** Left when the block arrives as an earlier operand than its parent's own, right otherwise. */
function sideOf(level, blocks, of, up, block, parent) {
  const sources = block.nets.length ? block.nets : block.items.length ? level.outs[block.items.at(-1)] : [];
  for (const k of sources) {
    for (const t of level.nets[k].to) {
      if (of[t] !== parent.id || up[t] < 0) continue;
      const place = (u) => level.ins[t].findIndex((j) => level.nets[j].from === u);
      return level.ins[t].indexOf(k) < place(up[t]) ? -1 : 1;
    }
  }
  return level.kind[block.items[0]] === ITEM && parent.side ? parent.side : 1;
}
