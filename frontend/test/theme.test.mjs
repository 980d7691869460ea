// Contrast: every text color on every ground it stands on, in both themes. And what style sheets may reach.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const css = readFileSync(new URL("../src/core/theme.css", import.meta.url), "utf8");

function tokens(selector) {
  const from = css.indexOf(selector + " {");
  const block = css.slice(from, css.indexOf("}", from));
  return Object.fromEntries(
    [...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map(([, name, value]) => [name, value]),
  );
}

function luminance(hex) {
  const [r, g, b] = [1, 3, 5]
    .map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const contrast = (a, b) => {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
};

const HUES = ["blue", "orange", "teal", "red", "purple", "olive", "sky", "pink", "brown", "grey"];
const PAIRS = [
  ...["ink", "soft", "accent"].flatMap((name) =>
    ["paper", "panel", "now", "hover"].map((ground) => [name, ground]),
  ),
  ...["keyword", "global", "op", "type", "literal", "attr", "ctor", "comment"].flatMap((name) =>
    ["paper", "now", "hover"].map((ground) => [`tok-${name}`, ground]),
  ),
  ...["unknown", "partial", "known", "queued", "run", "bad"].flatMap((name) => [
    [name, "paper"],
    ...(name === "unknown" ? [] : [[name, `${name}-bg`]]),
  ]),
  ...HUES.flatMap((hue) => [
    [`hue-${hue}`, "paper"],
    [`hue-${hue}`, `hue-${hue}-fill`],
    ["ink", `hue-${hue}-fill`],
  ]),
  ["accent-ink", "accent"],
];

for (const [theme, selector] of [
  ["light", ".rx"],
  ["dark", '.rx[data-theme="dark"]'],
]) {
  test(`${theme}: text stands out from its ground by 4.5 or more`, () => {
    const values = tokens(selector);
    const low = PAIRS.map(([text, ground]) => [text, ground, contrast(values[text], values[ground])]).filter(
      ([, , ratio]) => !(ratio >= 4.5),
    );
    assert.deepEqual(low, []);
  });
  test(`${theme}: lines that carry meaning stand out by 3 or more`, () => {
    const values = tokens(selector);
    for (const ground of ["paper", "panel", "now"])
      assert.ok(
        contrast(values.edge, values[ground]) >= 3,
        `edge on ${ground}: ${contrast(values.edge, values[ground])}`,
      );
  });
}

test("a view's style sheet leaves the rows of other views alone", () => {
  /** @param {string} css */
  const selectors = (css) =>
    [...css.replace(/\/\*[^]*?\*\//g, "").matchAll(/([^{};]+)\{/g)]
      .filter(([, head]) => !head.trim().startsWith("@"))
      .flatMap(([, head]) => head.split(",").map((selector) => selector.trim()));
  /** @param {string} selector */
  const classes = (selector) => [...selector.matchAll(/\.([a-z][\w-]*)/gi)].map(([, name]) => name);
  const src = new URL("../src/", import.meta.url);
  /** @param {string} path */
  const sheet = (path) => selectors(readFileSync(new URL(path, src), "utf8"));
  const shared = new Set(sheet("core/rows.css").flatMap(classes));
  shared.delete("rx");
  const leaks = readdirSync(new URL("views/", src), { recursive: true })
    .filter((path) => /\.(css|js)$/.test(path))
    .flatMap((path) => sheet(`views/${path}`).map((selector) => ({ path, selector })))
    .filter(
      ({ selector }) =>
        /^\.rx [^>]/.test(selector) && classes(selector.slice(4)).every((name) => shared.has(name)),
    )
    .map(({ path, selector }) => `${path}: ${selector}`);
  assert.deepEqual(leaks, []);
});

test("what is written on the heat map can be read, and its steps are told apart", () => {
  const style = readFileSync(new URL("../src/views/ir/style.css", import.meta.url), "utf8");
  for (const selector of [".rx {\n  --heat-0", '.rx[data-theme="dark"] {\n  --heat-0']) {
    const from = style.indexOf(selector),
      block = style.slice(from, style.indexOf("}", from));
    assert.ok(from >= 0);
    const colors = Object.fromEntries(
      [...block.matchAll(/--(heat-\d(?:-ink)?):\s*(#[0-9a-f]{6})/g)].map(([, name, value]) => [name, value]),
    );
    for (let step = 0; step < 7; step++) {
      const fill = colors[`heat-${step}`];
      assert.ok(contrast(fill, colors[`heat-${step}-ink`]) >= 4.5, `${selector} ${step}`);
      if (step) assert.ok(contrast(fill, colors[`heat-${step - 1}`]) > 1.07, `${selector} ${step}`);
    }
  }
});
