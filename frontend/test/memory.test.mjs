// Memory: what is in use at a step, the boxes of the arena, going from one plan to another; on samples that Python planned.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Damage } from "../src/core/check.js";
import { decode } from "../src/core/decode.js";
import { checkMemory } from "../src/views/memory/check.js";
import { WINDOW, timeWindow } from "../src/views/memory/aside.js";
import { arenaBoxes, createModel, sameStep } from "../src/views/memory/model.js";

const folder = new URL("./data/", import.meta.url);
const NAMES = readdirSync(folder)
  .filter((name) => name.startsWith("memory_"))
  .map((name) => name.slice(7, -5));
const raw = (name) => JSON.parse(readFileSync(new URL(`memory_${name}.json`, folder), "utf8"));
const check = (view) => {
  const data = decode(view);
  checkMemory(data);
  return data;
};
const load = (name) => check(raw(name));
const variantsOf = (name) => {
  const model = createModel(load(name));
  return model.view.variants.map((_, i) => ({ model, variant: model.variant(i) }));
};

test("the samples are whole", () => {
  assert.equal(NAMES.length, 3);
  for (const name of NAMES) load(name);
});

test("what is in use at a step adds up to the bytes in use, and no two of them share a buffer", () => {
  for (const name of NAMES) {
    for (const { variant } of variantsOf(name)) {
      variant.steps.forEach((_, step) => {
        const using = variant.inUse(step).map((life) => variant.lives[life]);
        assert.equal(
          using.reduce((sum, { bytes }) => sum + bytes, 0),
          variant.live[step],
          name,
        );
        assert.equal(new Set(using.map(({ buffer }) => buffer)).size, using.length, name);
      });
      assert.equal(variant.live[variant.peak], variant.totals.peak);
    }
  }
});

test("the boxes of the arena lie in their bands, and none covers another", () => {
  for (const name of NAMES) {
    for (const { variant } of variantsOf(name)) {
      const { boxes, bands } = arenaBoxes(variant, 400, 200);
      assert.ok(bands.at(-1).y + bands.at(-1).h <= 200 + 1e-6);
      boxes.forEach((a, i) => {
        const band = bands[variant.lives[i].buffer];
        assert.ok(a.y === band.y && a.h <= band.h + 1e-6 && a.x >= 0 && a.x + a.w <= 400 + 1e-6);
        for (const b of boxes.slice(i + 1)) {
          const apart =
            a.x + a.w <= b.x + 1e-6 ||
            b.x + b.w <= a.x + 1e-6 ||
            a.y + a.h <= b.y + 1e-6 ||
            b.y + b.h <= a.y + 1e-6;
          assert.ok(apart, `${name}: two values in one place`);
        }
      });
    }
  }
});

test("a buffer of no bytes, and buffers that are too many for the picture, have boxes too", () => {
  const lives = [
    { made: 1, last: 2, buffer: 0, bytes: 0 },
    ...Array.from({ length: 99 }, (_, i) => ({ made: 1, last: 1, buffer: i + 1, bytes: 64 })),
  ];
  const variant = {
    steps: [0, 0, 0, 0],
    lives,
    buffers: [{ size: 0 }, ...Array.from({ length: 99 }, () => ({ size: 64 }))],
  };
  const { boxes, bands } = arenaBoxes(variant, 80, 100);
  assert.ok(boxes.every(({ h, y }) => h > 0 && y + h <= 100 + 1e-6));
  assert.equal(bands.length, 100);
});

test("every combination of choices has its plan, in the order in which the last axis runs fastest", () => {
  const model = createModel(load("wide"));
  assert.deepEqual(
    model.axes.map(({ choices }) => choices.length),
    [2, 2, 4],
  );
  assert.equal(model.at([0, 0, 0]), 0);
  assert.equal(model.at([0, 0, 3]), model.view.grid[3]);
  assert.equal(model.at([1, 0, 2]), model.view.grid[10]);
  assert.equal(model.at([1, 1, 0]), model.at([1, 1, 3]), "with `let` there is one order");
});

test("in another plan the cursor stays with its value, the peak and the end with theirs", () => {
  const model = createModel(load("wide"));
  const [first, deep, fused] = [
    [0, 0, 0],
    [0, 0, 1],
    [1, 0, 0],
  ].map((choices) => model.variant(model.at(choices)));
  const exp = first.steps.findIndex(({ label }) => label === "exp");
  assert.equal(deep.steps[sameStep(first, exp, deep)].label, "exp");
  assert.equal(fused.steps[sameStep(first, exp, fused)].label, "exp·sum", "it is inside that kernel");
  assert.equal(sameStep(first, first.peak, fused), fused.peak);
  assert.equal(sameStep(first, first.steps.length - 1, fused), fused.steps.length - 1);
});

test("values inside a kernel are stored nowhere, and the others know who had their buffer before", () => {
  const model = createModel(load("block"));
  const fused = model.variant(model.at([1, 0, 0]));
  assert.deepEqual(
    [...fused.inside.keys()].map((n) => model.title(n)),
    ["%1 nn.conv2d", "%2 nn.bias_add", "%4 nn.conv2d", "%5 nn.bias_add", "%6 add"],
  );
  for (const n of fused.inside.keys()) assert.equal(fused.lifeOf[n], -1);
  const { lives } = model.variant(0);
  const chain = [];
  for (let life = lives.length - 1; life >= 0; life = lives[life].before) chain.push(lives[life].name);
  assert.deepEqual(chain, ["nn.relu", "%0 nn.relu"]);
});

test("damaged data is refused with its place", () => {
  const damages = [
    [
      (view) => {
        view.values[0][5] = 3;
      },
      "values[0].origin",
    ],
    [
      (view) => {
        view.grid.pop();
      },
      "grid",
    ],
    [
      (view) => {
        view.grid[0] = 99;
      },
      "grid[0]",
    ],
    [
      (view) => {
        view.same.push(1);
      },
      "same",
    ],
    [
      (view) => {
        view.variants[0].live.pop();
      },
      "variants[0].live",
    ],
    [
      (view) => {
        view.variants[1].lives[0][3] = 77;
      },
      "variants[1].lives[0].buffer",
    ],
    [
      (view) => {
        view.variants[0].lives[0][6] = 5;
      },
      "variants[0].lives[0].before",
    ],
    [
      (view) => {
        view.variants[0].steps[2][3] = [99];
      },
      "variants[0].steps[2].makes[0]",
    ],
    [
      (view) => {
        view.variants[0].totals.peak = "much";
      },
      "variants[0].totals.peak",
    ],
    [
      (view) => {
        view.variants[2].inside.push(0);
      },
      "variants[2].inside",
    ],
  ];
  for (const [damage, where] of damages) {
    const view = raw("block");
    damage(view);
    assert.throws(
      () => check(view),
      (error) => error instanceof Damage && error.message.includes(`(${where})`),
      where,
    );
  }
});

test("the steps beside the rows are a window around the one that is shown, which moves only near its edges", () => {
  assert.deepEqual(timeWindow(0, 9, 10, false), { first: 0, span: 10 }, "all of a short run");
  const first = timeWindow(0, 100, 300, false);
  assert.deepEqual(first, { first: 100 - WINDOW / 2, span: WINDOW });
  assert.deepEqual(timeWindow(first.first, 105, 300, false), first, "it stays");
  assert.equal(timeWindow(first.first, 115, 300, false).first, 115 - WINDOW / 2);
  assert.equal(timeWindow(first.first, 299, 300, false).first, 300 - WINDOW);
  assert.deepEqual(timeWindow(first.first, 120, 300, true), { first: 0, span: 300 });
});

test("a plan is found again by its choices", () => {
  for (const name of NAMES) {
    const model = createModel(load(name));
    model.view.variants.forEach((_, i) => assert.equal(model.at(model.choicesOf(i)), i));
  }
});
