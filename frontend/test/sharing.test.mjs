// One computation in several forms, on samples that Python measured.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Damage } from "../src/core/check.js";
import { decode } from "../src/core/decode.js";
import { checkSharing } from "../src/views/sharing/check.js";
import { createModel, size } from "../src/views/sharing/model.js";

const folder = new URL("./data/", import.meta.url);
const NAMES = readdirSync(folder)
  .filter((name) => name.startsWith("sharing_"))
  .map((name) => name.slice(8, -5));
const raw = (name) => JSON.parse(readFileSync(new URL(`sharing_${name}.json`, folder), "utf8"));
const check = (view) => {
  const data = decode(view);
  checkSharing(data);
  return data;
};
const load = (name) => check(raw(name));

test("the samples are whole, and every line of a form is its own", () => {
  assert.ok(NAMES.length >= 3);
  for (const name of NAMES) {
    const view = load(name);
    for (const form of createModel(view).forms) {
      form.rows.forEach((row, at) =>
        assert.ok(
          row.end === -1 || (row.end >= at && row.end < form.rows.length),
          `${name}: a block ends in its form`,
        ),
      );
    }
  }
});

test("what is shared is evaluated once in two forms, and as often as it is used in the third", () => {
  const view = load("shared");
  const model = createModel(view);
  const exp = view.keys.findIndex(({ what }) => what === "exp(%x)");
  assert.deepEqual(model.runsOf(exp), [
    { runs: 1, copies: 1 },
    { runs: 1, copies: 1 },
    { runs: 4, copies: 4 },
  ]);
  assert.deepEqual(
    model.forms.map((form) => form.runs),
    [4, 4, 9],
  );
  assert.equal(model.start.key, exp, "first the key that the forms differ in most");
  assert.deepEqual(model.start.step, model.forms[2].peak.step);
});

test("live bytes are no more than what the bars show", () => {
  for (const name of NAMES) {
    const model = createModel(load(name));
    for (const form of model.forms) {
      form.live.forEach((bytes, step) => {
        const alive = form.items.reduce(
          (sum, item) =>
            sum + item.bytes * item.lives.filter(({ made, last }) => made <= step && step <= last).length,
          0,
        );
        // A value that two lines give (a branch and its `if`) is counted once, so that the sum of the lines can be more.
        assert.ok(
          bytes <= alive && (name !== "shared" || bytes === alive),
          `${name}, ${form.name}, step ${step + 1}`,
        );
      });
      if (form.live.length) assert.equal(Math.max(...form.live), form.peak.bytes, `${name}, ${form.name}`);
    }
  }
});

test("what a step makes is found by the step", () => {
  const model = createModel(load("shared"));
  model.forms.forEach((form, index) => {
    const found = Array.from({ length: form.steps }, (_, step) => model.made(index, step).length).reduce(
      (a, b) => a + b,
      0,
    );
    assert.equal(found, form.runs);
  });
  assert.deepEqual(model.made(0, 999), []);
});

test("sizes are said shortly", () => {
  assert.deepEqual([0, 640, 9999, 15_360, 4_000_000, 2e9].map(size), [
    "0 B",
    "640 B",
    "10,000 B",
    "15.4 kB",
    "4 MB",
    "2 GB",
  ]);
});

function leaves(value, path = []) {
  if (value === null || typeof value !== "object") return [path];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]));
}

test("whatever is put in the place of a value, the view is refused or has a model", () => {
  let refused = 0;
  for (const name of ["shared", "doubling"]) {
    const text = JSON.stringify(raw(name));
    for (const path of leaves(raw(name)).filter(([first]) => ["keys", "forms", "program"].includes(first))) {
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
        const model = createModel(data);
        data.keys.forEach((_, key) => model.runsOf(key));
      }
    }
  }
  assert.ok(refused > 800, String(refused));
});
