// Properties of the layout, on graphs drawn at random (with a fixed seed) and on the fixtures.
import assert from "node:assert/strict";
import { test } from "node:test";
import { layout, relayout } from "../src/graph/layout.js";
import { noise, random, synthetic } from "./fixtures/graphs.js";

const WIDTHS = [40, 64, 90, 130];

/** A random graph with nested groups that are runs of the program, some folded. */
function grouped(seed) {
  const rnd = random(seed),
    count = 5 + Math.floor(rnd() * 60);
  const { edges } = seed % 2 ? noise(count, seed) : synthetic(count, seed);
  const group = new Int32Array(count).fill(-1),
    parents = [];
  for (let i = 0; i < count;) {
    const size = 2 + Math.floor(rnd() * 9);
    if (rnd() < 0.5) {
      const g = parents.push(-1) - 1,
        inner = rnd() < 0.5 ? parents.push(g) - 1 : g;
      for (let k = i; k < Math.min(count, i + size); k++) group[k] = k > i + size / 2 ? inner : g;
    }
    i += size;
  }
  const width = Float32Array.from({ length: count }, (_, i) => WIDTHS[(i * 7 + seed) % 4]);
  const folded = Uint8Array.from(parents, () => (rnd() < 0.3 ? 1 : 0));
  return {
    count,
    edges,
    group,
    parents,
    folded,
    width,
    keys: Array.from({ length: count }, (_, i) => `n${i}`),
  };
}

/** Every shown box: leaves and groups, with the group that holds it. */
function shown(l) {
  const { count, width, height, group, parents } = l.spec;
  const out = [];
  for (let i = 0; i < count; i++)
    if (!Number.isNaN(l.x[i]))
      out.push({ id: i, x: l.x[i] - width[i] / 2, y: l.y[i], w: width[i], h: height[i], inside: group[i] });
  l.boxes.forEach((b, g) => b && out.push({ id: count + g, ...b, inside: parents[g] }));
  return out;
}

function assertSound(l) {
  const all = shown(l);
  for (const a of all) {
    for (const b of all) {
      if (a.id >= b.id || a.inside !== b.inside) continue;
      const apart =
        a.x + a.w <= b.x + 1e-6 ||
        b.x + b.w <= a.x + 1e-6 ||
        a.y + a.h <= b.y + 1e-6 ||
        b.y + b.h <= a.y + 1e-6;
      assert.ok(apart, `${a.id} and ${b.id} overlap`);
    }
    if (a.inside < 0) continue;
    const g = l.boxes[a.inside];
    assert.ok(
      a.x >= g.x && a.x + a.w <= g.x + g.w && a.y >= g.y && a.y + a.h <= g.y + g.h,
      `${a.id} leaves its group`,
    );
  }
}

function assertEdgesPointDown(l, edges) {
  const top = (i) => (i < l.spec.count ? l.y[i] : l.boxes[i - l.spec.count].y);
  const bottom = (i) =>
    i < l.spec.count ? l.y[i] + l.spec.height[i] : l.boxes[i - l.spec.count].y + l.boxes[i - l.spec.count].h;
  const back = new Set(l.stubs.filter((s) => s.back).map((s) => s.source));
  let checked = 0;
  for (let k = 0; k < edges.length; k += 2) {
    const [s, t] = [l.rep[edges[k]], l.rep[edges[k + 1]]];
    if (s === t || s < 0 || t < 0 || back.has(s)) continue;
    assert.ok(bottom(s) < top(t), `${s} is not above ${t}`);
    checked++;
  }
  return checked;
}

test("no overlaps, groups hold what is theirs, edges point down", () => {
  let checked = 0;
  for (let seed = 1; seed <= 120; seed++) {
    const g = grouped(seed),
      l = layout(g);
    assertSound(l);
    checked += assertEdgesPointDown(l, g.edges);
  }
  assert.ok(checked > 2000);
});

test("paths go downwards and start and end at what they connect", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const l = layout(grouped(seed));
    const boxes = new Map(shown(l).map((b) => [b.id, b]));
    for (const { points, from, to } of l.paths) {
      for (let i = 3; i < points.length; i += 2) assert.ok(points[i] >= points[i - 2] - 1e-6);
      const a = boxes.get(from),
        b = boxes.get(to);
      if (a)
        assert.ok(
          Math.abs(points[1] - (a.y + a.h)) < 1e-6 &&
            points[0] >= a.x - 1e-6 &&
            points[0] <= a.x + a.w + 1e-6,
        );
      if (b)
        assert.ok(
          Math.abs(points.at(-1) - b.y) < 1e-6 &&
            points.at(-2) >= b.x - 1e-6 &&
            points.at(-2) <= b.x + b.w + 1e-6,
        );
    }
  }
});

test("every edge can be traced through the levels it crosses", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const g = grouped(seed),
      l = layout(g);
    const stubbed = new Set(l.stubs.map((s) => s.source));
    for (let k = 0; k < g.edges.length; k += 2) {
      const [s, t] = [l.rep[g.edges[k]], l.rep[g.edges[k + 1]]];
      if (s === t || stubbed.has(s)) continue;
      const pieces = l.pathsOf(s, t).map((i) => l.paths[i]);
      assert.ok(pieces.length > 0);
      assert.equal(pieces[0].from, s);
      assert.equal(pieces.at(-1).to, t);
    }
  }
});

test("the same graph gives the same picture", () => {
  for (const g of [grouped(5), synthetic(500), noise(500)]) {
    const [a, b] = [layout(g), layout(g)];
    assert.deepEqual([...a.x], [...b.x]);
    assert.deepEqual([...a.y], [...b.y]);
    assert.deepEqual(a.paths, b.paths);
  }
});

test("laying out again moves nothing", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const g = grouped(seed),
      a = layout(g),
      b = relayout(a, g);
    assert.deepEqual([...a.x], [...b.x]);
    assert.deepEqual([...a.y], [...b.y]);
  }
});

/** The graph without node `gone`: its users read what it read. */
function without(g, gone) {
  const from = [];
  for (let k = 0; k < g.edges.length; k += 2) if (g.edges[k + 1] === gone) from.push(g.edges[k]);
  const keep = (i) => (i > gone ? i - 1 : i);
  const edges = [];
  for (let k = 0; k < g.edges.length; k += 2) {
    const [s, t] = [g.edges[k], g.edges[k + 1]];
    if (t === gone) continue;
    for (const f of s === gone ? from : [s]) edges.push(keep(f), keep(t));
  }
  const drop = (list) => list.filter((_, i) => i !== gone);
  return { ...g, count: g.count - 1, edges, group: drop(g.group), width: drop(g.width), keys: drop(g.keys) };
}

/** Steps between nodes known to both, as [dx, dy]. */
function moves(a, b) {
  const at = new Map(Array.from({ length: a.spec.count }, (_, i) => [a.spec.keys(i), i]));
  const out = [];
  for (let j = 0; j < b.spec.count; j++) {
    const i = at.get(b.spec.keys(j));
    if (i === undefined || Number.isNaN(a.x[i]) || Number.isNaN(b.x[j])) continue;
    out.push([b.x[j] - a.x[i], b.y[j] - a.y[i]]);
  }
  return out;
}

test("removing a node leaves every other one exactly where it was", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const g = { ...grouped(seed), group: undefined, parents: [], folded: undefined };
    g.group = new Int32Array(g.count).fill(-1);
    const before = layout(g),
      after = relayout(before, without(g, 1 + (seed % (g.count - 1))));
    assertSound(after);
    for (const [dx, dy] of moves(before, after)) assert.deepEqual([dx, dy], [0, 0]);
  }
});

test("removing a node inside groups moves the others only as far as a new lane widens a group", () => {
  let still = 0,
    all = 0;
  for (let seed = 1; seed <= 120; seed++) {
    const g = grouped(seed),
      before = layout(g),
      after = relayout(before, without(g, 1 + (seed % (g.count - 1))));
    assertSound(after);
    for (const [dx, dy] of moves(before, after)) {
      all++;
      still += dx === 0 && dy === 0;
      assert.ok(Math.abs(dx) <= 28 && dy === 0, `moved by ${dx}, ${dy}`);
    }
  }
  assert.ok(still / all > 0.98, `${still} of ${all} stayed`);
});

test("inserting a node moves the others by one layer at most, and never sideways", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const whole = { ...grouped(seed), parents: [], folded: undefined };
    whole.group = new Int32Array(whole.count).fill(-1);
    const before = layout(without(whole, 1 + (seed % (whole.count - 1)))),
      after = relayout(before, whole);
    assertSound(after);
    assertEdgesPointDown(after, whole.edges);
    for (const [dx, dy] of moves(before, after)) {
      assert.equal(dx, 0);
      assert.ok(dy >= 0 && dy <= 28 + 28, `moved down by ${dy}`);
    }
  }
});

test("folding a group moves nothing above it, and what is below by one amount", () => {
  const count = 30,
    edges = [];
  for (let i = 1; i < count; i++) edges.push(i - 1, i);
  const group = Int32Array.from({ length: count }, (_, i) => (i >= 10 && i < 20 ? 0 : -1));
  const g = { count, edges, group, parents: [-1], folded: Uint8Array.of(0) };
  const open = layout(g),
    shut = relayout(open, { ...g, folded: Uint8Array.of(1) });
  const again = relayout(shut, g);
  for (let i = 0; i < 10; i++) assert.deepEqual([shut.x[i], shut.y[i]], [open.x[i], open.y[i]]);
  assert.equal(new Set(Array.from({ length: 10 }, (_, i) => shut.y[20 + i] - open.y[20 + i])).size, 1);
  assert.deepEqual([...again.y], [...open.y]);
  assert.deepEqual([...again.x], [...open.x]);
});

test("the longest chain is one vertical line, and a skip is a straight lane beside it", () => {
  const edges = [0, 1, 1, 2, 2, 3, 3, 4, 0, 4];
  const l = layout({ count: 5, edges });
  assert.equal(new Set(l.x).size, 1);
  const skip = l.paths.find((p) => p.lane);
  const xs = skip.points.filter((_, i) => i % 2 === 0);
  assert.ok(xs[1] > l.x[0] + 40 || xs[2] > l.x[0] + 40);
});

test("an edge over too many layers is a stub at both ends", () => {
  const edges = Array.from({ length: 299 }, (_, i) => [i, i + 1]).flat();
  const l = layout({ count: 300, edges: [...edges, 0, 299] });
  assert.equal(l.paths.length, 299);
  assert.deepEqual(
    l.stubs.map(({ source, to, back }) => [source, to, back]),
    [[0, 299, false]],
  );
  assert.deepEqual([l.stubs[0].x, l.stubs[0].y], [l.x[0] + 9, l.y[0] + 28]);
  assert.ok(l.stubs[0].tx > l.x[299]);
  assert.equal(l.stubs[0].ty, l.y[299]);
});

test("a cycle is cut and drawn as a stub", () => {
  const l = layout({ count: 3, edges: [0, 1, 1, 2, 2, 0] });
  assert.equal(l.stubs.filter((s) => s.back).length, 1);
  assert.equal(l.paths.length, 2);
});

test("groups whose parents run in a circle still lay out", () => {
  const l = layout({
    count: 2,
    edges: [0, 1],
    group: Int32Array.of(0, 1),
    parents: [1, 0],
    folded: Uint8Array.of(0, 0),
  });
  assertSound(l);
  assert.equal(Number.isNaN(l.x[0]) || Number.isNaN(l.x[1]), false);
});

test("loose items stand in rows, and an empty graph is empty", () => {
  const l = layout({ count: 60 });
  assertSound(l);
  assert.ok(new Set(l.y).size > 3);
  assert.ok(new Set(l.x).size > 3);
  assert.equal(layout({ count: 0 }).paths.length, 0);
});

test("10,000 nodes are laid out within a second", () => {
  for (const g of [synthetic(10000), noise(10000)]) {
    // Processor time: how busy the machine is otherwise is not measured.
    const start = process.cpuUsage(),
      l = layout(g),
      { user, system } = process.cpuUsage(start);
    assert.ok((user + system) / 1000 < 1000);
    assert.equal(l.x.some(Number.isNaN), false);
  }
});

test("a very deep chain and one value with thousands of users", () => {
  const deep = Array.from({ length: 20000 }, (_, i) => [i, i + 1]).flat();
  assert.equal(new Set(layout({ count: 20001, edges: deep }).x).size, 1);
  const wide = Array.from({ length: 5000 }, (_, i) => [0, i + 1]).flat();
  assert.equal(new Set(layout({ count: 5001, edges: wide }).x).size, 5000);
});
