// Runs of the virtual machine: what registers and objects were at a step, who holds what, jumps; on samples that Python made.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Damage } from "../src/core/check.js";
import { decode } from "../src/core/decode.js";
import { checkMachine } from "../src/views/machine/check.js";
import { Lookup } from "../src/core/lookup.js";
import { instructionsOf, scopesOf } from "../src/views/machine/find.js";
import { createRun, ranges } from "../src/views/machine/run.js";

const folder = new URL("./data/", import.meta.url);
const NAMES = readdirSync(folder)
  .filter((name) => name.startsWith("machine_"))
  .map((name) => name.slice(8, -5));
const raw = (name) => JSON.parse(readFileSync(new URL(`machine_${name}.json`, folder), "utf8"));
const check = (view) => {
  const data = decode(view);
  checkMachine(data);
  return data;
};
const load = (name) => check(raw(name));

test("the samples are whole", () => {
  assert.equal(NAMES.length, 7);
  for (const name of NAMES) load(name);
});

test("what a register holds is looked up, and is what replaying the changes gives", () => {
  for (const name of NAMES) {
    const view = load(name);
    const run = createRun(view);
    const registers = new Map();
    view.steps.forEach(({ changes }, step) => {
      for (const { tag, frame, register, value } of changes)
        if (tag === "w") registers.set(`${frame} ${register}`, value);
      for (const [key, value] of registers) {
        const [frame, register] = key.split(" ").map(Number);
        assert.equal(run.register(frame, register, step).value, value, `${name}, step ${step}`);
      }
    });
  }
});

test("what has gone is in no register of a frame on the stack", () => {
  for (const name of NAMES) {
    const view = load(name);
    const run = createRun(view);
    for (let step = 0; step < view.steps.length - 1; step++)
      for (const object of run.holders(step).keys())
        assert.ok(run.seen(object, step) && !run.gone(object, step), `${name}, step ${step}: #${object}`);
  }
});

test("the stack, over and out", () => {
  const view = load("tree");
  const run = createRun(view);
  assert.deepEqual(run.stack(view.start).map(run.frameName), ["@fold", "@fold", "@fold"]);
  const over = run.jump("over", view.start, 1);
  assert.equal(run.height(over), 2);
  assert.equal(run.height(run.jump("out", over, 1)), 1);
  assert.equal(run.jump("out", view.steps.length - 1, 1), -1);
  assert.equal(run.standsAt(run.stack(view.start)[1], view.start), 8, "it waits at its call");
});

test("a tensor is not filled before its kernel has run", () => {
  const view = load("layers");
  const run = createRun(view);
  const tensor = view.objects.findIndex(({ kind, storage }) => kind === 1 && storage >= 0);
  const made = view.objects[tensor].made;
  assert.match(run.say(tensor, made), /not filled$/);
  assert.doesNotMatch(run.say(tensor, made + 1), /not filled/);
  assert.deepEqual(run.tenants(view.objects[tensor].storage).length, 2);
  assert.equal(run.bytes(view.steps.length - 2), 160);
});

test("finding reads the program and the instructions", () => {
  const view = load("tree");
  const run = createRun(view);
  const lookup = new Lookup(() => view.rows, scopesOf(view, run));
  const instructions = (query) => instructionsOf(run, lookup.find(query, "ins").conditions).size;
  assert.equal(lookup.find("text:tanh(%2)").hits.length, 1);
  assert.equal(lookup.find("tanh(%2)", "ins").hits.length, 0);
  assert.equal(instructions("*add_tanh*"), 1);
  assert.equal(lookup.find("", "all").hits.length, 0);
});

test("runs of numbers are written as ranges", () => {
  assert.equal(ranges([0, 1, 2, 5, 7, 8]), "0–2, 5, 7–8");
  assert.equal(ranges([]), "");
});

test("damage is refused with its place", () => {
  const broken = (change) => {
    const view = raw("tree");
    change(view);
    return () => check(view);
  };
  assert.throws(
    broken((view) => {
      view.steps[2][1] = 99;
    }),
    Damage,
  );
  assert.throws(
    broken((view) => {
      view.functions[0][4][0][3] = [77];
    }),
    /functions\[0\]\.code\[0\]\.reads/,
  );
  assert.throws(
    broken((view) => {
      view.objects[3][3] = 3;
    }),
    /objects\[3\]/,
  );
  assert.throws(
    broken((view) => {
      view.steps[1][6].push(["w", 0, 50, 0]);
    }),
    /steps\[1\]/,
  );
});
