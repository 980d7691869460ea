// Places: back and forth between states, and bookmarks that fit into a link.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  MOST_BOOKMARKS,
  createBookmarks,
  createHistory,
  formatBookmarks,
  parseBookmarks,
} from "../src/core/history.js";
import { shortened } from "../src/core/names.js";

test("back and forward go through the places that jumps left", () => {
  let now = "step=1";
  const places = createHistory({ now: () => now, show: (token) => (now = token), moved() {} });
  assert.equal(places.back(), false);
  places.remember();
  now = "step=5";
  places.remember();
  now = "step=9";
  places.remember();
  places.remember(); // twice from one place is once
  now = "step=2";
  const seen = [];
  while (places.back()) seen.push(now);
  assert.deepEqual(seen, ["step=9", "step=5", "step=1"]);
  assert.ok(places.forward());
  assert.equal(now, "step=5");
  places.remember();
  assert.equal(places.canForward, false, "a new jump ends what was ahead");
});

test("bookmarks are bounded, keep any name, and ignore damage", () => {
  const marks = createBookmarks({ store: "", changed() {} });
  assert.match(marks.add("  ", "step=1"), /needs a name/);
  assert.match(marks.add("x", "q".repeat(500)), /too long/);
  for (let i = 0; i < MOST_BOOKMARKS; i++) assert.equal(marks.add(`a~|%${i}`, `step=${i}&q=a%20b`), "");
  assert.match(marks.add("one more", "step=99"), /delete one first/);
  assert.deepEqual(parseBookmarks(marks.text()), marks.list);
  marks.remove(0);
  assert.equal(marks.list.length, MOST_BOOKMARKS - 1);
  assert.deepEqual(parseBookmarks("%E0%A4%A=x|=y|name=step%3D2|nothing"), [
    { name: "name", token: "step=2" },
  ]);
  assert.equal(formatBookmarks([]), "");
});

test("a long name keeps its beginning and its end", () => {
  assert.equal(shortened("short"), "short");
  const long = shortened("a".repeat(60) + "weight");
  assert.equal([...long].length, 40);
  assert.ok(long.endsWith("weight") && long.includes("…"));
});
