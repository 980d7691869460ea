// What outputs of notebooks load the bundle with.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { constants, deflateRawSync } from "node:zlib";
import { inflate } from "../src/loader/inflate.js";

const bundle = readFileSync(
  new URL("../../relay_explorer/widgets/static/relay_explorer.js", import.meta.url),
);
const noise = Uint8Array.from({ length: 70_000 }, (_, i) => (i * i * 2654435761) >>> 13);

test("decompressing gives back what was compressed, in all three kinds of blocks", () => {
  const texts = ["", "a", "abcabcabcabcabcabc".repeat(900), "é–…".repeat(3)].map((text) => Buffer.from(text));
  for (const data of [...texts, noise, bundle.subarray(0, 90_000)])
    for (const options of [{ level: 9 }, { level: 0 }, { strategy: constants.Z_FIXED }])
      assert.ok(Buffer.from(inflate(deflateRawSync(data, options))).equals(Buffer.from(data)));
});

test("damaged data is an error, not an endless loop", () => {
  const whole = deflateRawSync(bundle.subarray(0, 9000));
  assert.throws(() => inflate(whole.subarray(0, 1000)), /ends too early/);
  assert.throws(() => inflate(Uint8Array.of(7, 0, 0)), /damaged/);
});
