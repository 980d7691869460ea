// Drives Firefox through pages that hold one explorer each: `node firefox.mjs FIREFOX < pages.json`, where the pages are
// [{ name, url }]. Writes what it saw as JSON: errors, requests, and for each size how the explorer stands in its window.
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
for (const { name, url } of pages) {
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
    report.push({ name, ...size, errors, counts, first, last });
  }
}
await browser.close();
process.stdout.write(JSON.stringify(report));
