// From a view to a graph, to rows that fold with it, and to what a first frame shows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { layout } from "../src/graph/layout.js";
import { createModel } from "../src/graph/model.js";
import { outlineText, SHAPES } from "../src/graph/shapes.js";
import { clampZoom, fitCamera, keepInView, zoomAbout } from "../src/graph/camera.js";
import { createScene } from "../src/graph/scene.js";
import { deriveProgram, scopeLanes } from "../src/views/ir/program.js";
import { neighbourhood } from "../src/views/ir/reach.js";
import { asideAtStart, foldAtStart, groupTotals, specOf } from "../src/views/ir/spec.js";
import { short } from "../src/graph/numbers.js";
import { decode } from "../src/core/decode.js";
import { Damage } from "../src/core/check.js";
import * as raw from "./fixtures/ir_views.js";

const resnet = () => decode(raw.resnet());
const tiny = () => decode(raw.tiny());
const ofSize = (...sizes) => decode(raw.ofSize(...sizes));

const labels = (model, ids) => [...ids].map((g) => `${model.groups[g].label} × ${model.groups[g].times}`);

test("equal blocks that follow each other are one run", () => {
  const model = createModel(resnet());
  const runs = [...model.groups.keys()].filter((g) => model.groups[g].kind === 3);
  assert.deepEqual(labels(model, runs), [
    "stage 1, block 2 × 2",
    "stage 2, block 2 × 3",
    "stage 3, block 2 × 5",
    "stage 4, block 2 × 2",
  ]);
  for (const run of runs) {
    const members = model.groups.filter((g) => g.parent === run);
    assert.equal(members.length, model.groups[run].times);
    assert.equal(model.groups[run].last, members.at(-1).last);
  }
});

test("weights are side inputs, the network's input is not", () => {
  const model = createModel(resnet());
  assert.equal(model.aside[0], 0);
  assert.equal(
    model.aside.reduce((a, b) => a + b),
    267,
  );
  assert.equal(asideAtStart(model), true);
  assert.equal(asideAtStart(createModel(tiny())), false);
});

test("a weight stands in the block that reads it, the network's input outside the first one", () => {
  const model = createModel(resnet());
  const weight = [...Array(model.count).keys()].find((i) => model.label(i) === "%stage2_unit1_conv2_weight");
  assert.equal(model.groups[model.group[weight]].label, "stage 2, block 1");
  assert.equal(model.groups[model.group[0]].label, "@main");
});

test("operands keep their order, users are named once, names come from the rows", () => {
  const model = createModel(tiny());
  const [x, , s] = [0, 1, 2];
  assert.deepEqual(model.operands[s], [0, 1]);
  assert.deepEqual(model.users[s], [3, 4, 5]);
  assert.deepEqual(model.operands[5], [3, s]);
  assert.equal(model.uses(s), 3);
  assert.equal(model.name(x), "%x");
  assert.equal(model.name(s), "%s");
});

test("damaged edges and groups are refused", () => {
  const damages = [
    (view) => view.edges.push(99, 0, 0),
    (view) => view.edges.push(0, -4, 1),
    (view) => view.groups.push([0, 2, 0, 4, 1, 0]),
    (view) => view.groups.push([0, 77, 3, 5, 1, 0]),
    (view) => {
      view.nodes[3][9] = 55;
    },
  ];
  for (const damage of damages) {
    const view = raw.tiny();
    damage(view);
    assert.throws(() => decode(view), Damage, String(damage));
  }
});

test("a first frame of ResNet-50 shows each kind of block once, a small program everything", () => {
  const model = createModel(resnet());
  const folded = foldAtStart(model);
  const shown = layout(specOf(model, { folded, aside: true }));
  const nodes = shown.x.filter((x) => !Number.isNaN(x)).length,
    cards = shown.boxes.filter((b) => b && !b.open).length;
  assert.equal(cards, 8);
  assert.equal(nodes, 6 + 5);
  assert.equal(foldAtStart(createModel(tiny())).size, 0);
  assert.equal(foldAtStart(createModel(ofSize(1000))).size, 0);
});

test("where folding leaves one card, the first of the repeated blocks is open", () => {
  const view = raw.resnet();
  const names = view.strings.length;
  view.strings.push("the same");
  view.groups.forEach((g) => (g[5] = g[4] === 1 ? names : g[5]));
  // Leave only the blocks: what stands before and after them joins the first and the last.
  const blocks = view.groups.map((g, i) => i).filter((i) => view.groups[i][4] === 1);
  view.nodes.forEach(
    (n, i) =>
      (n[9] =
        n[9] === 0 && view.edges.some((to, k) => k % 3 === 1 && to === i)
          ? i < 300
            ? blocks[0]
            : blocks.at(-1)
          : n[9]),
  );
  const model = createModel(decode(view));
  const open = [...model.groups.keys()].filter((g) => !foldAtStart(model).has(g));
  assert.deepEqual(labels(model, open), ["@main × 1", "stage 1, block 1 × 1", "stage 1, block 1 × 16"]);
});

test("what is folded in the rows is what is folded in the graph", () => {
  const view = resnet(),
    model = createModel(view),
    program = deriveProgram(view, model);
  const { rows } = program.view;
  for (const [g, row] of program.groupRow) {
    assert.ok(rows[row].end > row, `${model.groups[g].label} folds`);
    assert.equal(rows[row].end, program.shownOf[model.groups[g].last]);
    assert.equal(program.groupOfRow.get(row), g);
  }
  assert.equal(program.groupRow.size, model.groups.length);
  assert.equal(rows[program.lists[0]].tokens[0].text, "268 parameters");
  for (let i = 0; i < model.count; i++) assert.equal(program.nodeOfRow.get(program.shownOf[model.row(i)]), i);
  assert.equal(view.rows.length + model.groups.length - 1 + 1, rows.length);
});

test("every row still has its own text, and blocks nest", () => {
  const view = resnet(),
    program = deriveProgram(view, createModel(view)),
    open = [];
  program.view.rows.forEach((row, i) => {
    while (open.length && open.at(-1) < i) open.pop();
    if (row.end > i) {
      assert.ok(!open.length || row.end <= open.at(-1), `row ${i} ends after the block around it`);
      open.push(row.end);
    }
  });
  view.rows.forEach((row, i) => assert.deepEqual(program.view.rows[program.shownOf[i]].tokens, row.tokens));
});

test("scopes that overlap have lanes of their own", () => {
  const { rows, lanes } = scopeLanes(
    [
      [3, 4, 5],
      [0, 1, 9],
      [6, 7, 8],
    ].map(([row, first, last]) => ({ row, first, last })),
    Int32Array.from({ length: 10 }, (_, i) => i),
    10,
  );
  assert.equal(lanes, 2);
  assert.deepEqual(rows[0], [[0, "start"]]);
  assert.deepEqual(rows[4], [
    [0, "in"],
    [1, "in"],
  ]);
  assert.deepEqual(rows[5], [
    [0, "in"],
    [1, "end"],
  ]);
  assert.deepEqual(rows[7], [
    [0, "in"],
    [1, "in"],
  ]);
});

test("a neighbourhood grows by one edge a radius", () => {
  const model = createModel(tiny());
  assert.deepEqual([...neighbourhood(model, 3, 1)].sort(), [2, 3, 5]);
  assert.equal(neighbourhood(model, 3, 2).size, 7);
});

test("sums of groups", () => {
  const model = createModel(resnet()),
    totals = groupTotals(model);
  assert.equal(totals[0].calls, model.view.totals.calls);
  assert.equal(totals[0].flops, model.view.totals.flops);
  const run = model.groups.findIndex((g) => g.kind === 3);
  const members = [...model.groups.keys()].filter((g) => model.groups[g].parent === run);
  assert.equal(
    totals[run].params,
    members.reduce((sum, g) => sum + totals[g].params, 0),
  );
});

test("numbers are short and right", () => {
  assert.deepEqual(
    [0, 12, 999, 1000, 25557032, 8.2e9, 999999].map((n) => short(n)),
    ["0", "12", "999", "1.00 k", "25.6 M", "8.20 G", "1.00 M"],
  );
  assert.deepEqual([short(12, "FLOP"), short(3.2e6, "B")], ["12 FLOP", "3.20 MB"]);
});

test("every family shape has an outline that stays in its box", () => {
  for (const shape of [...SHAPES, "unknown"]) {
    const text = outlineText(shape, 1, 1, 60, 28);
    assert.ok(/^M/.test(text), shape);
    assert.equal(/NaN|undefined/.test(text), false, shape);
    for (const [, x, y] of text.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g))
      assert.ok(x >= 1 && x <= 61 && y >= 1 && y <= 29, `${shape} ${x} ${y}`);
  }
});

test("the camera: the whole when it can be read, else the beginning; zooming keeps the place under the pointer", () => {
  const small = { x: -50, y: 0, w: 100, h: 200 },
    tall = { x: -50, y: 0, w: 100, h: 20000 };
  const whole = fitCamera(small, 500, 500);
  assert.ok(small.h * whole.k <= 500 && Math.abs(-50 * whole.k + whole.x + 50 * whole.k - 250) < 1);
  const top = fitCamera(tall, 500, 500, { least: 0.5 });
  assert.deepEqual([top.k, top.y], [0.5, 18]);
  const z = zoomAbout(whole, 2, 100, 120);
  assert.ok(Math.abs((100 - z.x) / z.k - (100 - whole.x) / whole.k) < 1e-9);
  assert.equal(clampZoom(1e9), 4);
  const away = keepInView({ k: 1, x: 1e6, y: -1e6 }, small, 500, 500);
  assert.ok(away.x <= 500 + 50 && away.y >= -200);
});

test("the scene finds what is under a place, and what lies in a box", () => {
  const model = createModel(resnet()),
    folded = foldAtStart(model);
  const l = layout(specOf(model, { folded, aside: true })),
    scene = createScene(model, l);
  for (const item of scene.items) {
    if (!item.frame) assert.equal(scene.hit(item.x + item.w / 2, item.y + item.h / 2).id, item.id);
  }
  const all = scene.itemsIn(-1e5, -1e5, 1e5, 1e5);
  assert.equal(all.length, scene.items.length);
  assert.equal(scene.pathsIn(-1e5, -1e5, 1e5, 1e5).length, l.paths.length);
  const some = new Set(scene.pathsIn(-100, 0, 100, 200));
  l.paths.forEach(({ points }, i) => {
    if (points[1] > 0 && points[1] < 200 && Math.abs(points[0]) < 100) assert.ok(some.has(i));
  });
});

test("groups nested without end are drawn to a depth, and nothing is lost", () => {
  const depth = 5000,
    damaged = raw.ofSize(depth + 10);
  damaged.groups = Array.from({ length: depth }, (_, g) => [0, g - 1, g, depth, 0, 0]);
  damaged.nodes.forEach((n, i) => (n[9] = Math.min(i, depth - 1)));
  const view = decode(damaged);
  const model = createModel(view),
    l = layout(specOf(model, { folded: new Set(), aside: false }));
  assert.equal(l.boxes.filter(Boolean).length, 23, "one function is the whole, the others have frames");
  assert.equal(l.x.some(Number.isNaN), false);
  assert.equal(deriveProgram(view, model).groupRow.size, 24);
});

test("a weight is counted where it is, or where it is read, and once", () => {
  const nothing = () => 0;
  // A weight of a function, read by a call within a block and by one outside of it.
  const model = {
    count: 3,
    groups: [{ parent: -1 }, { parent: 0 }],
    group: [0, 1, 0],
    operands: [[], [0], [0, 1]],
    params: () => 10,
    flops: nothing,
    bytes: nothing,
    time: nothing,
  };
  assert.deepEqual(
    groupTotals(model).map(({ calls, params }) => [calls, params]),
    [
      [2, 10],
      [1, 10],
    ],
  );
});
