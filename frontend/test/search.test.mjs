// The language of searches: words, expressions that always end, attributes, types, dataflow patterns; what comes first.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createMatcher, dataflowPattern } from "../src/core/dataflow.js";
import { Lookup } from "../src/core/lookup.js";
import { FIELDS, parseQuery } from "../src/core/query.js";
import { lettersOf } from "../src/core/rank.js";
import { compileRegex } from "../src/core/regex.js";
import { factsOf } from "../src/core/rowfacts.js";

const KINDS = { "%": 2, "@": 3 };
const OPS = /^(?:nn\.\w+|add|multiply|exp|split|tanh)$/;
/** A row from its printed text, with the classes that the package gives. */
function row(text, kind = 3) {
  const parts = text.match(
    /"[^"]*"|[%@]\w+|Tensor\[\([^)]*\), \w+\]|\[[^\]]*\]|[\w.]*[A-Za-z]\w*|\d+f?|.[^%@\w"[]*/g,
  );
  const tokens = parts.map((word, i) => {
    let of = KINDS[word[0]] ?? 0;
    if (OPS.test(word)) of = 4;
    else if (word.startsWith("Tensor")) of = 5;
    else if (/^\w+$/.test(word) && parts[i + 1] === "=") of = 7;
    else if (/^\d+f?$|^\[|^"/.test(word)) of = 6;
    return { kind: of, text: word, ref: -1 };
  });
  return { kind, depth: 1, tokens, node: -1, end: -1, type: "", imported: null };
}
const ROWS = [
  row("%x: Tensor[(1, 64, 56, 56), float32],", 2),
  row("%w_add: Tensor[(8, 4), int8],", 2),
  row("%0 = nn.conv2d(%x, %w_add, padding=[1, 1], groups=32);"),
  row("%1 = nn.bias_add(%0, %w_add);"),
  row("%2 = nn.relu(%1);"),
  row("%3 = add(%2, %x);"),
  row("%4 = nn.relu(%0);"),
  row("%5 = multiply(%3, 2f);"),
];
const lookup = new Lookup(() => ROWS, [{ id: "all", label: "anywhere" }]);
const lines = (query) => lookup.find(query).hits.map(({ line }) => line);

test("an operator's own calls come first, and a name of an attribute never counts", () => {
  assert.deepEqual(
    lines("add"),
    [5, 1, 2, 3],
    "add, then what has add as a word of its name; padding does not count",
  );
  assert.deepEqual(lines("padd"), [], "only an attribute's name has these letters");
  assert.deepEqual(lines("relu"), [4, 6]);
  assert.deepEqual(lines("conv2d"), [2]);
  assert.deepEqual(lines("%x"), [0, 2, 5]);
});

test("letters inside words count only where nothing better answers", () => {
  assert.equal(lookup.find("ulti").hits.length, 1);
  assert.deepEqual(lines("*add*"), [3, 5, 1, 2]);
});

test("words all have to be there; phrases, attributes, types and kinds of rows", () => {
  assert.deepEqual(lines("relu %0"), [6]);
  assert.deepEqual(lines('"relu(%1)"'), [4]);
  assert.deepEqual(lines("padding=[1, 1]"), [2]);
  assert.deepEqual(lines("padding=[2, 2]"), []);
  assert.deepEqual(lines("attr:groups"), [2]);
  assert.deepEqual(lines("groups=32 op:nn.conv2d"), [2]);
  assert.deepEqual(lines("type:int8"), [1]);
  assert.deepEqual(lines("type:(1, 64, …)"), [0]);
  assert.deepEqual(lines("type:(1, ?, 56, *)"), [0]);
  assert.deepEqual(lines("type:(?, ?)"), [1]);
  assert.deepEqual(lines("is:parameter"), [0, 1]);
  assert.deepEqual(lines("name:%0"), [2, 3, 6], "the definition first");
});

test("the letters that answer are known", () => {
  const letters = (query, line) => {
    const { conditions } = lookup.find(query);
    const { text } = factsOf(ROWS[line]);
    return conditions.flatMap((condition) =>
      lettersOf(ROWS[line], condition).map(([a, b]) => text.slice(a, b)),
    );
  };
  assert.deepEqual(letters("add", 2), ["add"], "in %w_add, not in padding");
  assert.deepEqual(letters("/conv\\dd/", 2), ["conv2d"]);
  assert.deepEqual(letters("padding=[1, 1]", 2), ["padding=[1, 1]"]);
});

test("dataflow patterns follow the names that rows use", () => {
  assert.deepEqual(lines("pattern: nn.relu(nn.bias_add(nn.conv2d(*), *))"), [4]);
  assert.deepEqual(lines("pattern: nn.relu(nn.conv2d(*))"), [6]);
  assert.deepEqual(lines('pattern: is_op("nn.relu")(is_op("nn.conv2d")(wildcard(), is_var()))'), [6]);
  assert.deepEqual(lines("pattern: nn.relu(nn.bias_add(*) | nn.conv2d(*))"), [4, 6]);
  assert.deepEqual(lines('pattern: nn.conv2d(*).has_attr({"groups": 32})'), [2]);
  assert.deepEqual(lines('pattern: nn.conv2d(*).has_attr({"groups": 1})'), []);
  assert.deepEqual(lines("pattern: multiply(*, is_constant())"), [7]);
  assert.match(lookup.find("pattern: nn.relu(").problem, /This pattern cannot be read/);
  assert.match(lookup.find("pattern: nn.relu(*))").problem, /comes after its end/);
  assert.deepEqual(createMatcher(ROWS).match(dataflowPattern("nn.relu(nn.bias_add(*))"), 4), [3, 4]);
});

test("the operands of a commutative operator match in either order", () => {
  assert.deepEqual(lines("pattern: add(nn.relu(*), %x)"), [5]);
  assert.deepEqual(lines("pattern: add(%x, nn.relu(*))"), [5], "the operands are the other way around");
  assert.deepEqual(
    lines('pattern: is_op("multiply")(is_constant(), is_op("add")(is_var(), wildcard()))'),
    [7],
  );
  assert.deepEqual(lines("pattern: nn.bias_add(%w_add, nn.conv2d(*))"), [], "only add and multiply commute");
  assert.deepEqual(
    createMatcher(ROWS).match(dataflowPattern("multiply(*, add(%x, nn.relu(%w_add) | nn.relu(*)))"), 7),
    [4, 5, 7],
    "rows of an order that did not match are not among them",
  );
});

test("all rows that a pattern describes are known, and the operators that it names in them", () => {
  const { conditions, hits } = lookup.find("pattern: nn.relu(nn.bias_add(nn.conv2d(*), *))");
  assert.deepEqual(
    hits.map(({ line }) => line),
    [4],
  );
  assert.deepEqual(lookup.partsOf(hits, conditions), [2, 3]);
  const letters = (line) =>
    lettersOf(ROWS[line], conditions[0]).map(([from, to]) => factsOf(ROWS[line]).text.slice(from, to));
  assert.deepEqual([2, 3, 4, 5].map(letters), [["nn.conv2d"], ["nn.bias_add"], ["nn.relu"], []]);
});

test("a type that a view has inferred is found where the program does not print it", () => {
  const typed = ROWS.map((one, at) => ({ ...one, type: at === 5 ? "Tensor[(1, 8), float16]" : "" }));
  const found = (query) => new Lookup(() => typed, [{ id: "all", label: "" }]).find(query).hits;
  assert.deepEqual(
    found("type:float16").map(({ line }) => line),
    [5],
  );
  assert.deepEqual(
    found('pattern: add(*).has_dtype("float16")').map(({ line }) => line),
    [5],
  );
  assert.deepEqual(found("float16"), [], "a word is looked for in what is printed");
});

test("expressions match regardless of case, and what is wrong is said in words", () => {
  assert.deepEqual(compileRegex("conv\\dd").ranges("nn.conv2d, Conv3D"), [
    [3, 9],
    [11, 17],
  ]);
  assert.deepEqual(compileRegex("a|ab|abc").ranges("xabcab"), [
    [1, 4],
    [4, 6],
  ]);
  assert.deepEqual(compileRegex("[^,]+").ranges("a,bc"), [
    [0, 1],
    [2, 4],
  ]);
  for (const [source, said] of [
    ["(a", /a \( has no \)/],
    ["*a", /nothing before \* to repeat/],
    ["(?=a)", /look ahead/],
    ["[a", /a \[ has no \]/],
  ])
    assert.match(parseQuery(`/${source}/`, FIELDS).problem, said);
});

test("no expression takes long", () => {
  const begin = performance.now();
  compileRegex("(a|a)*(a|aa)+(.*)(.*)(.*)(.*)x").ranges("a".repeat(2000));
  compileRegex("(a*)*b").test("a".repeat(2000));
  assert.ok(performance.now() - begin < 3000);
  assert.match(lookup.find("a".repeat(400)).problem, /at most 300 letters/);
});
