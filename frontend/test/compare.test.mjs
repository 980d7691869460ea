// The comparison's model: what corresponds, and the lines of each form of the text.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { decode } from "../src/core/decode.js";
import { checkCompare } from "../src/views/compare/check.js";
import { ADDED, KEPT, MOVED, REMOVED, REWRITTEN } from "../src/views/compare/marks.js";
import { createModel } from "../src/views/compare/model.js";

const read = (name) =>
  decode(JSON.parse(readFileSync(new URL(`data/compare_${name}.json`, import.meta.url), "utf8")));
const textOf = (row) => row.tokens.map(({ text }) => text).join("");

test("side by side, every pair has one line; as one text, what differs has two", () => {
  const model = createModel(read("hand"));
  const { pairs } = model;
  assert.equal(model.program("sides").lines.length, pairs.length);
  const both = model.program("both");
  const twice = pairs.filter(({ fate, differs }) => fate === REWRITTEN && differs !== 8).length;
  assert.equal(both.lines.length, pairs.length + twice);
  const signs = both.view.rows.map((row) => row.tokens[0].text.trim());
  assert.deepEqual(new Set(signs), new Set(["", "−", "+", "~", "⇅"]));
  const conv = both.view.rows.filter((row) => textOf(row).includes("nn.conv2d"));
  assert.deepEqual(
    conv.map((row) => row.tokens[0].text),
    ["− ", "+ "],
  );
});

test("a line of one program is empty where it has no row", () => {
  const model = createModel(read("hand"));
  const rows = model.program("b").view.rows;
  model.pairs.forEach((pair, i) => assert.equal(textOf(rows[i]) === "", pair.b < 0));
});

test("only the tokens that differ are marked, whatever names are called", () => {
  const model = createModel(read("hand"));
  const at = (/** @type {string} */ text) =>
    model.pairs.findIndex((_, i) => model.row(i, "b") && textOf(model.row(i, "b")).includes(text));
  const marked = (pair) => model.tokens(pair, "b").filter((_, t) => model.changed(pair)[1][t]);
  assert.deepEqual(
    marked(at("sqrt")).map(({ text }) => text),
    ["sqrt"],
  );
  assert.deepEqual(marked(at("exp(")), []);
});

test("names in B have numbers of their own, and a name leads to its partner", () => {
  const model = createModel(read("passes"));
  const count = model.sides.a.nodes.length;
  const matched = model.partners.a.findIndex((partner) => partner >= 0);
  const [ref, other] = model.related(matched);
  assert.equal(ref, matched);
  assert.equal(other, count + model.partners.a[matched]);
  assert.deepEqual(model.related(other), [other, ref]);
  const fates = new Set(model.sides.b.nodes.map((_, node) => model.fateOf("b", node)));
  assert.ok(fates.has(KEPT) && fates.has(ADDED) && !fates.has(REMOVED));
});

test("damage is refused with its place", () => {
  const view = read("hand");
  checkCompare(view);
  const moved = view.pairs.findIndex(({ fate }) => fate === MOVED);
  for (const [change, where] of [
    [(v) => (v.pairs[0].a = 999), /pairs\[0\]/],
    [(v) => (v.pairs[moved].other = 0), new RegExp(`pairs\\[${moved}\\]`)],
    [(v) => v.partners.pop(), /partners/],
    [(v) => (v.differences[1].last = 999), /differences\[1\]/],
  ]) {
    const damaged = read("hand");
    change(damaged);
    assert.throws(() => checkCompare(damaged), where);
  }
});
