// Partial evaluation without a browser: what a row's value was in which round, what is shown, what is refused.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { decode } from "../src/core/decode.js";
import { checkPartial } from "../src/views/partial/check.js";
import { MARKS, UNROLLED } from "../src/views/partial/marks.js";
import { createModel } from "../src/views/partial/model.js";

const raw = (name) => JSON.parse(readFileSync(new URL(`data/partial_${name}.json`, import.meta.url), "utf8"));
const sample = (name) => decode(raw(name));
const models = new Map();
const model = (name) => models.get(name) ?? models.set(name, createModel(sample(name))).get(name);
const rowOf = ({ texts, split }, start) =>
  texts.findIndex((text, row) => row < split && text.startsWith(start));
const steps = ({ steps: all }, mark) => all.map((_, at) => at).filter((at) => all[at].mark === mark);

test("a row has a value of its own in every round", () => {
  const m = model("power");
  const row = rowOf(m, "%n: int32");
  const shown = steps(m, UNROLLED).map((at) => m.value(row, m.owner(at)[row], at)?.text);
  assert.deepEqual(shown, ["2", "1", "0"]);
  assert.equal(m.value(row, 0, m.steps.length - 1), null);
  assert.deepEqual(m.tally(row, m.steps.length - 1), [4, 0, 0, 0]);
  assert.deepEqual(m.tally(row, 0), [0, 0, 0, 0]);
});

test("rows belong to the innermost frame that has them; the first row of a function value to the one outside", () => {
  const m = model("tree");
  const written = m.frames.find(({ asked }) => asked);
  const owner = m.owner(written.begins);
  assert.equal(owner[rowOf(m, "let %f = fn (")], 0);
  assert.equal(owner[rowOf(m, "let %w = ref_write")], written.number);
  assert.equal(owner[rowOf(m, "exp(%v)")], -1);
});

test("the program and what remains are apart, each with blocks of its own", () => {
  const m = model("tree");
  assert.equal(m.program.rows.length + m.remains.rows.length, m.texts.length);
  for (const { rows } of [m.program, m.remains])
    for (const [at, { end }] of rows.entries()) assert.ok(end === -1 || (end > at && end < rows.length));
  assert.equal(m.text(m.split), "def @main(");
});

test("what remains knows the row that it came of, and the step that made it", () => {
  const m = model("tree");
  const made = m.of[rowOf(m, "exp(%v)")];
  assert.deepEqual(
    made.map((row) => m.text(m.split + row)),
    ["let %x8 = exp(%x1);", "let %x9 = exp(%b);"],
  );
  for (const row of made) assert.equal(MARKS[m.steps[m.madeBy(row)].mark].id, "kept");
});

test("effects are numbered in the order of what remains, and apart in a function", () => {
  const m = model("tree");
  const effects = m.residual.flatMap(({ effect }, row) =>
    effect ? [`${effect} ${m.text(m.split + row)}`] : [],
  );
  assert.deepEqual(effects, [
    "1 let %cell = ref(%a);",
    "1 let %w = ref_write(%cell, %z);",
    "2 let %w1 = ref_write(%cell, %b);",
    "3 let %x13 = ref_read(%cell);",
  ]);
});

test("cells are as the last change left them", () => {
  const m = model("tree");
  const write = m.steps.findIndex(({ mark, frame }) => mark === 4 && frame === 1);
  assert.deepEqual(m.cells(write - 1), [{ cell: "%cell", text: "%a" }]);
  assert.deepEqual(m.cells(write), [{ cell: "%cell", text: "%b" }]);
  assert.deepEqual(m.cells(0), []);
});

test("over a call and out of it", () => {
  const m = model("power");
  const [first] = steps(m, UNROLLED);
  assert.equal(MARKS[m.steps[m.over(first)].mark].id, "returned");
  assert.equal(m.over(first + 1), first + 2);
  assert.equal(m.over(first + 1, true), m.over(first));
});

test("what a frame was given", () => {
  const m = model("power");
  assert.deepEqual(m.given(2), [
    { name: "%x", state: 2, text: "%x" },
    { name: "%n", state: 0, text: "2" },
  ]);
});

test("data that is damaged is refused with the place", () => {
  const damaged = (change) => {
    const view = raw("tree");
    change(view);
    return () => checkPartial(decode(view));
  };
  checkPartial(sample("gap"));
  for (const [change, where] of [
    [
      (v) => {
        v.split = 1000;
      },
      /rows|split|residual/,
    ],
    [
      (v) => {
        v.residual[1] = v.split;
      },
      /residual\[0\]\.source/,
    ],
    [
      (v) => {
        v.residual.pop();
      },
      /residual/,
    ],
    [
      (v) => {
        v.frames[1][3] = 1;
      },
      /frames\[1\]/,
    ],
    [
      (v) => {
        v.steps[3][0] = 13;
      },
      /steps\[3\]\.mark/,
    ],
    [
      (v) => {
        v.steps[1][5] = [["b", 0, 0, 9, 0, -1]];
      },
      /steps\[1\]/,
    ],
    [
      (v) => {
        v.steps[1][5] = [["b"]];
      },
      /steps\[1\]/,
    ],
    [
      (v) => {
        v.steps = [];
      },
      /steps|born/,
    ],
    [
      (v) => {
        v.start = -1;
      },
      /start/,
    ],
    [
      (v) => {
        v.gap = [1];
      },
      /gap/,
    ],
  ])
    assert.throws(damaged(change), where);
});
