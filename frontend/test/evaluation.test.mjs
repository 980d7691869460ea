// A recorded run: what the format promises about the state after a step, on runs that Python recorded.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Damage } from "../src/core/check.js";
import { decode } from "../src/core/decode.js";
import { rowText } from "../src/core/rowmodel.js";
import { shortStack } from "../src/views/evaluation/frames.js";
import { picture } from "../src/views/evaluation/heap.js";
import { Lookup } from "../src/core/lookup.js";
import { scopesOf } from "../src/views/evaluation/find.js";
import { alternatives, skippedRows } from "../src/views/evaluation/rows.js";
import { MARK, createRun, lastAt } from "../src/views/evaluation/run.js";

const folder = new URL("./data/", import.meta.url);
const NAMES = readdirSync(folder)
  .filter((name) => name.startsWith("evaluation_"))
  .map((name) => name.slice(11, -5));
const raw = (name) => JSON.parse(readFileSync(new URL(`evaluation_${name}.json`, folder), "utf8"));
const check = (view) => decode(view);
const load = (name) => check(raw(name));
const textOf = (view, row) => rowText(view.rows[row]);

/** The state by the book: changes applied in order, starting from nothing. */
function replay(view) {
  const state = { stack: [], values: new Map(), cells: new Map() };
  return view.steps.map(({ changes }) => {
    for (const { tag: kind, frame, name, object, value } of changes) {
      if (kind === "f") state.stack.push(frame);
      else if (kind === "g") state.stack.splice(-1, 1, frame);
      else if (kind === "r") state.stack.pop();
      else if (kind === "x") state.stack = [];
      else if (kind === "b" || kind === "e") state.values.set(`${frame} ${name}`, value);
      else if (kind === "w") state.cells.set(object, value);
    }
    return { stack: [...state.stack], values: new Map(state.values), cells: new Map(state.cells) };
  });
}

test("the runs that Python recorded are whole", () => {
  assert.ok(NAMES.length >= 6);
  for (const name of NAMES) load(name);
});

test("what is looked up is what replaying gives, at every step", () => {
  for (const name of NAMES) {
    const view = load(name);
    const run = createRun(view);
    replay(view).forEach((state, step) => {
      assert.deepEqual(run.stack(step), state.stack, `${name}, step ${step + 1}`);
      assert.equal(run.height(step), state.stack.length);
      for (let frame = 0; frame < view.frames.length; frame++)
        for (let n = 0; n < view.names.length; n++)
          assert.equal(
            run.value(frame, n, step),
            state.values.get(`${frame} ${n}`),
            `${name}, step ${step + 1}`,
          );
      for (const [cell, value] of state.cells) assert.equal(run.held(cell, step).at(-1).value, value);
    });
  }
});

test("over comes back to the same height, out goes below it, and both undo", () => {
  const view = load("tree");
  const run = createRun(view);
  const call = view.steps.findIndex(({ mark }) => mark === MARK.call);
  const after = run.jump("over", call, 1);
  assert.equal(run.height(after), run.height(call) - 1);
  assert.equal(view.steps[after].mark, MARK.return);
  assert.equal(run.jump("over", call - 1, 1), call < 1 ? -1 : after, "before the call, over passes it too");
  const inside = view.steps.findIndex((_, step) => run.height(step) === 3);
  assert.equal(run.height(run.jump("out", inside, 1)), 2);
  assert.equal(run.jump("out", inside, -1), inside - 1, "back out: the step before the call");
  const row = view.steps[call].row;
  for (const step of [run.jump("row", call, 1, row)]) assert.equal(view.steps[step].row, row);
  assert.equal(run.jump("row", call, 1, 9999), -1);
});

test("a cell keeps its history, oldest first", () => {
  const view = load("cells");
  const run = createRun(view);
  const cell = view.objects.findIndex(({ kind }) => kind === 3);
  const said = run.held(cell, view.steps.length).map(({ value }) => run.say(value));
  assert.ok(said.length >= 2, said.join());
  assert.ok(run.say(cell, view.steps.length).includes(said.at(-1)));
  assert.equal(
    run.held(cell, view.objects[cell].step).length,
    1,
    "when it is made it holds its first value only",
  );
});

test("branches that were not taken are known, for if and for match", () => {
  //                kind, depth, tokens, node, end
  const rows = [
    [1, 0, [], -1, 10],
    [5, 1, [], -1, 3],
    [5, 2, [], -1, -1],
    [7, 1, [], -1, 5],
    [5, 2, [], -1, -1],
    [6, 1, [], -1, -1],
    [5, 1, [], -1, 9],
    [7, 2, [], -1, 7],
    [7, 2, [], -1, 8],
    [6, 1, [], -1, -1],
    [6, 0, [], -1, -1],
  ].map(([kind, depth, tokens, node, end]) => ({ kind, depth, tokens, node, end }));
  rows[7].end = 7; // a clause without rows of its own opens no block
  const others = alternatives(rows);
  assert.deepEqual([...others.keys()].sort(), [1, 3]);
  assert.deepEqual([...skippedRows(rows, others, [1])], [3, 4]);
  assert.deepEqual([...skippedRows(rows, others, [3])], [2]);
  assert.deepEqual([...skippedRows(rows, others, [])], []);
  const view = load("tree");
  const run = createRun(view);
  const leaf = view.steps.findIndex(
    ({ mark }, step) => mark === MARK.choice && run.blockOf(view.steps[step].frame, step).length > 0,
  );
  const frame = view.steps[leaf].frame;
  const skipped = skippedRows(view.rows, alternatives(view.rows), run.blockOf(frame, leaf));
  assert.ok(skipped.size > 1);
  assert.ok([...skipped].every((row) => row >= view.frames[frame].first && row <= view.frames[frame].last));
});

test("a deep stack shows its ends and the shown frame", () => {
  const stack = Array.from({ length: 50 }, (_, i) => i);
  const short = shortStack(stack, 20);
  assert.deepEqual(
    short.map((item) => item.frame ?? `…${item.hidden.length}`),
    [0, 1, "…18", 20, "…22", 43, 44, 45, 46, 47, 48, 49],
  );
  assert.equal(
    short.reduce((sum, item) => sum + (item.hidden?.length ?? 1), 0),
    50,
  );
  assert.deepEqual(shortStack([4, 5], 5), [
    { frame: 4, height: 1 },
    { frame: 5, height: 2 },
  ]);
});

test("the tree is drawn whole while it is used up: taken apart, still needed, done with", () => {
  const view = load("tree");
  const run = createRun(view);
  const size = new Set();
  let gone = 0;
  view.steps.forEach(({ mark, frame }, step) => {
    const at = picture(view, run, step, frame, { width: 400 });
    for (const cell of at.cells)
      for (const other of at.cells) {
        const apart =
          cell === other ||
          cell.x + cell.w <= other.x ||
          other.x + other.w <= cell.x ||
          cell.y + cell.h <= other.y ||
          other.y + other.h <= cell.y;
        assert.ok(apart, `step ${step + 1}: boxes lie on each other`);
      }
    if (mark !== MARK.choice) return;
    assert.ok(
      at.cells.some((cell) => at.state(cell.id).includes("now")),
      `step ${step + 1}: what is looked at is in the picture`,
    );
    size.add(at.place.size);
    gone = Math.max(gone, at.cells.filter((cell) => at.state(cell.id).includes("gone")).length);
  });
  assert.equal(size.size, 1, "the same values at every choice");
  assert.ok(gone >= 4);
});

test("an object stands in the picture once, however many hold it", () => {
  for (const name of NAMES) {
    const view = load(name);
    const run = createRun(view);
    view.steps.forEach(({ frame }, step) => {
      const ids = picture(view, run, step, frame, { width: 300 })
        .cells.map((cell) => cell.id)
        .filter((id) => id >= 0);
      assert.equal(new Set(ids).size, ids.length, `${name}, step ${step + 1}`);
    });
  }
});

test("finding: by the line, by a name, by a value that it gave", () => {
  const view = load("tree");
  const lookup = new Lookup(() => view.rows, scopesOf(view, createRun(view)));
  const match = (wanted, scope) => lookup.find(wanted, scope).hits.map(({ line }) => line);
  assert.ok(match("match", "all").every((row) => textOf(view, row).includes("match")));
  const { name, row } = view.names.find(({ name: text, row: at }) => text !== "" && at >= 0);
  assert.ok(match(name.toLowerCase(), "name").includes(row));
  assert.ok(match("leaf", "value").length > 0);
  assert.deepEqual(match("nowhere", "all"), []);
  assert.deepEqual(match("match", "no such scope"), match("match", "all"));
});

test("lastAt is the last entry at or before a step", () => {
  const list = [1, 4, 4, 9].map((step) => ({ step }));
  assert.deepEqual(
    [0, 1, 3, 4, 8, 9, 99].map((step) => lastAt(list, step)),
    [-1, 0, 0, 2, 2, 3, 3],
  );
});

// --- damage ---------------------------------------------------------------------------------------

function leaves(value, path = []) {
  if (value === null || typeof value !== "object") return [path];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]));
}

test("whatever is put in the place of a value, the view is refused or can still be drawn", () => {
  let refused = 0;
  for (const name of ["map", "cells", "unmatched"]) {
    const text = JSON.stringify(raw(name));
    for (const path of leaves(raw(name)).filter(
      ([first]) => !["strings", "format", "version", "view", "title", "summary"].includes(first),
    )) {
      for (const value of [-7000, 1e9, 0.5, "x", null, {}]) {
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
        const run = createRun(data);
        const last = data.steps.length - 1;
        for (const step of [0, last >> 1, last]) {
          const { frame } = data.steps[step];
          picture(data, run, step, frame, { width: 300 });
          for (const one of run.stack(step)) run.standsAt(one, step);
        }
      }
    }
  }
  assert.ok(refused > 2000, String(refused));
});
