// Drives Firefox through pages that hold one explorer each: `node firefox.mjs FIREFOX < pages.json`, where the pages are
// [{ name, url, files }]. Writes what it saw as JSON: errors, requests, and for each size how the explorer stands in its
// window; with `files` also what it saves.
// Playwright, which drives Chromium in the tests, only takes a Firefox of its own.
import { text } from "node:stream/consumers";
import puppeteer from "puppeteer-core";

const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
];
const STEPS = ["Home", "ArrowRight", "ArrowRight", "End", "ArrowDown", "w", "Escape"];

/** Runs in the page. */
function look() {
  const root = document.querySelector(".relay-explorer").shadowRoot?.querySelector(".rx");
  if (!root) return null;
  const seen = (/** @type {string} */ selector) => {
    const part = root.querySelector(selector);
    if (!part || part.hidden) return true;
    const { top, bottom } = part.getBoundingClientRect();
    return top >= -1 && bottom <= window.innerHeight + 1;
  };
  const { height } = root.getBoundingClientRect();
  return {
    height: Math.round(height),
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    scrolled: window.scrollY,
    seen: { transport: seen(".transport"), sentence: seen(".say"), time: seen(".time") },
    count: root.querySelector(".count")?.textContent ?? "",
    find: root.getRootNode().activeElement?.matches("input[type=search]") ?? false,
  };
}

/** Runs in the page: saves the explorer in every form; returns the size and the first letters of each file. */
async function save() {
  const root = document.querySelector(".relay-explorer").shadowRoot.querySelector(".rx");
  /** @type {Blob[]} */
  const files = [];
  const make = URL.createObjectURL;
  URL.createObjectURL = (/** @type {Blob} */ blob) => {
    files.push(blob);
    return make.call(URL, blob);
  };
  // The browser would ask where to put them.
  const click = HTMLAnchorElement.prototype.click;
  HTMLAnchorElement.prototype.click = function () {
    if (!this.download) click.call(this);
  };
  const press = (/** @type {string} */ label) =>
    [...root.querySelectorAll("button")].find((button) => button.textContent.trim() === label)?.click();
  const told = () => root.querySelector(".saved")?.textContent.includes("Saved as") ?? false;
  press("save");
  /** @type {Record<string, [size: number, begins: string]>} */
  const saved = {};
  const types = { SVG: "svg", PNG: "png", CSV: "csv", GIF: "gif" };
  for (const [label, type] of Object.entries(types)) {
    const before = files.length;
    press(label);
    for (let wait = 0; wait < 200 && !told(); wait++) await new Promise((done) => setTimeout(done, 50));
    const file = files.slice(before).find((blob) => blob.type.includes(type));
    if (!file) continue;
    const begin = new Uint8Array(await file.slice(0, 6).arrayBuffer());
    saved[label] = [file.size, String.fromCharCode(...begin)];
  }
  return saved;
}

const pages = JSON.parse(await text(process.stdin));
const browser = await puppeteer.launch({
  browser: "firefox",
  executablePath: process.argv[2],
  headless: true,
});
const page = await browser.newPage();
/** @type {string[]} */
let errors = [];
page.on("pageerror", (error) => errors.push(String(error)));
page.on("console", (message) => {
  if (["error", "warn"].includes(message.type())) errors.push(message.text());
});
page.on("request", (request) => {
  if (/^(https?|wss?):/.test(request.url())) errors.push(`request to ${request.url()}`);
});
const report = [];
for (const { name, url, files } of pages) {
  for (const size of SIZES) {
    errors = [];
    await page.setViewport(size);
    await page.goto(url);
    await page.waitForFunction(() =>
      document.querySelector(".relay-explorer").shadowRoot?.querySelector(".rx"),
    );
    await page.evaluate(async () => {
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); // it has its height then
      const host = document.querySelector(".relay-explorer");
      host.scrollIntoView({ block: "start" });
      host.shadowRoot.querySelector(".rx").focus({ preventScroll: true });
    });
    const first = await page.evaluate(look);
    const counts = [];
    for (const key of STEPS) {
      await page.keyboard.press(key);
      counts.push((await page.evaluate(look)).count);
    }
    await page.keyboard.press("/");
    const last = await page.evaluate(look);
    /** @type {{ full: { height: number, seen: object }, after: number, saved: object } | null} */
    let whole = null;
    if (files && size.width > 1000) {
      await page.keyboard.press("Escape");
      await page.keyboard.press("Escape");
      await page.keyboard.press("f");
      const full = await page.evaluate(look);
      await page.keyboard.press("f");
      const after = (await page.evaluate(look)).height;
      whole = { full, after, saved: await page.evaluate(save) };
    }
    report.push({ name, ...size, errors, counts, first, last, whole });
  }
}
await browser.close();
process.stdout.write(JSON.stringify(report));
