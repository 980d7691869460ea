// Pipelines: rows side by side, what folds, what is new in a row, one expression's life; on samples that the passes made.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Damage } from "../src/core/check.js";
import { decode } from "../src/core/decode.js";
import { visibleRows } from "../src/core/rowmodel.js";
import { alignedView, differing, stretches, tokensOf } from "../src/views/pipeline/align.js";
import { checkPipeline } from "../src/views/pipeline/check.js";
import { ADDED, KEPT, MOVED, REMOVED, REWRITTEN } from "../src/views/pipeline/marks.js";
import { createModel } from "../src/views/pipeline/model.js";
import { assignSlots, createPlaces, graphItems } from "../src/views/pipeline/slots.js";

const folder = new URL("./data/", import.meta.url);
const NAMES = readdirSync(folder)
  .filter((name) => name.startsWith("pipeline_"))
  .map((name) => name.slice(9, -5));
const raw = (name) => JSON.parse(readFileSync(new URL(`pipeline_${name}.json`, folder), "utf8"));
const check = (view) => {
  const data = decode(view);
  checkPipeline(data);
  return data;
};
const load = (name) => check(raw(name));
const model = (name) => createModel(load(name));
/** The item that a row with this text is about, in a stage. */
const itemOn = (m, stage, text) => {
  const { before, after } = m.stages[stage].pairs.find((pair) => m.text(pair.after).includes(text));
  return m.main(after >= 0 ? after : before);
};
const life = (m, item, pipe = 0) => m.history(m.kin(item), m.pipelines[pipe].list, item);

test("the samples are whole", () => {
  assert.ok(NAMES.length >= 4);
  for (const name of NAMES) load(name);
});

test("every row of a stage and of the one before stands once on its side, in order", () => {
  for (const name of NAMES) {
    const m = model(name);
    for (const stage of m.stages) {
      const span = ({ first, last }) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
      const side = (key) => stage.pairs.map((pair) => pair[key]).filter((row) => row >= 0);
      assert.deepEqual(side("after"), span(stage), `${name}: ${stage.name}`);
      const before = stage.before < 0 ? stage : m.stages[stage.before];
      assert.deepEqual(side("before"), span(before), `${name}: ${stage.name}`);
    }
  }
});

test("what changed is counted as rows, and one that moved is one", () => {
  const { stages } = model("small");
  assert.deepEqual(stages[1].counts.slice(1), [1, 0, 2, 0]);
  const view = load("small");
  const { first } = view.stages[1];
  view.stages[1].align = [
    [0, -1, MOVED],
    [1, first + 1, KEPT],
    [-1, first, MOVED],
  ].map(([before, after, fate]) => ({ before, after, fate }));
  assert.equal(createModel(view).stages[1].counts[MOVED], 1);
});

test("the first frame is a pass that changed a row", () => {
  assert.equal(model("small").start, 1);
  const shared = model("shared");
  assert.equal(
    shared.stages[shared.pipelines[0].list[shared.start]].name,
    "FoldConstant",
    "the pass before it changes no row",
  );
  const view = load("small");
  view.pipelines = [{ ...view.pipelines[0], stages: [0] }];
  assert.equal(createModel(view).start, 0);
});

test("an empty program has a stage without rows", () => {
  const view = raw("small");
  view.program.rows = [];
  view.items = [];
  view.stages = [{ ...view.stages[0], rows: [0, -1], align: [], gone: [] }];
  view.pipelines = [[view.pipelines[0][0], [0]]];
  assert.deepEqual(createModel(check(view)).stages[0].pairs, []);
});

test("runs of kept rows fold, but for the row beside a change", () => {
  const pairs = [..."kkkkkk~kkk+kkkkkkk"].map((sign) => ({
    mark: { k: KEPT, "~": REWRITTEN, "+": ADDED }[sign],
  }));
  assert.deepEqual(stretches(pairs), [
    [0, 4],
    [12, 17],
  ]);
  assert.deepEqual(stretches(pairs.slice(0, 6)), [], "a stage without changes stays open");
  assert.deepEqual(
    stretches(pairs, (pair) => pair === pairs[12])[1],
    [13, 17],
    "a blank row does not stand for others",
  );
  const m = model("power");
  const stage = m.stages[2];
  const blocks = stretches(stage.pairs);
  const program = alignedView(m.view, stage.pairs, blocks);
  const shown = visibleRows(program.rows, new Set(blocks.map(([from]) => from)));
  assert.ok(shown.length < stage.pairs.length);
  stage.pairs.forEach(({ mark }, i) => {
    if (mark !== KEPT) assert.ok(shown.includes(i), "no change is ever folded away");
  });
});

test("only what is new in a row is marked, and another number is not new", () => {
  const m = model("small");
  const { before, after } = m.stages[1].pairs.find(({ mark }) => mark === REWRITTEN);
  const [left, right] = [tokensOf(m.view, before), tokensOf(m.view, after)];
  const marked = differing(left, right, m.related);
  assert.deepEqual(
    left.filter((_, t) => marked[0][t]).map(({ text }) => text),
    ["%scale"],
  );
  assert.deepEqual(
    right.filter((_, t) => marked[1][t]).map(({ text }) => text),
    ["14f"],
  );
  assert.notEqual(
    left.find(({ kind }) => kind === 2).text,
    right.find(({ kind }) => kind === 2).text,
    "%1 is called %0 now",
  );
});

test("the tokens that are not marked are the same on both sides", () => {
  let seed = 11;
  const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
  for (let round = 0; round < 300; round++) {
    const make = () =>
      Array.from({ length: random(14) }, () => ({ kind: 1, text: "abc"[random(3)], ref: -1 }));
    const [left, right] = [make(), make()];
    const [a, b] = differing(left, right, () => false);
    const kept = (list, marked) =>
      list
        .filter((_, t) => !marked[t])
        .map(({ text }) => text)
        .join("");
    assert.equal(kept(left, a), kept(right, b));
    assert.ok(left.length === 0 || kept(left, differing(left, left, () => false)[0]).length === left.length);
  }
});

test("an expression is followed by the names it has, to where it became nothing", () => {
  const m = model("small");
  const relu = life(m, itemOn(m, 0, "nn.relu"));
  assert.deepEqual(
    relu.map(({ items }) => m.title(items[0])),
    ["%1 nn.relu", "%0 nn.relu", "%1 nn.relu", "%1 nn.relu"],
  );
  assert.deepEqual(
    relu.map(({ mark }) => mark),
    [null, KEPT, KEPT, KEPT],
  );
  const unused = life(m, itemOn(m, 0, "let %unused"));
  assert.equal(m.title(unused[0].items[0]), "%unused exp");
  assert.deepEqual(unused.at(-1), { stage: 3, items: [], mark: REMOVED });
  const scale = life(m, itemOn(m, 0, "let %scale"));
  assert.equal(m.title(scale[0].items[0]), "%scale multiply");
  assert.equal(scale[1].mark, REWRITTEN);
  assert.match(m.title(scale[1].items[0]), /^constant/);
  const names = m.names(unused, m.pipelines[0].list);
  assert.deepEqual(names, ["%unused exp", "%unused exp", "%unused exp", ""]);
});

test("followed from the end, it is the same expression", () => {
  const m = model("small");
  const [first, last] = [itemOn(m, 0, "nn.bias_add"), itemOn(m, 3, "nn.bias_add")];
  assert.deepEqual(life(m, first), life(m, last));
});

test("a name that was numbered is told as it is printed", () => {
  const m = model("power");
  assert.equal(m.title(itemOn(m, 1, "let %x2")), "%x2 equal");
  assert.ok(
    life(m, itemOn(m, 1, "let %x6")).every(({ items }) => items.every((i) => !/%x\d* %/.test(m.title(i)))),
  );
});

test("what is followed in one pipeline is followed in the other, and in stages that changed nothing", () => {
  const m = model("orders");
  const item = itemOn(m, m.pipelines[0].list[3], "nn.relu");
  const other = life(m, item, 1);
  assert.equal(other.length, m.pipelines[1].list.length);
  assert.ok(other.every(({ items }) => items.length > 0));
  assert.ok(m.stages[other.at(-1).stage].same);
  assert.equal(other.at(-1).mark, KEPT);
});

test("the cost of a row is that of the operators on it, once", () => {
  const m = model("orders");
  for (const stage of m.stages) {
    let flops = 0;
    for (let row = stage.first; row <= stage.last; row++) flops += m.cost[row].flops;
    assert.equal(flops, stage.totals.flops, stage.name);
  }
});

function leaves(value, path = []) {
  if (value === null || typeof value !== "object") return [path];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]));
}

test("whatever is put in the place of a value, the view is refused or has a model", () => {
  let refused = 0;
  for (const name of ["small", "orders"]) {
    const text = JSON.stringify(raw(name));
    for (const path of leaves(raw(name)).filter(([first]) =>
      ["items", "stages", "pipelines"].includes(first),
    )) {
      for (const value of [-2, 1e9, 0.5, "x", null, {}]) {
        const view = JSON.parse(text);
        let at = view;
        for (const key of path.slice(0, -1)) at = at[key];
        at[path.at(-1)] = value;
        let data;
        try {
          data = check(view);
        } catch (error) {
          assert.ok(error instanceof Damage, `${path}: ${error}`);
          refused += 1;
          continue;
        }
        const m = createModel(data);
        for (const stage of m.stages) alignedView(data, stage.pairs);
        m.pipelines.forEach((_, pipe) => life(m, 0, pipe));
      }
    }
  }
  assert.ok(refused > 4000, String(refused));
});

test("every value of the graph has a place of its own, and each operand a line", () => {
  for (const name of NAMES) {
    const m = model(name);
    const { slot, x, y, paths } = createPlaces(m);
    for (const stage of m.stages) {
      const own = graphItems(m, stage.index);
      assert.equal(
        new Set(own.map((i) => `${x[slot[i]]} ${y[slot[i]]}`)).size,
        own.length,
        `${name}: ${stage.name}`,
      );
      for (const i of own)
        for (const operand of m.items[i].operands)
          if (slot[operand] >= 0 && slot[operand] !== slot[i])
            assert.ok(paths.has(`${slot[operand]} ${slot[i]}`), `${name}: ${stage.name}`);
    }
  }
});

test("what is kept stays in its place", () => {
  for (const name of NAMES) {
    const m = model(name);
    const { slot } = assignSlots(m);
    for (const stage of m.stages) {
      for (const i of graphItems(m, stage.index)) {
        const { mark, from, label } = m.items[i];
        if (
          mark === KEPT &&
          from.length === 1 &&
          slot[from[0]] >= 0 &&
          m.into[from[0]].filter((other) => m.items[other].part && m.items[other].label === label).length ===
            1
        )
          assert.equal(slot[i], slot[from[0]], `${name}: ${stage.name}, ${label}`);
      }
    }
  }
});
