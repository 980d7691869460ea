// The shell's arithmetic: tokens, sentences, rows, bins, lanes.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  formatHash,
  formatList,
  formatToken,
  integer,
  parseHash,
  parseList,
  parseToken,
} from "../src/core/links.js";
import { enclosing, foldParameters, indexAt, offsets, rowText, visibleRows } from "../src/core/rowmodel.js";
import { parts, sentenceText } from "../src/core/sentence.js";
import { binSteps } from "../src/core/timeline.js";
import { glyphPath } from "../src/core/glyphs.js";
import { pace } from "../src/core/transport.js";
import { lanes } from "../src/views/types/wires.js";
import { decode } from "../src/core/decode.js";
import * as fixtures from "./fixtures/learner.js";

const waiting = () => decode(fixtures.waiting());

test("a token survives the round trip, whatever its values hold", () => {
  for (const value of ["a b", "a&b=c", "#:%", "π ⊔ \u2028", "<script>", "'\"()*!"]) {
    assert.deepEqual(parseToken(formatToken({ step: 9, q: value })), { step: "9", q: value });
  }
});

test("a token leaves defaults out and forgives damage", () => {
  assert.equal(formatToken({ step: 1, q: "", sel: null, only: false, x: true }), "step=1&x=1");
  assert.deepEqual(parseToken("=x&step=3&%zz=1&q=%E0%A4%A&noequals"), { step: "3" });
  assert.deepEqual(parseToken(undefined), {});
});

test("an address names the explorer and its state", () => {
  assert.deepEqual(parseHash("#rx-first look:step=9&q=a"), { name: "first look", token: "step=9&q=a" });
  assert.deepEqual(parseHash(formatHash("a:b", "step=2")), { name: "a:b", token: "step=2" });
  assert.deepEqual(parseHash("#rx-x"), { name: "x", token: "" });
  assert.equal(parseHash("#section-2"), null);
  assert.equal(parseHash(""), null);
});

test("numbers and lists of a token", () => {
  assert.equal(integer("12", 0), 12);
  for (const bad of ["", "1e3", "x", undefined, "99999999999"]) assert.equal(integer(bad, -1), -1);
  assert.deepEqual(parseList(formatList(new Set([9, 2, 5]))), [2, 5, 9]);
  assert.deepEqual(parseList("3.x..4"), [3, 4]);
});

test("sentences: code, strong, arguments inside strong, missing arguments", () => {
  assert.deepEqual(parts("{0} is **not {1}**.", ["a", "b"]), [
    { code: "a" },
    " is ",
    { strong: ["not ", { code: "b" }] },
    ".",
  ]);
  assert.deepEqual(parts("{4}", ["a"]), [{ code: "{4}" }]);
  assert.deepEqual(parts("give `%x` a type", []), ["give ", { code: "%x" }, " a type"]);
  assert.deepEqual(parts("one ` alone", []), ["one ` alone"]);
  assert.equal(parts("type F {{ Wrap(fn (F)) }}", []).join(""), "type F { Wrap(fn (F)) }");
  assert.deepEqual(parts("try `fn () {{ 1 }}`", []), ["try ", { code: "fn () { 1 }" }]);
  assert.equal(sentenceText(["{0} is known.\nSo it goes.", "α"]), "α is known. So it goes.");
});

test("an argument is never read as a template", () => {
  assert.equal(sentenceText(["{0}", "{1} **x** `y`", "no"]), "{1} **x** `y`");
});

test("folding hides a block but its first line; filtering opens blocks", () => {
  const { rows } = waiting();
  assert.deepEqual(visibleRows(rows, new Set([1])), [0, 1, 5, 6, 7, 8]);
  assert.deepEqual(visibleRows(rows, new Set([0, 1])), [0]);
  assert.deepEqual(
    visibleRows(rows, new Set([1]), (row) => row % 2 === 0),
    [0, 2, 4, 6, 8],
  );
  assert.deepEqual([...enclosing(rows)], [-1, 0, 1, 1, 1, 0, 0, 0, 0]);
  assert.equal(rowText(rows[2]), "%0 = tanh(%a);");
});

test("a long run of parameters becomes one block, a short one stays", () => {
  const row = (kind, end = -1) => ({ kind, depth: 1, tokens: [], node: -1, end });
  const rows = [
    row(1, 21),
    ...Array.from({ length: 12 }, () => row(2)),
    row(3),
    ...Array.from({ length: 5 }, () => row(2)),
    row(3),
    row(3),
    row(6),
  ];
  const folded = foldParameters(rows);
  assert.deepEqual(folded.heads, [1]);
  assert.equal(folded.rows[1].end, 12);
  assert.equal(rows[1].end, -1, "the data is left as it was");
  assert.deepEqual(foldParameters(rows, Infinity).heads, []);
  assert.deepEqual(
    visibleRows(folded.rows, new Set(folded.heads)),
    [0, 1, 13, 14, 15, 16, 17, 18, 19, 20, 21],
  );
});

test("offsets and their inverse agree", () => {
  const heights = [27, 58, 27, 27, 89];
  const y = offsets([0, 1, 2, 3, 4], (row) => heights[row]);
  assert.deepEqual([...y], [0, 27, 85, 112, 139, 228]);
  for (let px = 0; px < 228; px++) {
    const i = indexAt(y, px);
    assert.ok(y[i] <= px && px < y[i + 1]);
  }
  assert.equal(indexAt(y, 9999), 4);
});

test("bins cover every step once and name the commonest mark", () => {
  const kinds = Array.from({ length: 2388 }, (_, i) => (i % 5 === 0 ? 1 : 2));
  const bins = binSteps(kinds, 240);
  assert.equal(bins[0].from, 0);
  assert.equal(bins.at(-1).to, 2388);
  bins.slice(1).forEach((bin, i) => assert.equal(bin.from, bins[i].to));
  assert.ok(bins.every((bin) => bin.mark === 2 && bin.weight > 0.5));
});

test("marks differ in shape, not in color alone", () => {
  const shapes = ["dot", "link", "bar", "square", "triangle", "cross", "flag"].map((shape) =>
    glyphPath(shape, 0, 0, 5),
  );
  assert.equal(new Set(shapes).size, 7);
});

test("brackets that overlap stand on different lanes, others share one", () => {
  const placed = lanes(
    [
      [0, 1],
      [2, 3],
      [4, 5],
    ],
    (v) => [0, 100, 50, 150, 200, 300][v],
  );
  assert.deepEqual(
    placed.map(({ lane }) => lane),
    [0, 1, 0],
  );
  assert.deepEqual(
    lanes([[0, 1]], (v) => (v ? null : 5)),
    [],
  );
});

test("play is slow enough to read a short run and ends a long one", () => {
  assert.equal(pace(11), 1500);
  assert.ok(pace(2500) * 2500 <= 240_000);
});
