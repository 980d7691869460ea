// The popover that saves what an explorer shows: pictures, tables, texts, and all of its steps; and prints it.
import { h } from "../dom.js";
import { parseToken } from "../links.js";
import { sentenceText } from "../sentence.js";
import { draw, svgText } from "./draw.js";
import { panesOf } from "./panes.js";
import { pngOf, rasterize } from "./raster.js";
import { gifOfSteps, zipOfSteps } from "./sequence.js";
import { csvText, gridOf, gridTable, pathOf, programText, tableOf } from "./tables.js";
/** @import { Context, Frame } from "../types.js" */
/** @import { Pane } from "./panes.js" */

/**
 * What the menu needs of an explorer; those without steps have no `count`.
 * @typedef {object} Source
 * @property {HTMLElement} root
 * @property {{ title: string }} view
 * @property {Context} ctx
 * @property {number} [count]
 * @property {number} [step]
 * @property {{ textContent: string | null }} [counter] says which step is shown
 * @property {readonly { say: readonly string[] }[]} [steps]
 * @property {(step: number) => void} [go]
 * @property {(state: Record<string, string | undefined>) => void} restore
 */

const PNG_SCALE = 2;
/** Of GIFs and archives; more fill a reader's memory. */
export const MAX_STEPS = 200;

/**
 * @param {string} text
 */
const slug = (text) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 40);

/**
 * Draws with another theme and comes back to the one that is shown.
 * @template T
 * @param {HTMLElement} root
 * @param {string} theme
 * @param {() => T} run
 */
function inTheme(root, theme, run) {
  const shown = root.dataset.theme;
  if (theme) root.dataset.theme = theme;
  try {
    return run();
  } finally {
    root.dataset.theme = shown;
  }
}

/**
 * @param {Frame} frame
 * @param {Source} source
 */
export function showSave(frame, source) {
  const { root, view, ctx } = source;
  const panes = panesOf(root);
  const select = (/** @type {string} */ label, /** @type {readonly [string, string][]} */ options) =>
    h(
      "select",
      { "aria-label": label },
      options.map(([value, text]) => h("option", { value }, text)),
    );
  const what = select(
    "what to save",
    panes.map(({ label }, i) => [String(i), label]),
  );
  const theme = select("colors", [
    ["", "colors as shown"],
    ["light", "light"],
    ["dark", "dark"],
  ]);
  const result = h("div", { class: "saved", "aria-live": "polite" });
  const pane = () => panes[Number(what.value)];
  const name = (/** @type {string} */ ending, /** @type {Pane | null} */ of = pane()) =>
    `${[ctx.name || slug(view.title) || "explorer", of?.whole ? "" : slug(of?.label ?? "")].filter(Boolean).join("-")}.${ending}`;
  const described = () => ({
    title: view.title,
    description:
      source.count && source.step !== undefined && source.step >= 0
        ? `${source.counter?.textContent ?? source.step + 1}: ${sentenceText(source.steps?.[source.step]?.say ?? [])}`
        : "",
  });
  const picture = (/** @type {Pane} */ of = pane()) =>
    inTheme(root, theme.value, () => draw(of.el, described()));

  /**
   * Saves a file; a frame may refuse that, so the picture or the text can also be copied from here.
   * @param {string} file
   * @param {Blob} blob
   * @param {string | null} text
   */
  async function deliver(file, blob, text = null) {
    const url = URL.createObjectURL(blob);
    const link = h("a", { href: url, download: file }, file);
    link.click();
    const kilobytes = Math.max(1, Math.round(blob.size / 1000)).toLocaleString("en");
    const copy = text === null ? await preview(blob, file) : copyable(text);
    result.replaceChildren(
      h(
        "p",
        null,
        "Saved as ",
        link,
        ` (${kilobytes} kB). If your browser did not save it, copy it from here.`,
      ),
      copy,
    );
  }

  /** @param {() => Promise<void> | void} run */
  async function attempt(run) {
    result.replaceChildren(h("p", null, "Drawing …"));
    try {
      await run();
    } catch (error) {
      result.replaceChildren(
        h("p", { role: "alert" }, `That could not be saved: ${/** @type {Error} */ (error).message}`),
      );
    }
  }

  const button = (
    /** @type {string} */ label,
    /** @type {string} */ title,
    /** @type {() => Promise<void> | void} */ run,
  ) => h("button", { class: "btn", type: "button", title, onclick: () => attempt(run) }, label);
  const saveSvg = () => {
    const text = svgText(picture());
    return deliver(name("svg"), new Blob([text], { type: "image/svg+xml" }));
  };
  const savePng = async () => {
    const drawing = picture();
    const [width, height] = [drawing.width.baseVal.value, drawing.height.baseVal.value];
    return deliver(name("png"), await pngOf(await rasterize(svgText(drawing), width, height, PNG_SCALE)));
  };
  const saveText = () => {
    const text = paneText(pane());
    return deliver(name("txt"), new Blob([text], { type: "text/plain" }), text);
  };
  const saveCsv = () => {
    const table = paneTable(pane());
    if (!table) throw new Error("this part has no rows. Choose the program.");
    const text = csvText(table);
    return deliver(name("csv"), new Blob([text], { type: "text/csv" }), text.slice(1));
  };
  const copyPath = () => {
    const path = selectedPath(panes);
    if (!path) throw new Error("choose a line of the program first.");
    navigator.clipboard?.writeText(path).catch(() => {});
    result.replaceChildren(h("p", null, "Copied, where your browser allows it:"), copyable(path));
  };

  const parts = [
    h("p", { class: "choices" }, what, theme),
    h(
      "p",
      { class: "choices" },
      button("SVG", "a drawing whose text can be selected", saveSvg),
      button("PNG", "a picture with twice the resolution of the screen", savePng),
      button("text", "the lines of the program, also those that are folded", saveText),
      button("CSV", "the rows with all columns, for a spreadsheet", saveCsv),
    ),
    source.count && source.go ? steps() : null,
    h(
      "p",
      { class: "choices" },
      button(
        "copy the path",
        "the name of the chosen line, with the functions and modules around it",
        copyPath,
      ),
      h("button", { class: "btn", type: "button", onclick: print }, "print the page"),
    ),
    result,
  ];

  function steps() {
    const count = source.count ?? 0;
    const number = (
      /** @type {string} */ label,
      /** @type {number} */ value,
      /** @type {Record<string, unknown>} */ more,
    ) => h("label", null, label, h("input", { type: "number", value, "aria-label": label, ...more }));
    const from = number("steps", 1, { min: 1, max: count, "aria-label": "first step" });
    const to = number("to", Math.min(count, MAX_STEPS), { min: 1, max: count, "aria-label": "last step" });
    const seconds = number("seconds each", 1.5, { min: 0.1, max: 60, step: 0.1 });
    const [first, last, time] = [from, to, seconds].map(
      (label) => /** @type {HTMLInputElement} */ (label.querySelector("input")),
    );
    const all = async (/** @type {"gif" | "zip"} */ kind) => {
      const range = rangeOf(first.valueAsNumber, last.valueAsNumber, count);
      const state = ctx.link().token;
      const of = pane();
      const label = of.label;
      const options = {
        range,
        go: (/** @type {number} */ step) => source.go?.(step),
        picture: () => picture(panesOf(root).find((one) => one.label === label) ?? of),
        progress: (/** @type {number} */ done) =>
          result.replaceChildren(h("p", null, `Drawing ${done} of ${range.length} steps …`)),
        // Closing the popover stops.
        stopped: () => !result.isConnected,
      };
      try {
        const blob =
          kind === "gif"
            ? await gifOfSteps({ ...options, seconds: time.valueAsNumber || 1.5 })
            : await zipOfSteps(options);
        if (blob) await deliver(name(kind, of), blob);
      } finally {
        source.restore(parseToken(state));
      }
    };
    return h(
      "p",
      { class: "choices" },
      from,
      to,
      seconds,
      button("GIF", "an animation of these steps", () => all("gif")),
      button("ZIP of SVGs", "one drawing for each step, for slides", () => all("zip")),
    );
  }

  function print() {
    frame.closePopover();
    window.print();
  }

  frame.popover("Save or print", parts);
}

/**
 * @param {number} first
 * @param {number} last
 * @param {number} count
 */
export function rangeOf(first, last, count) {
  const from = Math.min(count, Math.max(1, Math.round(first) || 1));
  const to = Math.min(count, Math.max(from, Math.round(last) || count));
  if (to - from + 1 > MAX_STEPS)
    throw new Error(`these are ${to - from + 1} steps; choose at most ${MAX_STEPS}.`);
  return Array.from({ length: to - from + 1 }, (_, i) => from - 1 + i);
}

/**
 * @param {Blob} blob
 * @param {string} file
 */
async function preview(blob, file) {
  if (!blob.type.startsWith("image/")) return "";
  const src = await new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.readAsDataURL(blob);
  });
  return h("img", { src, alt: `preview of ${file}` });
}

/** @param {string} text */
function copyable(text) {
  /** @type {HTMLTextAreaElement} */
  const area = h("textarea", {
    readonly: true,
    rows: 4,
    "aria-label": "the text, to copy",
    onfocus: () => area.select(),
  });
  area.value = text;
  return area;
}

/** @param {Pane} pane */
function paneText({ el, grids }) {
  const texts = grids.map((grid) => {
    const held = gridOf(grid);
    return held ? programText(held) : "";
  });
  return texts.length ? texts.join("\n") : `${el.innerText.trim()}\n`;
}

/** @param {Pane} pane */
function paneTable({ el, grids }) {
  const held = grids.map(gridOf).find((grid) => grid !== null);
  if (held) return gridTable(held);
  const table = el.querySelector("table");
  return table instanceof HTMLTableElement ? tableOf(table) : null;
}

/** @param {readonly Pane[]} panes */
function selectedPath(panes) {
  for (const grid of panes.flatMap(({ grids }) => grids)) {
    const held = gridOf(grid);
    const row = held ? held.selected() : -1;
    if (held && row >= 0) return pathOf(held, row);
  }
  return "";
}
