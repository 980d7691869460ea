// One kernel at every level, on samples that Python made.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Damage } from "../src/core/check.js";
import { decode } from "../src/core/decode.js";
import { checkLowering } from "../src/views/lowering/check.js";
import { wayOf } from "../src/views/lowering/marks.js";
import {
  amount,
  bytes,
  changed,
  createModel,
  duration,
  faster,
  heads,
  hottest,
  levelsOf,
  meets,
  tally,
} from "../src/views/lowering/model.js";

const folder = new URL("./data/", import.meta.url);
const NAMES = readdirSync(folder)
  .filter((name) => name.startsWith("lowering_"))
  .map((name) => name.slice(9, -5));
const raw = (name) => JSON.parse(readFileSync(new URL(`lowering_${name}.json`, folder), "utf8"));
const check = (view) => {
  const data = decode(view);
  checkLowering(data);
  return data;
};
const load = (name) => check(raw(name));

test("the samples are whole, and every operator is there at every level", () => {
  assert.ok(NAMES.length >= 3);
  for (const name of NAMES) {
    const view = load(name);
    const model = createModel(view);
    for (const { index } of model.operators) {
      const levels = {
        relay: model.relay,
        te: model.te,
        ...Object.fromEntries(Object.entries(model.codes).map(([level, { lines }]) => [level, lines])),
        ...Object.fromEntries(model.steps.map(({ nest }, i) => [`step ${i}`, nest])),
      };
      for (const [level, lines] of Object.entries(levels))
        assert.ok(
          lines.some(({ owners }) => owners.includes(index)),
          `${name}: operator ${index} in ${level}`,
        );
    }
  }
});

test("a tally is that of the operators that are chosen", () => {
  const model = createModel(load("layer"));
  const { lines, purposes } = model.codes.code;
  const at = (chosen) =>
    Object.fromEntries(tally(lines, purposes.length, chosen).map((n, i) => [purposes[i], n]));
  assert.equal(at([0])["multiply-add"], 16);
  assert.equal(at([1])["multiply-add"], 0);
  assert.deepEqual(at([1]), at([2]), "they share a block");
  assert.equal(
    tally(lines, purposes.length, []).reduce((a, b) => a + b),
    lines.filter(({ purpose }) => purpose >= 0).length,
  );
});

test("the numbers of operators stand where a run of lines begins", () => {
  const lines = [[], [0], [0], [0, 1], [], [0]].map((owners) => ({ owners }));
  assert.deepEqual(heads(lines), [false, true, false, true, false, true]);
  assert.equal(meets([1, 2], [2]), true);
  assert.equal(meets([], [2]), false);
});

test("a bar is as long as the logarithm of the iterations", () => {
  const model = createModel(load("layer"));
  assert.equal(model.share(1), 0);
  assert.equal(model.share(128), 1);
  assert.equal(model.share(-1), 0);
  assert.ok(model.share(8) > model.share(4) && model.share(8) < 0.5);
  assert.deepEqual(
    [wayOf("serial")[1], wayOf("vectorized")[1], wayOf("threadIdx.x")[1]],
    ["", "vectorized", "threadIdx.x"],
  );
});

test("the code is shown from its innermost loop on", () => {
  const lines = [
    [0, 3, [0]],
    [5, 1, []],
    [1, 1, [0]],
    [1, 2, [0]],
    [1, 2, [0]],
  ].map(([purpose, depth, owners]) => ({ purpose, depth, owners }));
  assert.equal(hottest(lines, 1), 3);
  assert.equal(hottest(lines, 4), 0);
  assert.equal(hottest([], 1), -1);
});

test("times are told as one says them", () => {
  assert.deepEqual([812, 20_140, 3_500_000, 2e9].map(duration), ["812 ns", "20.1 µs", "3.5 ms", "2 s"]);
  assert.deepEqual(
    [0, 1, 2, 3].map((step) => faster([1000, 450, 460, 920], step)),
    ["", "2.2× faster", "no faster", "2× slower"],
  );
  assert.equal(faster([], 1), "");
});

test("what a step changed of an estimate is told from a hundredth on", () => {
  const words = ["fewer", "more"];
  assert.deepEqual(
    [
      [100, 780],
      [780, 100],
      [1000, 1005],
      [100, 113],
      [0, 5],
    ].map(([now, before]) => changed(now, before, words)),
    ["7.8× fewer", "7.8× more", "", "1.13× fewer", ""],
  );
  assert.deepEqual([amount(812), amount(16_992), amount(3_168_404)], ["812", "16,992", "3.17 million"]);
  assert.deepEqual(
    [bytes(96), bytes(57_600), bytes(13_304_832), bytes(7_880_000_000)],
    ["96 bytes", "57.6 KB", "13.3 MB", "7.88 GB"],
  );
});

test("a kernel has one code or two, and that of a GPU is told by its name", () => {
  assert.deepEqual(levelsOf(load("layer")), ["relay", "te", "loops", "ir", "code"]);
  assert.deepEqual(levelsOf(load("gpu")), ["relay", "te", "loops", "code"]);
  assert.deepEqual(
    ["layer", "gpu"].map((name) => createModel(load(name)).gpu),
    [false, true],
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
      view.operators[1][0] = 99;
    }),
    says("operators[1].row"),
  );
  assert.throws(
    broken((view) => {
      view.steps[3][4][0][6] = [7];
    }),
    says("steps[3].nest[0].operators[0]"),
  );
  assert.throws(
    broken((view) => {
      view.codes[1].lines[2][2] = 50;
    }),
    says("codes[1].lines[2].block"),
  );
  assert.throws(
    broken((view) => {
      view.times = [1];
    }),
    says("times"),
  );
  assert.throws(
    broken((view) => {
      delete view.codes[0].blocks;
    }),
    says("codes[0].blocks"),
  );
});
