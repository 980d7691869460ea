// The source view: which rows of two lists belong together, and what is folded at the start.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Damage } from "../src/core/check.js";
import { decode } from "../src/core/decode.js";
import { rowText } from "../src/core/rowmodel.js";
import { checkSource } from "../src/views/source/check.js";
import { createModel } from "../src/views/source/model.js";

const raw = (name) =>
  JSON.parse(readFileSync(new URL(`./data/source_${name}.json`, import.meta.url), "utf8"));
const load = (name) => {
  const view = decode(raw(name));
  checkSource(view);
  return view;
};

test("links go both ways", () => {
  for (const name of ["net", "optimized", "encoder"]) {
    const model = createModel(load(name));
    model.rowsOf.forEach((rows, node) =>
      rows.forEach((row) => assert.ok(model.nodesOf[row].includes(node), `${name}: node ${node}`)),
    );
    const links = model.nodesOf.flat().length;
    assert.equal(links, model.rowsOf.flat().length);
  }
});

test("a row of the node list stands for its node, a heading for those of its module", () => {
  const view = load("net");
  const model = createModel(view);
  const module = model.modules.find(({ path }) => path.endsWith("layer.1"));
  assert.deepEqual(
    model.nodesAt(module.row).map((node) => view.nodes[node].op),
    ["Conv", "BatchNorm", "Relu", "Dropout", "Constant", "Mul"],
  );
  const lines = model.rowsFrom(model.nodesAt(module.row));
  assert.ok(lines.some((row) => rowText(model.program.rows[row]).includes("nn.conv2d")));
  assert.deepEqual(
    lines,
    [...lines].sort((a, b) => a - b),
  );
  assert.deepEqual(model.nodesAt(view.nodes[0].row), [0]);
});

test("a line names what it computes before its constants", () => {
  const view = load("net");
  const model = createModel(view);
  const line = model.program.rows.findIndex((row) => rowText(row).includes("nn.conv2d"));
  assert.deepEqual(
    model.nodesOf[line].map((node) => view.nodes[node].op),
    ["Conv", "weight"],
  );
});

test("the weights are folded, and of many nodes the inner modules too", () => {
  const small = createModel(load("net"));
  assert.deepEqual(
    small.folded.map((row) => small.moduleAt.get(row).path),
    ["weights"],
  );
  const large = createModel(load("encoder"));
  const folded = new Set(large.folded.map((row) => large.moduleAt.get(row).path));
  assert.ok(folded.has("encoder.layer.3.attention"));
  assert.ok(!folded.has("encoder.layer.3"));
});

test("an imported row and node have the node of the model; others have none", () => {
  const view = load("net");
  const row = view.rows.find((row) => rowText(row).includes("nn.conv2d"));
  assert.deepEqual(row.imported, {
    op: "Conv",
    name: "/net/layer/0/conv",
    path: "net.layer.0",
    location: "net.py:7",
  });
  assert.equal(view.rows[0].imported, null);
});

test("damage is found", () => {
  const cases = [
    (view) => (view.nodes[0][0] = view.split),
    (view) => view.nodes[3][12].push(0),
    (view) => (view.split = view.program.rows.length + 1),
    (view) => (view.modules[0][2] = 999),
    (view) => view.program.rows[0].push(1, 2),
  ];
  for (const damage of cases) {
    const view = raw("net");
    damage(view);
    assert.throws(() => checkSource(decode(view)), Damage, String(damage));
  }
});
