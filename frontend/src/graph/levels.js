// From nodes, edges and nested groups to one small graph a level.
//
// A level is the inside of one open group (or of the whole graph). Its items are the leaves and groups that are seen directly in it. An edge that
// crosses the border of a group passes through a port, one a source, so that a value used five times in a block enters the block once.

import { LATER } from "../core/later.js";
/** @import { Key, Level, Spec, SpecInput } from "./types.js" */

export const ITEM = 0,
  PORT_IN = 1,
  PORT_OUT = 2;

/**
 * What `layout` draws from: sizes in pixels, `edges` flat [from, to, …] in the order of the operands of each `to`.
 * @param {SpecInput} input
 * @returns {Spec}
 */
export function makeSpec({
  count,
  edges = [],
  width = null,
  height = null,
  group = null,
  parents = [],
  folded = null,
  hidden = null,
  keys = null,
  groupKeys = null,
  foldedWidth = null,
  foldedHeight = null,
}) {
  return {
    count,
    edges,
    width: width ?? new Float32Array(count).fill(80),
    height: height ?? new Float32Array(count).fill(28),
    group: group ?? new Int32Array(count).fill(-1),
    parents: soundParents(parents),
    folded: folded ?? new Uint8Array(parents.length),
    hidden: hidden ?? new Uint8Array(count),
    keys: (i) => (keys ? keys[i] : i),
    groupKeys: (g) => `g${groupKeys ? groupKeys[g] : g}`,
    foldedWidth: foldedWidth ?? new Float32Array(parents.length).fill(120),
    foldedHeight: foldedHeight ?? new Float32Array(parents.length).fill(34),
  };
}

/**
 * A group whose parents run in a circle, or point nowhere, stands at the top.
 * @param {number[]} parents
 */
export function soundParents(parents) {
  const sound = Int32Array.from(parents, (p) => (p >= 0 && p < parents.length ? p : -1));
  const state = new Uint8Array(parents.length);
  for (let start = 0; start < sound.length; start++) {
    const walk = [];
    for (let g = start; g >= 0 && state[g] !== 2; g = sound[g]) {
      if (state[g] === 1) {
        sound[g] = -1;
        break;
      }
      state[g] = 1;
      walk.push(g);
    }
    for (const g of walk) state[g] = 2;
  }
  return sound;
}

/**
 * For every node the item that stands for it: itself, the outermost folded group that holds it (`count + g`), or -1 when it is hidden.
 * @param {Spec} spec
 */
export function representatives(spec) {
  const { count, parents, folded, group, hidden } = spec;
  const byGroup = new Int32Array(parents.length).fill(-2);
  /** @param {number} g */
  const of = (g) => {
    /** @type {number[]} */
    const walk = [];
    while (g >= 0 && byGroup[g] === -2) {
      walk.push(g);
      g = parents[g];
    }
    let rep = g >= 0 ? byGroup[g] : -1;
    for (const h of walk.reverse()) byGroup[h] = rep = rep >= 0 ? rep : folded[h] ? count + h : -1;
    return rep;
  };
  return Int32Array.from({ length: count }, (_, i) => {
    if (hidden[i]) return -1;
    const rep = group[i] >= 0 ? of(group[i]) : -1;
    return rep >= 0 ? rep : i;
  });
}

/**
 * @param {number} group
 * @param {number} depth
 * @returns {Level}
 */
function newLevel(group, depth) {
  return {
    group,
    depth,
    items: [],
    kind: [],
    local: new Map(),
    nets: [],
    netOf: new Map(),
    ins: [],
    outs: [],
    left: LATER,
    right: LATER,
    height: LATER,
    refs: LATER,
  };
}

/**
 * @param {Level} level
 * @param {Key} ref
 * @param {number} item
 * @param {number} kind
 */
function addLocal(level, ref, item, kind) {
  const id = level.items.length;
  level.local.set(ref, id);
  level.items.push(item);
  level.kind.push(kind);
  level.ins.push([]);
  level.outs.push([]);
  return id;
}

/**
 * Levels, parents before children, and `home`: the group in which each item is seen directly (-1: the root).
 * @param {Spec} spec
 */
export function buildLevels(spec) {
  const { count, parents } = spec;
  const rep = representatives(spec);
  const home = new Int32Array(count + parents.length).fill(-1);
  const byGroup = new Map([[-1, newLevel(-1, 0)]]);
  const seen = new Uint8Array(count + parents.length);
  /**
   * @param {number} g
   * @returns {Level}
   */
  const level = (g) => {
    const there = byGroup.get(g);
    if (there) return there;
    const added = newLevel(g, level(parents[g]).depth + 1);
    byGroup.set(g, added);
    return added;
  };
  for (const i of computedFirst(spec)) {
    for (let item = rep[i]; item >= 0 && !seen[item];) {
      seen[item] = 1;
      const inside = item < count ? spec.group[item] : parents[item - count];
      home[item] = inside;
      addLocal(level(inside), item, item, ITEM);
      item = inside >= 0 ? count + inside : -1;
    }
  }
  connect(spec, rep, home, byGroup);
  const levels = [...byGroup.values()].sort((a, b) => a.depth - b.depth || a.group - b.group);
  return { levels, byGroup, home, rep };
}

/**
 * Program order, but what nothing computes comes last: the order of blocks is not that in which their weights are declared.
 * @param {Spec} spec
 */
function computedFirst({ count, edges }) {
  const computed = new Uint8Array(count);
  for (let k = 1; k < edges.length; k += 2) computed[edges[k]] = 1;
  const all = Array.from({ length: count }, (_, i) => i);
  return [...all.filter((i) => computed[i]), ...all.filter((i) => !computed[i])];
}

/**
 * @param {Spec} spec
 * @param {Int32Array} rep
 * @param {Int32Array} home
 * @param {Map<number, Level>} byGroup
 */
function connect(spec, rep, home, byGroup) {
  const { count, edges } = spec;
  const total = count + spec.parents.length;
  const seen = new Set();
  for (let k = 0; k + 1 < edges.length; k += 2) {
    const s = rep[edges[k]],
      t = rep[edges[k + 1]];
    if (s === undefined || t === undefined || s < 0 || t < 0 || s === t) continue;
    const key = s * total + t;
    if (seen.has(key)) continue;
    seen.add(key);
    for (const [g, from, to] of route(s, t, count, home, byGroup)) branch(levelOf(byGroup, g), s, from, to);
  }
}

/**
 * The pieces of an edge, one a level: [group, from item or -1 for the port, to item or -1 for the port].
 * @param {number} s
 * @param {number} t
 * @param {number} count
 * @param {Int32Array} home
 * @param {Map<number, Level>} byGroup
 */
export function route(s, t, count, home, byGroup) {
  /** @type {[number, number, number][]} */
  const up = [];
  /** @type {[number, number, number][]} */
  const down = [];
  let a = s,
    b = t;
  while (home[a] !== home[b]) {
    if (levelOf(byGroup, home[a]).depth >= levelOf(byGroup, home[b]).depth) {
      up.push([home[a], a, -1]);
      a = count + home[a];
    } else {
      down.push([home[b], -1, b]);
      b = count + home[b];
    }
  }
  if (a !== b) up.push([home[a], a, b]);
  return up.concat(down.reverse());
}

/**
 * @param {Map<number, Level>} byGroup
 * @param {number} group
 */
const levelOf = (byGroup, group) => /** @type {Level} */ (byGroup.get(group));

/**
 * @param {Level} level
 * @param {number} item
 */
const placeOf = (level, item) => /** @type {number} */ (level.local.get(item));

/**
 * @param {Level} level
 * @param {number} source
 * @param {number} from
 * @param {number} to
 */
function branch(level, source, from, to) {
  /**
   * @param {Key} ref
   * @param {number} kind
   */
  const port = (ref, kind) => level.local.get(ref) ?? addLocal(level, ref, source, kind);
  const f = from >= 0 ? placeOf(level, from) : port(`in${source}`, PORT_IN);
  const t = to >= 0 ? placeOf(level, to) : port(`out${source}`, PORT_OUT);
  let net = level.netOf.get(source);
  if (net === undefined) {
    net = level.nets.length;
    level.nets.push({ source, from: f, to: [], at: new Map(), back: [] });
    level.netOf.set(source, net);
    level.outs[f].push(net);
  }
  const targets = level.nets[net];
  if (targets.at.has(t)) return;
  targets.at.set(t, targets.to.length);
  targets.to.push(t);
  level.ins[t].push(net);
}
