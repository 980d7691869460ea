// Gradients: values and lines, how far the backward pass has gone, what is kept; on samples that Python's transformation made.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Damage } from "../src/core/check.js";
import { decode } from "../src/core/decode.js";
import { changedRows } from "../src/views/gradient/columns.js";
import { addedOperators, forwardEdges, graphWindow, keptEdges } from "../src/views/gradient/graph.js";
import { createModel, keeping } from "../src/views/gradient/model.js";

const folder = new URL("./data/", import.meta.url);
const NAMES = readdirSync(folder)
  .filter((name) => name.startsWith("gradient_"))
  .map((name) => name.slice(9, -5));
const raw = (name) => JSON.parse(readFileSync(new URL(`gradient_${name}.json`, folder), "utf8"));
const check = (view) => decode(view);
const load = (name) => check(raw(name));
const model = (name) => createModel(load(name));
const valueNamed = (m, name) => m.values.findIndex((value) => value.name === name);

test("the samples are whole", () => {
  assert.ok(NAMES.length >= 5);
  for (const name of NAMES) load(name);
});

test("every line is added once, and a use is gone back at most once", () => {
  for (const name of NAMES) {
    const m = model(name);
    assert.ok(
      m.addedAt.every((step) => step < m.never),
      name,
    );
    for (const [v, { users }] of m.values.entries())
      for (const user of users) assert.ok(m.wentBack(v, user) >= -1, name);
  }
});

test("the backward pass goes from the user to what it used", () => {
  const m = model("layer");
  const [h, z, y] = ["%h", "%z", "%y"].map((name) => valueNamed(m, name));
  assert.ok(m.wentBack(z, y) >= 0 && m.wentBack(h, z) > m.wentBack(z, y));
  assert.equal(m.wentBack(y, z), -1);
});

test("what is kept is held, used, and freed", () => {
  const m = model("layer");
  const [y, q, x] = ["%y", "%q", "%x"].map((name) => valueNamed(m, name));
  const used = m.freedAt[y];
  assert.deepEqual(
    [0, used - 1, used, used + 1].map((step) => keeping(m, y, step)),
    ["held", "held", "now", "freed"],
  );
  assert.equal(keeping(m, q, 0), "shape");
  assert.equal(keeping(m, x, 0), "given");
});

test("the bytes still needed are those of the values that are held", () => {
  for (const name of NAMES) {
    const m = model(name);
    m.steps.forEach(({ kept }, step) => {
      const held = m.values
        .filter(({ given }, v) => !given && m.freedAt[v] > step)
        .reduce((sum, { bytes }) => sum + bytes, 0);
      assert.equal(held, kept, `${name}, step ${step}`);
    });
  }
});

test("the first frame begins the backward pass", () => {
  assert.equal(model("layer").start, 1);
  assert.equal(model("choice").start, 1);
});

test("names lead to values and lines", () => {
  const m = model("layer");
  assert.equal(m.named.get("%y tanh"), valueNamed(m, "%y"));
  const d = m.lines.findIndex(({ name }) => name === "%d_e");
  assert.equal(m.named.get("%d_e"), m.values.length + d);
  assert.equal(m.ownerOf(m.values.length + d), valueNamed(m, "%e"));
});

test("between two steps only the rows in question are drawn again", () => {
  const m = model("lenet");
  const all = changedRows(m, 0, m.steps.length - 1).size;
  assert.ok(changedRows(m, 10, 11).size < all / 3);
  assert.deepEqual([...changedRows(m, 5, 9)].sort(), [...changedRows(m, 9, 5)].sort());
});

test("the two graphs: who uses whom, what is added, what is kept in between", () => {
  const m = model("fork");
  const place = new Map(m.items.map(({ node }, i) => [node, i]));
  const name = (v) => m.values[v].name;
  assert.deepEqual(
    forwardEdges(m, place).map(({ source, user, span }) => [name(source), name(user), span]),
    [
      ["%a", "%b", 1],
      ["%a", "%c", 2],
      ["%b", "%d", 2],
      ["%c", "%d", 1],
      ["%d", "%x1", 1],
    ],
  );
  assert.equal(addedOperators(m, valueNamed(m, "%b")), "multiply ×2, collapse_sum_like");
  assert.equal(addedOperators(m, valueNamed(m, "%d")), "");
  assert.deepEqual(
    keptEdges(m, place).map(({ value, from, to }) => [name(value), from, to]),
    [
      ["%a", 0, 0],
      ["%a", 0, 1],
      ["%c", 2, 2],
    ],
  );
});

test("of a long program the graphs show what is around the visited one", () => {
  const items = Array.from({ length: 100 }, (_, node) => ({ node }));
  assert.deepEqual(graphWindow(items.slice(0, 30), 3), { from: 0, to: 30 });
  assert.deepEqual(graphWindow(items, 50), { from: 30, to: 70 });
  assert.deepEqual(
    [graphWindow(items, 2), graphWindow(items, 99), graphWindow(items, -1)],
    [
      { from: 0, to: 40 },
      { from: 60, to: 100 },
      { from: 0, to: 40 },
    ],
  );
});

test("damage is refused with its place", () => {
  const broken = (change) => {
    const view = raw("layer");
    change(view);
    return () => check(view);
  };
  const says = (part) => (error) => error instanceof Damage && error.message.includes(part);
  assert.throws(
    broken((view) => {
      view.values[4][8] = [1];
    }),
    says("values[4].users[0]"),
  );
  assert.throws(
    broken((view) => {
      view.lines[2][0] = 99;
    }),
    says("lines[2].value"),
  );
  assert.throws(
    broken((view) => {
      view.steps[3][6] = [0];
    }),
    says("steps[3].to"),
  );
  assert.throws(
    broken((view) => {
      delete view.totals.kept;
    }),
    says("kept"),
  );
});
