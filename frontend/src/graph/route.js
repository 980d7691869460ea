// The course of every edge through its level. A path is a list of points; between two that share an x it is a line, otherwise a curve that leaves and
// arrives vertically. So a straight chain needs no drawing care, and a lane is entered and left in the space between two layers.

import { PORT_IN, PORT_OUT } from "./levels.js";

/** Adds to `paths` {level, source, from, to, points, lane} and to `stubs` {source, to, x, y, tx, ty}, all in absolute places.
 * `to` is the item reached, or -1 for the border of the level. */
export function routeLevel(level, paths, stubs) {
  const arrive = arrivals(level);
  for (const [k, net] of level.nets.entries()) {
    for (const [i, t] of net.to.entries()) {
      const to = level.kind[t] === PORT_OUT ? -1 : level.items[t];
      const piece = {
        level: level.group,
        source: net.source,
        from: level.kind[net.from] === PORT_IN ? -1 : level.items[net.from],
        to,
      };
      const tx = level.ox + arrive(t, k),
        ty = level.oy + level.tops[level.layering.layer[t]];
      const start = departure(level, net, k, t);
      if (net.stub[i])
        stubs.push({ ...piece, x: level.ox + start.x, y: level.oy + start.y, tx, ty, back: net.back[i] });
      else paths.push({ ...piece, ...course(level, net, k, t, start, tx, ty) });
    }
  }
}

function course(level, net, k, t, start, tx, ty) {
  const { layer } = level.layering,
    { ox, oy, tops, bottoms } = level;
  const lf = layer[net.from],
    lt = layer[t];
  const points = [ox + start.x, oy + start.y];
  const go = (x, y) => {
    if (points.at(-1) === y && points.at(-2) === x) return;
    points.push(x, y);
  };
  go(ox + start.x, oy + bottoms[lf]);
  const lane = lt > lf + 1 && net.lane;
  if (lane) {
    go(ox + level.lanes[k], oy + tops[lf + 1]);
    go(ox + level.lanes[k], oy + bottoms[lt - 1]);
  }
  if (level.kind[t] === PORT_OUT) go(tx, oy + level.boxHeight);
  else go(tx, ty);
  return { points, lane: Boolean(lane) };
}

/** Where a value leaves: below the middle, or, where the chain goes on there, beside it towards its lane. From a box: at the value's port. */
function departure(level, net, k, t) {
  const v = net.from,
    l = level.layering.layer[v];
  if (level.kind[v] === PORT_IN) return { x: level.x[v], y: 0 };
  const inner = level.inner[v],
    y = level.tops[l] + level.height[v];
  if (inner) return { x: level.x[v] + inner.x[inner.local.get(`out${net.source}`)], y };
  if (net.stub[net.at.get(t)]) return { x: level.x[v] + Math.min(9, level.right[v] / 2), y };
  const lane = level.layering.layer[t] > l + 1 && net.lane ? level.lanes[k] : NaN;
  const aside =
    Number.isNaN(lane) || Math.abs(lane - level.x[v]) < 1
      ? 0
      : Math.sign(lane - level.x[v]) * Math.min(9, level.right[v] / 2);
  return { x: level.x[v] + aside, y };
}

/** At which x net k arrives at item t: the aligned operand in the middle, the others on the side they come from, in that order. */
function arrivals(level) {
  const places = new Map();
  const { layer } = level.layering;
  const approach = (k, t) =>
    level.nets[k].stub[level.nets[k].at.get(t)]
      ? Infinity
      : layer[t] > layer[level.nets[k].from] + 1 && level.nets[k].lane
        ? level.lanes[k]
        : leaving(level, level.nets[k]);
  const spread = (t) => {
    const nets = level.ins[t].map((k) => [approach(k, t) - level.x[t], k]).sort((a, b) => a[0] - b[0]);
    const left = nets.filter(([x]) => x < -0.5),
      right = nets.filter(([x]) => x > 0.5);
    const step = (side, half) => Math.min(11, (half - 6) / Math.max(1, side.length));
    const place = new Map(nets.map(([, k]) => [k, 0]));
    const alone = nets.length === 1;
    left.reverse().forEach(([, k], i) => alone || place.set(k, -(i + 1) * step(left, level.left[t])));
    right.forEach(([, k], i) => alone || place.set(k, (i + 1) * step(right, level.right[t])));
    return place;
  };
  return (t, k) => {
    if (level.kind[t] === PORT_OUT) return level.x[t];
    const inner = level.inner[t];
    if (inner) return level.x[t] + inner.x[inner.local.get(`in${level.nets[k].source}`)];
    if (!places.has(t)) places.set(t, spread(t));
    return level.x[t] + places.get(t).get(k);
  };
}

function leaving(level, net) {
  const inner = level.inner[net.from];
  return level.x[net.from] + (inner ? inner.x[inner.local.get(`out${net.source}`)] : 0);
}
