// The heap's picture: lists as chains, trees without overlaps, rings that end, and what matters always in it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { layout } from "../src/views/evaluation/heap_layout.js";
import { MOST, ROLE, reach, shape } from "../src/views/evaluation/heap_shape.js";

/** Values written as `{ id: [label, ...parts] }`; a part is a text, or `[id, role]`. */
function heap(values) {
  return (id) => {
    const [label, ...parts] = values[id];
    return {
      id,
      label,
      parts: parts.map((part) =>
        Array.isArray(part)
          ? { name: "", id: part[0], role: part[1] ?? 0, text: values[part[0]][0] }
          : { name: "", id: -1, role: 0, text: part },
      ),
    };
  };
}
const list = (n) =>
  Object.fromEntries(
    Array.from({ length: n }, (_, i) => [
      i,
      ["Cons", String(i), ...(i + 1 < n ? [[i + 1, ROLE.rest]] : ["Nil"])],
    ]),
  );
/** A full binary tree: node i has the children 2i + 1 and 2i + 2. */
const tree = (n) =>
  Object.fromEntries(
    Array.from({ length: n }, (_, i) => [
      i,
      2 * i + 2 < n ? ["Node", [2 * i + 1, 2], [2 * i + 2, 2]] : ["Leaf", String(i)],
    ]),
  );
const written = (unit) => unit.cells.map((cell) => cell.segs.map((seg) => seg.text || "•").join(" "));
const drawn = (made) => layout(made, 400).cells;

function apart(cells) {
  for (const [i, a] of cells.entries())
    for (const b of cells.slice(i + 1)) {
      assert.ok(
        a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y,
        `${a.id} lies on ${b.id}`,
      );
    }
}

test("a list is one chain, its constructor written once, its end inside the last cell", () => {
  const made = shape(heap(list(4)), [0]);
  assert.deepEqual(made.units.map(written), [["Cons 0", "1", "2", "3 Nil"]]);
  assert.equal(made.left, 0);
});

test("a long list shows its ends and what matters; the count of the others stands in the gap", () => {
  const made = shape(heap(list(1000)), [0], new Set([500]));
  const [unit] = made.units;
  assert.deepEqual(
    unit.cells.map((cell) => cell.id),
    [0, 1, 2, -1, 498, 499, 500, 501, 502, -1, 998, 999],
  );
  assert.equal(
    unit.cells.reduce((sum, cell) => sum + (cell.gap || 1), 0),
    1000,
  );
  assert.equal(made.left, 990);
  apart(drawn(made));
});

test("a tree beyond the limit is cut, and the way to what matters is drawn all the same", () => {
  const get = heap(tree(4095));
  const made = shape(get, [0], new Set([4000]));
  const ids = new Set(drawn(made).map((cell) => cell.id));
  for (let at = 4000; at >= 0; at = at ? (at - 1) >> 1 : -1)
    assert.ok(ids.has(at), `the way to 4000 passes ${at}`);
  assert.ok(ids.size <= MOST);
  assert.equal(ids.size + made.left, 4095);
  const stubs = drawn(made)
    .flatMap((cell) => cell.segs)
    .filter((seg) => seg.kind === "stub");
  assert.equal(
    stubs.reduce((sum, seg) => sum + Number(seg.text), 0),
    made.left,
  );
  apart(drawn(made));
});

test("what two hold is drawn once, with a link from the second", () => {
  const get = heap({
    0: ["Node", [2, 2], [3, 2]],
    1: ["Node", [3, 2], [2, 2]],
    2: ["Leaf", "a"],
    3: ["Leaf", "b"],
  });
  const made = shape(get, [0, 1]);
  assert.equal(made.units.length, 2);
  assert.equal(drawn(made).length, 4);
  assert.equal(made.links.length, 2);
  assert.equal(layout(made, 400).edges.filter((edge) => edge.kind === "shared").length, 2);
  const twice = shape(heap({ 0: ["pair", [1], [1]], 1: ["Leaf", "a"] }), [0]);
  assert.deepEqual([drawn(twice).length, twice.links.length], [2, 1], "also when one holds it twice");
});

test("two lists with a common tail: the second ends in a link to the middle of the first", () => {
  const get = heap({
    0: ["Cons", "0", [1, 1]],
    1: ["Cons", "1", [2, 1]],
    2: ["Cons", "2", "Nil"],
    3: ["Cons", "9", [1, 1]],
  });
  const made = shape(get, [0, 3]);
  assert.deepEqual(made.units.map(written), [["Cons 0", "1", "2 Nil"], ["Cons 9 •"]]);
  assert.deepEqual(
    made.links.map(({ to }) => to),
    [1],
  );
});

test("rings end: a cell that holds itself, a chain that bites its tail, roots in a ring", () => {
  assert.equal(drawn(shape(heap({ 0: ["ref", [0]] }), [0])).length, 1);
  const chain = shape(heap({ 0: ["Cons", "0", [1, 1]], 1: ["Cons", "1", [0, 1]] }), [0, 1]);
  assert.equal(drawn(chain).length, 2);
  assert.equal(chain.links.length, 1);
  assert.deepEqual(reach(heap({ 0: ["a", [1]], 1: ["b", [0]] }), [0, 1]).top, [0]);
});

test("the list of a node's subtrees stands in the node, and each member has its edge", () => {
  const get = heap({
    0: ["Rose", "3", [1, 3]],
    1: ["Cons", [3, 2], [2, 1]],
    2: ["Cons", [4, 2], "Nil"],
    3: ["Rose", "1", "Nil"],
    4: ["Rose", "2", "Nil"],
  });
  const made = shape(get, [0]);
  const [unit] = made.units;
  assert.equal(unit.cells.length, 1);
  assert.deepEqual(
    unit.cells[0].segs.filter((seg) => seg.list !== undefined).map((seg) => seg.list),
    [1, 2, 2],
  );
  assert.deepEqual(
    unit.children.map((child) => child.unit.cells[0].id),
    [3, 4],
  );
  const at = layout(made, 400);
  assert.ok(at.place.has(1) && at.place.has(2), "the cells of the list have places of their own");
  apart(at.cells);
});

test("trees of many shapes: no box on another, children in their order", () => {
  let seed = 11;
  const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  for (let round = 0; round < 60; round++) {
    const size = 2 + random(40);
    const values = {};
    for (let i = 0; i < size; i++) values[i] = ["Node", "x".repeat(random(12))];
    for (let i = 1; i < size; i++) values[random(i)].push([i, random(4) ? 2 : 0]);
    const at = layout(shape(heap(values), [0]), 200 + random(400));
    assert.equal(at.cells.length, size);
    apart(at.cells);
    const x = new Map(at.cells.map((cell) => [cell.id, cell.x]));
    for (let i = 0; i < size; i++) {
      const kids = values[i].slice(2).map(([id]) => x.get(id));
      assert.deepEqual(
        kids,
        [...kids].sort((a, b) => a - b),
      );
    }
    assert.ok(
      at.cells.every(
        (cell) => cell.x >= 0 && cell.x + cell.w <= at.width + 2 && cell.y + cell.h <= at.height,
      ),
    );
  }
});

test("a list of 100,000 and a tree as deep as that are drawn in part", () => {
  const made = shape(heap(list(100_000)), [0], new Set([700]));
  assert.ok(drawn(made).length < 30);
  const deep = Object.fromEntries(
    Array.from({ length: 100_000 }, (_, i) => [i, i < 99_999 ? ["Node", "1", [i + 1, 2]] : ["Leaf"]]),
  );
  assert.ok(drawn(shape(heap(deep), [0])).length <= MOST);
});
