// Quantizations without a browser: what stands beside a row and from when, other choices, the rulers; on samples that the passes made.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Damage } from "../src/core/check.js";
import { decode } from "../src/core/decode.js";
import { checkQuantize } from "../src/views/quantize/check.js";
import { condensed, scalesText, triedCaption } from "../src/views/quantize/charts.js";
import { otherwiseText } from "../src/views/quantize/columns.js";
import { CALIBRATE, COMPARE, PHASES, REALIZE } from "../src/views/quantize/marks.js";
import { createModel, decibels, integerRange, outcome, short } from "../src/views/quantize/model.js";
import { results } from "../src/views/quantize/strip.js";

const NAMES = ["layers", "network", "tree"];
const raw = (name) =>
  JSON.parse(readFileSync(new URL(`data/quantize_${name}.json`, import.meta.url), "utf8"));
const load = (name) => decode(raw(name));
const model = (name) => createModel(load(name));
const rowOf = ({ texts, split }, start) =>
  texts.findIndex((text, row) => row < split && text.startsWith(start));

test("the samples are whole", () => {
  for (const name of NAMES) checkQuantize(load(name));
});

test("damage is refused with its place", () => {
  const states = load("layers");
  states.states.pop();
  assert.throws(() => checkQuantize(states), Damage);
  const choice = load("layers");
  choice.variants[3].choice[0] = 9;
  assert.throws(() => checkQuantize(choice), /variants\[3\]\.choice/);
  const phases = load("layers");
  phases.steps[2].phase = COMPARE;
  assert.throws(() => checkQuantize(phases), /steps\[3\]\.phase/);
});

test("every phase has a first step, in order", () => {
  for (const name of NAMES) {
    const { firstOf } = model(name);
    assert.ok(firstOf.every((step) => step >= 0));
    assert.deepEqual(
      firstOf,
      [...firstOf].sort((a, b) => a - b),
    );
    assert.equal(firstOf.length, PHASES.length);
  }
});

test("a quantizer is chosen before its range, and both before the integers", () => {
  for (const name of NAMES) {
    const m = model(name);
    m.sites.forEach((_, site) => {
      assert.ok(m.decided[site][1] < m.decided[site][CALIBRATE], `${name}, site ${site}`);
      assert.ok(m.decided[site][CALIBRATE] < m.firstOf[REALIZE]);
    });
    for (const { born } of m.integers) assert.ok(born >= m.firstOf[REALIZE] && born < m.firstOf[COMPARE]);
  }
});

test("only lines that compute something stand beside a row", () => {
  const m = model("layers");
  assert.deepEqual(m.linesOf[rowOf(m, "%x")].map(m.lineText), [
    '%0 = qnn.quantize(%x, 0.007843138f, -1, out_dtype="int8");',
  ]);
  assert.equal(m.linesOf[0].length, 0);
  assert.equal(m.linesOf[rowOf(m, "let %c")].length, 2);
});

test("a choice leads to its variant, and that to other errors and ranges", () => {
  const m = model("layers");
  const { asked, axes, variants } = m.view;
  const bits = axes.findIndex(({ name }) => name === "bits");
  const choice = [...variants[asked].choice];
  assert.equal(m.variantOf(choice), asked);
  choice[bits] = axes[bits].options.indexOf("4");
  const four = m.variantOf(choice);
  const row = rowOf(m, "let %d");
  assert.ok(m.errorOf(row, four) < m.errorOf(row, asked) - 10);
  assert.equal(m.rangeOf(0, four).bits, 4);
  assert.equal(m.rangeOf(0, asked), m.sites[0]);
  assert.equal(m.variantOf(choice.map(() => 99)), -1);
  assert.equal(outcome(variants.find(({ refused }) => refused)), "not possible");
});

test("names lead to the nearest row, values of the integer program to the row beside which they stand", () => {
  const m = model("tree");
  const dense = rowOf(m, "%32 = nn.dense");
  assert.equal(m.rowNamed("%32", dense), dense);
  assert.equal(m.rowNamed("%nothing", 0), -1);
  const integer = m.items.findIndex(
    ({ row }) => row >= m.split && m.integers[row - m.split].source === dense,
  );
  assert.equal(m.rowOfItem(integer), dense);
});

test("the integers of a quantizer", () => {
  assert.deepEqual(integerRange({ signed: true, symmetric: true }, 8), [-127, 127]);
  assert.deepEqual(integerRange({ signed: true, symmetric: false }, 8), [-128, 127]);
  assert.deepEqual(integerRange({ signed: false, symmetric: false }, 4), [0, 15]);
  assert.deepEqual(integerRange({ signed: true, symmetric: true }, 2), [-1, 1]);
});

test("numbers are short", () => {
  assert.deepEqual([0, 0.00784313, 1.5e-7, 123456, -0.25].map(short), [
    "0",
    "0.00784",
    "1.5e-7",
    "1.2e5",
    "-0.25",
  ]);
  assert.equal(decibels(null), "exact");
  assert.equal(decibels(31.25), "31.3 dB");
});

test("of many scales the largest of each run is drawn", () => {
  assert.deepEqual(condensed([1, 2, 3]), [1, 2, 3]);
  const many = condensed(Array.from({ length: 200 }, (_, i) => i));
  assert.ok(many.length <= 64);
  assert.equal(many.at(-1), 199);
});

test("the strip counts the calls that the first step counts", () => {
  for (const name of NAMES) {
    const m = model(name);
    assert.ok(m.steps[0].say[0].startsWith(`**${results(m)[0]}**`), name);
  }
  const recorded = load("layers");
  recorded.totals.calibrated = 0;
  assert.equal(results(createModel(recorded))[2], "");
});

test("scales, curves and opposite decisions in words", () => {
  assert.equal(scalesText([0.5, 0.25], "one per channel, "), "2 scales, one per channel, from 0.25 to 0.5");
  assert.equal(scalesText([0.5, 0.5]), "2 scales, all 0.5");
  const site = model("network").sites[0];
  assert.equal(triedCaption(site), "KL divergence (nats) by threshold; ● chosen");
  assert.equal(
    triedCaption({ ...site, method: "least squares", per: "channel" }),
    "squared error by threshold, summed over all channels",
  );
  assert.equal(
    otherwiseText({ fate: 1, otherwise: null }),
    "If this line were left in float, the result would be exact.",
  );
  assert.equal(
    otherwiseText({ fate: 2, otherwise: 29.6 }),
    "If this line were quantized too, the result would have 29.6 dB.",
  );
});
