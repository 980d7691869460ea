// Damaged data: every mutation of a view is either refused with a place, or can be replayed to its end.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Damage } from "../src/core/check.js";
import { decode } from "../src/core/decode.js";
import { becauseChain, classes, createReplay } from "../src/views/types/state.js";
import { failing, hostile, waiting } from "./fixtures/learner.js";
import { large } from "./fixtures/large.js";

const check = decode;

/** Every place in `value` that holds a number, a string or null, as a path. */
function leaves(value, path = []) {
  if (value === null || typeof value !== "object") return [path];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]));
}

function put(view, path, value) {
  const copy = structuredClone(view);
  let at = copy;
  for (const key of path.slice(0, -1)) at = at[key];
  at[path.at(-1)] = value;
  return copy;
}

test("the fixtures are whole", () => {
  for (const view of [waiting(), failing(), hostile(), large(50)]) check(view);
});

test("whatever is put in the place of a value, the view is refused or still replays", () => {
  let refused = 0;
  for (const view of [waiting(), failing()]) {
    for (const path of leaves(view).filter(([first]) => first !== "strings")) {
      for (const value of [-2, 1e9, 0.5, "x", null, [], {}]) {
        const damaged = put(view, path, value);
        let data;
        try {
          data = check(damaged);
        } catch (error) {
          assert.ok(error instanceof Damage, `${path}: ${error}`);
          refused += 1;
          continue;
        }
        const replay = createReplay(data);
        data.steps.forEach((_, step) => {
          classes(replay.seek(step));
          becauseChain(data, step);
        });
      }
    }
  }
  assert.ok(refused > 1000);
});

test("the message says where", () => {
  assert.throws(() => check(put(waiting(), ["steps", "5", "4", "0", "1"], 99)), {
    message:
      "This view cannot be drawn: its data is damaged (steps[5].changes[0].variable). Generate it again with relay_explorer.",
  });
});
