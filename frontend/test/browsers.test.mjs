// The bundle asks of a browser no more than the oldest ones that it is for know.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { transform } from "esbuild";
import { TARGETS } from "../targets.mjs";

const bundle = readFileSync(
  new URL("../../relay_explorer/widgets/static/relay_explorer.js", import.meta.url),
  "utf8",
);
const source = new URL("../src/", import.meta.url);
const files = readdirSync(source, { recursive: true })
  .filter((name) => /\.(js|css)$/.test(name))
  .map((name) => [name, readFileSync(new URL(name, source), "utf8")]);

test("the syntax of the bundle is what the oldest browsers read", async () => {
  const options = { minify: true, charset: "utf8", legalComments: "none" };
  const [newest, oldest] = await Promise.all(
    ["esnext", TARGETS].map((target) => transform(bundle, { ...options, target })),
  );
  assert.deepEqual(oldest.warnings, []);
  assert.equal(oldest.code, newest.code, "nothing has to be written in an older way");
  const younger = await transform("class A { static { A.x = /(?<=a)b/v; } }", {
    ...options,
    target: TARGETS,
  });
  assert.doesNotMatch(younger.code, /static\{/, "or it would have been");
});

// Firefox 115 has no :has, no nesting and no text-wrap; Safari 16 neither color mixtures (before 16.2) nor lookbehind.
const YOUNGER = {
  js: [
    /\.(?:toSorted|toSpliced|toReversed|groupBy|withResolvers|fromAsync|isSubsetOf|union|intersection|showPopover|checkVisibility|startViewTransition)\(/,
    /\bstructuredClone\(/,
    /\brequestIdleCallback\(/,
    /\(\?<[=!]/,
    /:has\(/,
  ],
  css: [
    /:has\(/,
    /^\s*&|\{\s*&/m,
    /\blight-dark\(/,
    /@(?:layer|scope|property|starting-style)\b/,
    /\banchor\(/,
    /oklch|oklab/,
  ],
};

test("nothing is used that the oldest browsers do not have", () => {
  const found = files.flatMap(([name, text]) =>
    YOUNGER[name.endsWith(".js") ? "js" : "css"]
      .map((pattern) => [name, pattern.exec(text)?.[0]])
      .filter(([, hit]) => hit),
  );
  assert.deepEqual(found, []);
});

test("where colors cannot be mixed, every mixture is one of them", async () => {
  const { unmixed } = await import("../src/core/unmixed.js");
  const css = files
    .filter(([name]) => name.endsWith(".css"))
    .map(([, text]) => text)
    .join("\n");
  assert.match(css, /color-mix/);
  assert.doesNotMatch(unmixed(css), /color-mix/);
  assert.equal(
    unmixed("a { color: color-mix(in srgb, var(--run) 55%, transparent); }"),
    "a { color: var(--run); }",
  );
  assert.equal(
    unmixed("a { background: color-mix(in srgb,var(--run) 9%,var(--paper)) }"),
    "a { background: var(--hover) }",
  );
});
