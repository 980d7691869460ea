// What saved files are made of, as far as no browser is needed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { paintOf } from "../src/core/save/colors.js";
import { createGif, quantize } from "../src/core/save/gif.js";
import { csvText, field, pathOf, programText } from "../src/core/save/tables.js";
import { crc32, zip } from "../src/core/save/zip.js";
import { rangeOf } from "../src/core/save/menu.js";

test("computed colors become what every program reads", () => {
  assert.deepEqual(paintOf("rgb(255, 0, 127)"), { color: "#ff007f", alpha: 1 });
  assert.deepEqual(paintOf("rgba(0, 0, 0, 0.5)"), { color: "#000000", alpha: 0.5 });
  assert.deepEqual(paintOf("color(srgb 1 0.5 0 / 0.25)"), { color: "#ff8000", alpha: 0.25 });
  for (const unseen of ["none", "transparent", "rgba(1, 2, 3, 0)", "", "url(#x)"])
    assert.equal(paintOf(unseen), null);
});

test("a spreadsheet computes nothing of what a CSV holds", () => {
  assert.equal(field('=HYPERLINK("http://x","y")'), `"'=HYPERLINK(""http://x"",""y"")"`);
  assert.equal(field("@SUM(1)"), "'@SUM(1)");
  assert.equal(field("+1-cmd"), "'+1-cmd");
  assert.equal(field("-1.5e3"), "-1.5e3");
  assert.equal(field('a "b", c'), '"a ""b"", c"');
  assert.equal(
    csvText([
      ["a", 1],
      ["é\n", 2],
    ]),
    '\ufeffa,1\r\n"é\n",2\r\n',
  );
});

const token = (kind, text) => ({ kind, text, ref: -1 });
const rows = [
  { kind: 1, depth: 0, end: 3, tokens: [token(1, "def "), token(3, "@main"), token(0, "(")] },
  {
    kind: 3,
    depth: 1,
    end: -1,
    tokens: [token(2, "%12"), token(0, " = "), token(4, "add")],
    imported: { op: "Add", name: "a", path: "layer1.0", location: "" },
  },
  { kind: 5, depth: 1, end: -1, tokens: [token(4, "tanh"), token(2, "%12")] },
  { kind: 6, depth: 0, end: -1, tokens: [token(0, "}")] },
];

test("the text and the paths of a program", () => {
  const grid = { rows, columns: [], selected: () => -1 };
  assert.equal(programText(grid), "def @main(\n  %12 = add\n  tanh%12\n}\n");
  assert.equal(pathOf(grid, 0), "@main");
  assert.equal(pathOf(grid, 1), "@main/layer1/0/%12");
});

test("a range of steps stays within the run and within the memory", () => {
  assert.deepEqual(rangeOf(2, 4, 9), [1, 2, 3]);
  assert.deepEqual(rangeOf(0, 99, 3), [0, 1, 2]);
  assert.deepEqual(rangeOf(NaN, NaN, 2), [0, 1]);
  assert.throws(() => rangeOf(1, 900, 1000), /900 steps; choose at most/);
});

test("a palette holds rare colors too", () => {
  const flat = new Uint32Array(4000).fill(0xffffff);
  const many = Uint32Array.from({ length: 4000 }, (_, i) => ((i % 60) << 16) | (i % 251));
  const { palette, indexOf } = quantize(Uint32Array.of(...flat, ...many, 0x00ff00));
  assert.ok(palette.length <= 256);
  assert.equal(palette[indexOf(0x00ff00)], 0x00ff00);
  assert.equal(palette[indexOf(0xffffff)], 0xffffff);
});

test("a film of two frames holds the change alone", () => {
  const gif = createGif(40, 30);
  const data = new Uint8ClampedArray(40 * 30 * 4).fill(200);
  gif.add({ data, width: 40, height: 30 }, 1);
  data[4 * (10 * 40 + 5)] = 0;
  gif.add({ data, width: 40, height: 30 }, 1);
  const bytes = Buffer.from(gif.finish());
  assert.equal(bytes.subarray(0, 6).toString(), "GIF89a");
  const second = bytes.lastIndexOf(Buffer.from([0x2c]));
  assert.deepEqual([...bytes.subarray(second, second + 9)], [0x2c, 5, 0, 10, 0, 1, 0, 1, 0]);
});

test("an archive is what other programs read", async () => {
  assert.equal(crc32(new TextEncoder().encode("123456789")), 0xcbf43926);
  const bytes = Buffer.from(await zip([{ name: "a.txt", data: Uint8Array.of(65) }]).arrayBuffer());
  assert.equal(bytes.readUInt32LE(0), 0x04034b50);
  assert.equal(bytes.readUInt32LE(bytes.length - 22), 0x06054b50);
});
