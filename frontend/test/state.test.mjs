// Replay: what the format promises about the state after a step, and that seeking keeps the promise.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  becauseChain,
  classes,
  createReplay,
  finalState,
  membersOf,
  touched,
  uniqueNames,
} from "../src/views/types/state.js";
import { nextStep } from "../src/core/steps.js";
import { decode } from "../src/core/decode.js";
import * as fixtures from "./fixtures/learner.js";
import * as big from "./fixtures/large.js";

const waiting = () => decode(fixtures.waiting());
const failing = () => decode(fixtures.failing());
const large = (...sizes) => decode(big.large(...sizes));

const plain = (state) =>
  JSON.stringify(state, (_, value) => (ArrayBuffer.isView(value) ? [...value] : value));
const names = (view, group) => group.map((v) => view.variables[v].name).join(" ");

test("the waiting program: classes, queue and knowledge at each turn of its story", () => {
  const view = waiting();
  const replay = createReplay(view);
  const at = (step) => replay.seek(step);
  assert.deepEqual(classes(at(4)), []);
  assert.deepEqual(
    classes(at(5)).map((group) => names(view, group)),
    ["α ε", "γ δ"],
  );
  assert.deepEqual(
    classes(at(6)).map((group) => names(view, group)),
    ["α β ε", "γ δ"],
  );
  assert.deepEqual(at(7).queue, [2, 1]);
  const known = at(8);
  assert.equal(known.known[known.lead[3]], 2, "β is known through its class");
  assert.deepEqual(at(9).queue, [1]);
  assert.deepEqual([...finalState(view).since], [0, 10, 8, 8, 10, 8, 10]);
});

test("seeking anywhere gives what walking there gives", () => {
  for (const view of [waiting(), failing(), large(40)]) {
    const walked = view.steps.map((_, step) => plain(createReplay(view).seek(step)));
    const replay = createReplay(view);
    let seed = 7;
    for (let i = 0; i < 300; i++) {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      const step = seed % view.steps.length;
      assert.equal(plain(replay.seek(step)), walked[step]);
    }
  }
});

test("out of range, seek stops at the first and the last state", () => {
  const view = waiting();
  const replay = createReplay(view);
  assert.equal(replay.seek(-5).step, -1);
  assert.equal(replay.seek(999).step, view.steps.length - 1);
});

test("the rings of members and the leaders tell the same classes", () => {
  const state = createReplay(waiting()).seek(8);
  state.lead.forEach((lead, v) => {
    const same = [...state.lead.keys()].filter((other) => state.lead[other] === lead);
    assert.deepEqual(
      [...membersOf(state, v)].sort((a, b) => a - b),
      same,
    );
  });
});

test("a union keeps the better known type, whichever side it comes from", () => {
  for (const [first, second] of [
    [0, 1],
    [1, 0],
  ]) {
    const row = { name: "α", row: 0, what: "%0" };
    const changes = [
      { tag: "v", variable: 0 },
      { tag: "v", variable: 1 },
      { tag: "t", variable: 1, short: "s", full: "f", known: 2 },
      { tag: "u", first, second },
    ];
    const view = { variables: [row, row], relations: [], steps: [{ changes }] };
    const state = createReplay(view).seek(0);
    assert.equal(state.lead[0], first);
    assert.equal(state.short[first], "s");
    assert.deepEqual([...state.since], [0, 0]);
  }
});

test("the because-chain goes back to the program, each step once", () => {
  const { chain, more } = becauseChain(waiting(), 10);
  assert.equal(more, 0);
  assert.deepEqual(
    chain.map(({ step }) => step).sort((a, b) => a - b),
    [0, 1, 2, 3, 4, 5, 6, 8, 9, 10],
  );
  assert.equal(chain.find(({ step }) => step === 9).depth, 1);
});

test("causes that are not earlier steps are left out, and a long chain is cut with a count", () => {
  const steps = Array.from({ length: 100 }, (_, i) => ({ because: [i - 1, i, i + 1, -4] }));
  const { chain, more } = becauseChain({ steps }, 99, 40);
  assert.equal(chain.length, 40);
  assert.equal(more, 60);
  assert.deepEqual(
    chain.slice(0, 3).map(({ step }) => step),
    [99, 98, 97],
  );
});

test("a name that two variables share names neither", () => {
  const names = uniqueNames({
    variables: [
      { name: "α", what: "%0" },
      { name: "β", what: "%0" },
      { name: "%0", what: "%0" },
    ],
  });
  assert.deepEqual(
    [...names],
    [
      ["α", 0],
      ["%0", -1],
      ["β", 1],
    ],
  );
});

test("what a step touches", () => {
  const { vars, rels } = touched([
    { tag: "v", variable: 1 },
    { tag: "u", first: 2, second: 3 },
    { tag: "t", variable: 4 },
    { tag: "r", relation: 5, status: 4 },
    { tag: "p", relation: 5 },
    { tag: "f", relation: 6 },
  ]);
  assert.deepEqual([...vars], [1, 2, 3, 4]);
  assert.deepEqual([...rels], [5, 6]);
});

test("stepping under a filter skips steps, and stays where there is none", () => {
  const even = (step) => step % 2 === 0;
  assert.equal(nextStep(even, 2, 1, 10), 4);
  assert.equal(nextStep(even, 4, -1, 10), 2);
  assert.equal(nextStep(even, 8, 1, 10), 8);
  assert.equal(nextStep(null, -1, 1, 10), 0);
});

test("a run of ResNet-50's size is walked in well under a second", () => {
  const view = large(250);
  assert.ok(view.steps.length > 2300);
  const from = performance.now();
  finalState(view);
  assert.ok(performance.now() - from < 1000);
});
