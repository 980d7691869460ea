// A measured run under the machine's limits, on the sample that Python made.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Damage } from "../src/core/check.js";
import { decode } from "../src/core/decode.js";
import { checkRun } from "../src/views/run/check.js";
import { freest, ranges } from "../src/views/run/charts.js";
import { placeNumbers } from "../src/views/run/numbers.js";
import {
  bars,
  computing,
  createModel,
  extent,
  launchAt,
  logScale,
  logTicks,
  nextLaunch,
  percent,
  roof,
  shapeOf,
  short,
  shortName,
  sumOf,
  ticks,
} from "../src/views/run/model.js";

const raw = () => JSON.parse(readFileSync(new URL("./data/run_small.json", import.meta.url), "utf8"));
const check = (view) => {
  const data = decode(view);
  checkRun(data);
  return data;
};
const load = (name) => check(raw(name));

test("the sample is whole, and a kernel's numbers are those of its launches", () => {
  const view = load();
  const model = createModel(view);
  assert.equal(model.kernels.length, 4);
  for (const kernel of model.kernels)
    assert.equal(
      kernel.ns,
      model.launches
        .filter((launch) => launch.kernel === kernel.index)
        .reduce((sum, launch) => sum + launch.ns, 0),
    );
  assert.ok(Math.abs(model.kernels.reduce((sum, { share }) => sum + share, 0) - 1) < 1e-9);
  assert.deepEqual(
    computing(model.kernels).map(({ index }) => index),
    [0, 1, 2],
  );
  assert.equal(model.span, 81_200);
  assert.ok(model.levels.has(1));
});

test("a kernel's distance to the roof is the part of its limit that it reaches", () => {
  const model = createModel(load());
  assert.equal(model.ridge, 5);
  assert.deepEqual([roof(model, 1), roof(model, 5), roof(model, 50)], [20, 100, 100]);
  for (const kernel of computing(model.kernels))
    assert.ok(Math.abs(kernel.rate / roof(model, kernel.intensity) - kernel.reached) < 1e-3);
});

test("every mark and the ridge are within the axes", () => {
  const model = createModel(load());
  const { x, y } = extent(model);
  for (const { intensity, rate } of computing(model.kernels))
    assert.ok(intensity > x[0] && intensity < x[1] && rate > y[0] && rate < y[1]);
  assert.ok(model.ridge > x[0] && model.ridge < x[1] && model.machine.flops < y[1]);
  const scale = logScale(1, 100, 0, 200);
  assert.deepEqual(
    [1, 10, 100].map((v) => Math.round(scale.at(v))),
    [0, 100, 200],
  );
  assert.deepEqual(logTicks(0.9, 20), [1, 2, 5, 10, 20]);
  assert.deepEqual(logTicks(0.5, 2000), [1, 10, 100, 1000]);
  assert.deepEqual(ticks(10.1, 5), [0, 5, 10]);
});

test("numbers and names are short", () => {
  assert.deepEqual([0.42, 0.0994, 0.0004].map(percent), ["42%", "9.9%", "< 0.1%"]);
  assert.deepEqual([408.48, 0.4977, 12_345].map(short), ["408", "0.498", "12,345"]);
  assert.equal(shortName("nn.contrib_conv2d_winograd_without_weight_transform"), "conv2d_winograd");
  assert.equal(
    shapeOf("Tensor[(1, 4, 56), float32], Tensor[(2), int32], Tensor[(), bool]"),
    "1×4×56, 2, a number",
  );
  assert.equal(shapeOf("bool"), "a number");
});

test("launches of a kernel are gone through around the end", () => {
  const { launches } = createModel(load());
  assert.deepEqual(
    [nextLaunch(launches, 0, -1), nextLaunch(launches, 0, 0), nextLaunch(launches, 0, 2)],
    [0, 2, 0],
  );
  assert.equal(nextLaunch(launches, 9, 0), -1);
});

test("damage is refused with its place", () => {
  const broken = (change) => {
    const view = raw();
    change(view);
    return () => check(view);
  };
  const says = (part) => (error) => error instanceof Damage && error.message.includes(part);
  assert.throws(
    broken((view) => {
      view.kernels[2][2] = 7;
    }),
    says("kernels[2].rule"),
  );
  assert.throws(
    broken((view) => {
      view.launches[1][1] = 3;
    }),
    says("launches[1]"),
  );
  assert.throws(
    broken((view) => {
      view.machine.flops = 0;
    }),
    says("machine.flops"),
  );
  assert.throws(
    broken((view) => {
      view.levels[0][1].view = "types";
    }),
    says("levels[0].view"),
  );
  assert.throws(
    broken((view) => {
      view.levels[0][1].codes[0].lines[2][2] = 50;
    }),
    says("levels[0].view.codes[0].lines[2].block"),
  );
});

test("launches that are too short to be seen share a bar, of the kernel with most of its time", () => {
  const launches = Array.from({ length: 1000 }, (_, index) => ({
    index,
    kernel: index % 3 === 0 ? 1 : 0,
    start: index * 10,
    ns: index % 3 === 0 ? 8 : 3,
  }));
  const model = { launches, span: 10_000 };
  assert.equal(bars(model, 4000).length, 1000, "where there is room, a bar each");
  const few = bars(model, 100);
  assert.ok(few.length <= 51 && few.length > 40);
  assert.deepEqual([few[0].index, few[0].last, few[0].kernel, [...few[0].lit].sort()], [0, 19, 1, [0, 1]]);
  assert.deepEqual(
    few.map(({ last }) => last + 1).slice(0, -1),
    few.slice(1).map(({ index }) => index),
    "every launch is in one",
  );
});

test("launches are found by their time, and a part of a run is added up", () => {
  const model = createModel(check(raw()));
  const { launches } = model;
  assert.deepEqual(
    launches.map(({ start }) => launchAt(launches, start)),
    [...launches.keys()],
  );
  assert.equal(launchAt(launches, -5), 0);
  assert.equal(launchAt(launches, 1e12), launches.length - 1);
  const all = sumOf(model, [0, launches.length - 1]);
  assert.equal(all.count, 7);
  assert.equal(
    all.bytes,
    model.kernels.reduce((sum, { traffic, calls }) => sum + traffic * calls, 0),
  );
  assert.ok(Math.abs(all.share - 1) < 1e-9);
  assert.deepEqual(all.most, [0, 1, 2, 3], "the slowest kernel first");
  const one = sumOf(model, [3, 3]);
  assert.deepEqual([one.count, one.ns, one.most], [1, launches[3].ns, [launches[3].kernel]]);
  assert.deepEqual(ticks(9, 2, 5), [6, 8]);
  assert.deepEqual(ticks(9, 2), [0, 5]);
});

test("a name stands where no mark is, or furthest from them", () => {
  const at = (cx, cy) => ({ cx, cy, size: 20 });
  assert.deepEqual(
    freest(
      [
        [0, 0],
        [100, 0],
      ],
      [],
    ),
    [0, 0],
  );
  assert.deepEqual(
    freest(
      [
        [0, 0],
        [100, 0],
      ],
      [at(10, 0)],
    ),
    [100, 0],
  );
  assert.deepEqual(
    freest(
      [
        [0, 0],
        [50, 0],
        [100, 0],
      ],
      [at(0, 0), at(100, 0)],
    ),
    [50, 0],
  );
});

test("numbers of marks that pile up are apart, off the marks and off the roof", () => {
  const marks = Array.from({ length: 24 }, (_, index) => ({
    index,
    cx: 200 + 4 * (index % 6),
    cy: 100 + 5 * Math.floor(index / 6),
    size: 10 + (index % 3) * 6,
  }));
  const roof = [
    [50, 250],
    [180, 90],
    [400, 90],
  ];
  const places = placeNumbers(marks, [roof], [50, 12, 400, 300]);
  assert.equal(places.size, marks.length);
  const all = [...places.values()];
  all.forEach(({ x, y }, i) => {
    assert.ok(Math.abs(y - 90) > 8 || x < 180, "not on the flat roof");
    for (const mark of marks) assert.ok(Math.hypot(mark.cx - x, mark.cy - y) > mark.size / 2);
    for (const other of all.slice(i + 1)) assert.ok(Math.abs(other.x - x) > 8 || Math.abs(other.y - y) >= 11);
  });
  assert.ok(all.some(({ line }) => line) && all.some(({ line }) => !line), "a line only where it is needed");
  assert.equal(ranges([1, 2, 4, 5, 6, 7, 9]), "1, 2, 4–7, 9");
});
