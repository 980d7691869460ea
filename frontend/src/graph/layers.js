// Which layer each item stands in. Layer 0 holds the ports by which values enter, the last one those by which they leave.

import { ITEM, PORT_IN, PORT_OUT } from "./levels.js";
/** @import { Adjacency, Layering, Level, PreviousLevel } from "./types.js" */

const SUB = 65536; // room for the layers that a change inserts between two old ones

/**
 * Items so that every edge that is not marked `back` goes from earlier to later. Program order where it serves; a cycle is cut at its first item.
 * @param {Level} level
 */
export function order(level) {
  const n = level.items.length;
  for (const net of level.nets) net.back = net.to.map(() => false);
  const waiting = new Int32Array(n);
  level.ins.forEach((nets, v) => (waiting[v] = nets.length));
  /** @type {number[]} */
  const sorted = [];
  const done = new Uint8Array(n),
    ready = new MinHeap();
  /** @param {number} v */
  const rank = (v) => (level.kind[v] === PORT_IN ? v - n : level.kind[v] === PORT_OUT ? v + n : v);
  for (let v = 0; v < n; v++) if (!waiting[v]) ready.push(rank(v), v);
  let next = 0;
  while (sorted.length < n) {
    let v = ready.pop();
    if (v === undefined) {
      while (done[next]) next++;
      v = next;
      cut(level, v, done);
    }
    if (done[v]) continue;
    done[v] = 1;
    sorted.push(v);
    for (const k of level.outs[v]) {
      for (const t of level.nets[k].to) if (--waiting[t] === 0 && !done[t]) ready.push(rank(t), t);
    }
  }
  return sorted;
}

/**
 * @param {Level} level
 * @param {number} v
 * @param {Uint8Array} done
 */
function cut(level, v, done) {
  for (const k of level.ins[v]) {
    const net = level.nets[k];
    if (!done[net.from]) net.back[/** @type {number} */ (net.at.get(v))] = true;
  }
}

/**
 * The operands and users of each item, cut edges left out.
 * @param {Level} level
 * @returns {Adjacency}
 */
export function adjacency(level) {
  /** @type {number[][]} */
  const preds = level.items.map(() => []);
  /** @type {number[][]} */
  const succs = level.items.map(() => []);
  for (const net of level.nets) {
    net.to.forEach((t, i) => {
      if (!net.back[i]) succs[net.from].push(t);
    });
  }
  level.ins.forEach((nets, v) => {
    for (const k of nets) {
      const { at, back, from } = level.nets[k];
      if (!back[/** @type {number} */ (at.get(v))]) preds[v].push(from);
    }
  });
  return { preds, succs };
}

/**
 * Longest path from the top; then what depends on nothing (a constant, and a chain made of it alone) sinks to just above its first use.
 * @param {Level} level
 * @param {number[]} sorted
 * @param {Adjacency} adjacency
 * @param {number} shelfWidth
 * @returns {Layering}
 */
export function freshLayers(level, sorted, { preds, succs }, shelfWidth) {
  const layer = new Int32Array(level.items.length),
    movable = new Uint8Array(level.items.length);
  let deepest = 0;
  for (const v of sorted) {
    if (level.kind[v] !== ITEM) continue;
    layer[v] = 1;
    movable[v] = 1;
    for (const u of preds[v]) {
      layer[v] = Math.max(layer[v], layer[u] + 1);
      if (!movable[u] || succs[u].length > 1) movable[v] = 0;
    }
    deepest = Math.max(deepest, layer[v]);
  }
  deepest = shelve(level, layer, preds, succs, deepest, shelfWidth);
  for (let i = sorted.length - 1; i >= 0; i--) {
    const v = sorted[i];
    if (!movable[v] || !succs[v].length) continue;
    let first = Infinity;
    for (const t of succs[v]) first = Math.min(first, level.kind[t] === PORT_OUT ? deepest + 1 : layer[t]);
    layer[v] = Math.max(layer[v], first - 1);
  }
  level.kind.forEach((kind, v) => kind === PORT_OUT && (layer[v] = deepest + 1));
  return { layer, count: deepest + 2, heights: new Float64Array(deepest + 2) };
}

/**
 * Items that nothing connects (the functions of a module) are set in rows, like words in a paragraph.
 * @param {Level} level
 * @param {Int32Array} layer
 * @param {number[][]} preds
 * @param {number[][]} succs
 * @param {number} deepest
 * @param {number} shelfWidth
 */
function shelve(level, layer, preds, succs, deepest, shelfWidth) {
  const loose = [...level.items.keys()].filter(
    (v) => level.kind[v] === ITEM && !preds[v].length && !succs[v].length,
  );
  if (loose.length < 2) return deepest;
  const area = loose.reduce((sum, v) => sum + (level.left[v] + level.right[v]) * level.height[v], 0);
  const widest = Math.max(shelfWidth, Math.sqrt(area * 1.6));
  let row = deepest > 0 && loose.length < level.items.length ? deepest + 1 : 1,
    x = 0;
  for (const v of loose) {
    const w = level.left[v] + level.right[v];
    if (x > 0 && x + w > widest) {
      row++;
      x = 0;
    }
    layer[v] = row;
    x += w;
  }
  return Math.max(deepest, row);
}

/**
 * Layers that keep every known item in the layer it had; new layers open between old ones, and a few that emptied stay.
 * @param {Level} level
 * @param {number[]} sorted
 * @param {Adjacency} adjacency
 * @param {PreviousLevel} previous
 * @returns {Layering}
 */
export function keptLayers(level, sorted, { preds, succs }, previous) {
  const n = level.items.length;
  const pos = new Float64Array(n),
    old = level.refs.map((ref) => previous.items.get(ref));
  for (const v of sorted) {
    if (level.kind[v] !== ITEM) continue;
    let above = 0,
      below = Infinity;
    for (const u of preds[v]) above = Math.max(above, pos[u]);
    for (const t of succs[v]) {
      const was = old[t];
      if (level.kind[t] === ITEM && was) below = Math.min(below, was.layer);
    }
    const open = Math.floor(above / SUB) + 1;
    const was = old[v];
    if (was) pos[v] = was.layer * SUB > above ? was.layer * SUB : above + 1;
    else if (!preds[v].length && below < Infinity) pos[v] = below > 1 ? (below - 1) * SUB : SUB / 2;
    else pos[v] = open < below ? open * SUB : above + 1;
  }
  const used = new Set();
  for (const v of sorted) if (level.kind[v] === ITEM) used.add(pos[v]);
  const empty = [];
  for (let l = 1; l < previous.heights.length - 1; l++) if (!used.has(l * SUB)) empty.push(l * SUB);
  if (empty.length <= Math.max(2, previous.heights.length * 0.15)) for (const p of empty) used.add(p);
  const ranks = new Map([...used].sort((a, b) => a - b).map((p, i) => [p, i + 1]));
  const count = ranks.size + 2;
  const heights = new Float64Array(count);
  for (const p of empty.filter((at) => ranks.has(at)))
    heights[/** @type {number} */ (ranks.get(p))] = previous.heights[p / SUB];
  const from = new Int32Array(count).fill(-1);
  for (const [p, l] of ranks) if (p % SUB === 0 && p / SUB < previous.heights.length) from[l] = p / SUB;
  const layer = Int32Array.from(pos, (p, v) =>
    level.kind[v] === PORT_IN
      ? 0
      : level.kind[v] === PORT_OUT
        ? count - 1
        : /** @type {number} */ (ranks.get(p)),
  );
  return { layer, count, heights, old: from };
}

/** A binary heap of (priority, value). */
class MinHeap {
  /** @type {number[]} */
  #p = [];
  /** @type {number[]} */
  #v = [];

  /**
   * @param {number} priority
   * @param {number} value
   */
  push(priority, value) {
    const p = this.#p,
      v = this.#v;
    let i = p.length;
    p.push(priority);
    v.push(value);
    while (i > 0) {
      const up = (i - 1) >> 1;
      if (p[up] <= priority) break;
      p[i] = p[up];
      v[i] = v[up];
      i = up;
    }
    p[i] = priority;
    v[i] = value;
  }

  pop() {
    const p = this.#p,
      v = this.#v;
    if (!p.length) return undefined;
    const top = v[0],
      priority = /** @type {number} */ (p.pop()),
      value = /** @type {number} */ (v.pop());
    const n = p.length;
    if (!n) return top;
    let i = 0;
    for (;;) {
      let c = 2 * i + 1;
      if (c >= n) break;
      if (c + 1 < n && p[c + 1] < p[c]) c++;
      if (p[c] >= priority) break;
      p[i] = p[c];
      v[i] = v[c];
      i = c;
    }
    p[i] = priority;
    v[i] = value;
    return top;
  }
}
