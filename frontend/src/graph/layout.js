// The layered layout: deterministic, near linear, the same picture for the same graph.
//
// Stability before crossings, as SpiderMonkey's iongraph argues: layers follow the program, chains are straight, and what a change does not touch stays
// where it was. Every open group is laid out by itself and then stands in its parent as one box; so folding one moves what is below it and nothing else.

import { adjacency, freshLayers, keptLayers, order } from "./layers.js";
import { hang, makeBlocks } from "./blocks.js";
import { ITEM, PORT_OUT, buildLevels, makeSpec, route } from "./levels.js";
import { placeFresh, placeKept } from "./place.js";
import { routeLevel } from "./route.js";

export { makeSpec };

const PAD = 12,
  HEADER = 24,
  SHELF = 900;
const STRAIGHT_GAP = 18,
  BENT_GAP = 28; // between two layers, where every edge goes straight down and where some do not
const MUCH_NEW = 0.4; // of a level's items: above it, the old places say too little

/** Lays a graph out from nothing. See `makeSpec` for the input; the result has absolute places:
 * `x` (centre), `y` (top) for nodes (NaN: not shown), `boxes` for groups, `paths` for edges, and the bounds `left`, `width`, `height` (the top is 0). */
export function layout(input) {
  return relayout(null, input);
}

/**
 * Lays a graph out so that what `previous` (a layout) already showed stays where it was. Items are the same when their keys are.
 * @param {any} previous
 */
export function relayout(previous, input) {
  const spec = makeSpec(input);
  const built = buildLevels(spec);
  for (const level of built.levels) prepare(level, spec);
  for (const level of [...built.levels].reverse()) {
    arrange(level, spec, built, previous?.memory.get(levelKey(level, spec)));
  }
  return absolute(spec, built);
}

const levelKey = (level, spec) => (level.group < 0 ? "" : spec.groupKeys(level.group));

function prepare(level, spec) {
  const { count } = spec;
  const key = (item) => (item < count ? spec.keys(item) : spec.groupKeys(item - count));
  level.refs = level.items.map((item, v) =>
    level.kind[v] === ITEM ? key(item) : `${level.kind[v] === PORT_OUT ? "out" : "in"}:${key(item)}`,
  );
  level.netRefs = level.nets.map((net) => key(net.source));
  const n = level.items.length;
  level.left = new Float64Array(n).fill(3);
  level.right = new Float64Array(n).fill(3);
  level.height = new Float64Array(n);
  level.inner = new Array(n).fill(null);
  level.items.forEach((item, v) => {
    if (level.kind[v] !== ITEM) return;
    const w = item < count ? spec.width[item] : spec.foldedWidth[item - count];
    level.left[v] = level.right[v] = w / 2;
    level.height[v] = item < count ? spec.height[item] : spec.foldedHeight[item - count];
  });
}

function arrange(level, spec, built, memory) {
  const sorted = order(level),
    adj = adjacency(level);
  const known = memory
    ? level.refs.filter((ref, v) => level.kind[v] === ITEM && memory.items.has(ref)).length
    : 0;
  const items = level.kind.filter((k) => k === ITEM).length;
  const kept = memory && known >= items * (1 - MUCH_NEW) ? memory : null;
  const layering = kept ? keptLayers(level, sorted, adj, kept) : freshLayers(level, sorted, adj, SHELF);
  const made = makeBlocks(level, layering, sorted, adj);
  const place = kept ? placeKept(level, layering, made, kept) : fresh(level, layering, made);
  Object.assign(level, { layering, ...place });
  stack(level, kept);
  if (level.group >= 0) putIntoParent(level, spec, built);
}

function fresh(level, layering, made) {
  placeFresh(hang(level, made), layering.count);
  return {
    x: Float64Array.from(level.items, (_, v) => made.blocks[made.of[v]].x),
    lanes: Float64Array.from(level.nets, (net) => (net.lane ? made.blocks[net.block].x : NaN)),
  };
}

/** The heights of the layers, and the box of the level; inside it, x = 0 is the spine and y = 0 the top border. */
function stack(level, kept) {
  const { layer, count, heights } = level.layering;
  let left = 0,
    right = 0;
  level.items.forEach((_, v) => {
    heights[layer[v]] = Math.max(heights[layer[v]], level.height[v]);
    left = Math.max(left, level.left[v] - level.x[v]);
    right = Math.max(right, level.right[v] + level.x[v]);
  });
  for (const x of level.lanes) {
    if (Number.isNaN(x)) continue;
    left = Math.max(left, -x + 6);
    right = Math.max(right, x + 6);
  }
  const open = level.group >= 0,
    gaps = gapsOf(level, kept);
  const tops = new Float64Array(count),
    bottoms = new Float64Array(count);
  let y = open ? HEADER : 0;
  for (let l = 1; l < count - 1; l++) {
    tops[l] = l === 1 ? y + (open ? PAD : 0) : y;
    bottoms[l] = tops[l] + heights[l];
    y = bottoms[l] + gaps[l];
  }
  tops[0] = bottoms[0] = open ? HEADER - 4 : 0;
  const end = count > 2 ? bottoms[count - 2] : y;
  tops[count - 1] = bottoms[count - 1] = open ? end + PAD - 2 : end;
  Object.assign(level, {
    tops,
    bottoms,
    gaps,
    boxLeft: left + (open ? PAD : 0),
    boxRight: right + (open ? PAD : 0),
    boxHeight: open ? end + PAD : end,
  });
}

/** The space below each layer; an old layer keeps what it had. */
function gapsOf(level, kept) {
  const { layer, count, old } = level.layering,
    gaps = new Float64Array(count).fill(STRAIGHT_GAP);
  /** @param {number} l */
  const bend = (l, a, b) => Math.abs(a - b) > 1 && (gaps[l] = BENT_GAP);
  for (const [k, net] of level.nets.entries()) {
    const from = level.x[net.from],
      l = layer[net.from],
      lane = net.lane ? level.lanes[k] : NaN;
    for (const t of net.to) {
      if (layer[t] === l + 1) bend(l, from, level.x[t]);
      else if (net.lane && layer[t] > l) {
        bend(l, from, lane);
        bend(layer[t] - 1, lane, level.x[t]);
      }
    }
  }
  if (kept) gaps.forEach((_, l) => old[l] > 0 && (gaps[l] = kept.gaps[old[l]]));
  return gaps;
}

function putIntoParent(level, spec, built) {
  const item = spec.count + level.group;
  const parent = built.byGroup.get(built.home[item]),
    v = parent.local.get(item);
  parent.left[v] = level.boxLeft;
  parent.right[v] = level.boxRight;
  parent.height[v] = level.boxHeight;
  parent.inner[v] = level;
}

function absolute(spec, built) {
  const { count, parents } = spec;
  const x = new Float64Array(count).fill(NaN),
    y = new Float64Array(count).fill(NaN);
  const boxes = new Array(parents.length).fill(null);
  const paths = [],
    stubs = [],
    memory = new Map();
  for (const level of built.levels) {
    if (level.group < 0) Object.assign(level, { ox: 0, oy: 0 });
    routeLevel(level, paths, stubs);
    level.items.forEach((item, v) => {
      if (level.kind[v] !== ITEM) return;
      const cx = level.ox + level.x[v],
        top = level.oy + level.tops[level.layering.layer[v]];
      if (item < count) {
        x[item] = cx;
        y[item] = top;
        return;
      }
      const inner = level.inner[v];
      boxes[item - count] = {
        x: cx - level.left[v],
        y: top,
        w: level.left[v] + level.right[v],
        h: level.height[v],
        open: Boolean(inner),
        cx,
      };
      if (inner) Object.assign(inner, { ox: cx, oy: top });
    });
    memory.set(levelKey(level, spec), remember(level));
  }
  const root = built.byGroup.get(-1);
  return {
    x,
    y,
    boxes,
    paths,
    stubs,
    memory,
    rep: built.rep,
    spec,
    left: -root.boxLeft,
    width: root.boxLeft + root.boxRight,
    height: root.boxHeight,
    pathsOf: lookup(spec, built, paths),
  };
}

/** What a later layout needs to keep things in place. */
function remember(level) {
  const items = new Map();
  level.refs.forEach((ref, v) =>
    level.kind[v] === ITEM || level.group >= 0
      ? items.set(ref, { layer: level.layering.layer[v], x: level.x[v] })
      : null,
  );
  const lanes = new Map();
  level.lanes.forEach((x, k) => Number.isNaN(x) || lanes.set(level.netRefs[k], x));
  return { items, lanes, heights: level.layering.heights, gaps: level.gaps };
}

/** `pathsOf(from, to)`: the pieces that draw the edge between two shown items, one a level it crosses. */
function lookup(spec, built, paths) {
  let byKey = null;
  return (from, to) => {
    if (!byKey) byKey = new Map(paths.map((p, i) => [`${p.level} ${p.source} ${p.to}`, i]));
    return route(from, to, spec.count, built.home, built.byGroup)
      .map(([g, , b]) => byKey.get(`${g} ${from} ${b}`))
      .filter((i) => i !== undefined);
  };
}
