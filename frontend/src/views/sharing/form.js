// One form of the computation: its numbers, its lines with how often each is evaluated and how long each value is
// needed, and the bytes that are needed over time.
import { fill, h, s, set, uid } from "../../core/dom.js";
import { createRows } from "../../core/rows.js";
import { sentence } from "../../core/sentence.js";
import { size } from "./model.js";
/** @import { SharingModel } from "./model.js" */
/** @import { SharingExplorer } from "./view.js" */

const TALL = 66;
const TOP = 14;
const DOTS = 2;

/**
 * Steps as per cents of a common width, so that the forms can be compared.
 * @param {number} step
 * @param {number} steps
 */
const share = (step, steps) => (100 * step) / steps;

/**
 * How often; dots where it is more than once.
 * @param {HTMLElement} cell
 */
function runs(item, cell) {
  const word = item.runs === 1 ? "evaluated once" : `evaluated ${item.runs} times`;
  fill(
    cell,
    h(
      "span",
      { class: "runs", title: word },
      h(
        "span",
        { "aria-hidden": "true", class: "dots" },
        item.runs === 1 ? "" : "●".repeat(Math.min(DOTS, item.runs)),
      ),
      h("b", { "aria-hidden": "true" }, `${item.runs}×`),
      h("span", { class: "sr" }, word),
    ),
  );
}

/**
 * A bar from the step that makes a value to the last that needs it.
 * @param {SharingModel} model
 * @param {HTMLElement} cell
 * @param {number} step
 */
function bars(model, item, cell, step) {
  const bar = ({ made, last }) => {
    const [from, to] = [share(made, model.steps), share(last + 1, model.steps)];
    const now = made <= step && step <= last;
    return h("span", {
      class: `life${now ? " alive" : ""}${made === step ? " fresh" : ""}`,
      style: { left: `${from}%`, width: `${Math.max(0.8, to - from)}%` },
    });
  };
  const said = item.lives
    .slice(0, 3)
    .map(
      ({ made, last }) =>
        `computed at step ${made + 1}, ${last >= model.steps ? "needed until the end" : `needed until step ${last + 1}`}`,
    )
    .join("; ");
  fill(
    cell,
    h(
      "span",
      { class: "lives", title: `${size(item.bytes)}, ${said}` },
      item.lives.map(bar),
      h("span", { class: "cursor" }),
      h("span", { class: "sr" }, said),
    ),
  );
}

/**
 * The bytes needed after each step, as a stair; the peak is marked, the cursor says its own.
 * @param {SharingModel} model
 * @param {number} step
 */
function chart(model, form, step) {
  const { live, peak } = form;
  const width = 300;
  const x = (at) => (at / model.steps) * width;
  const y = (bytes) => TALL - (bytes / model.bytes) * (TALL - TOP);
  let d = `M0 ${TALL}`;
  live.forEach((bytes, at) => {
    d += `V${y(bytes)}H${x(at + 1)}`;
  });
  const svg = s(
    "svg",
    {
      class: "live",
      viewBox: `0 0 ${width} ${TALL + 1}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    s("path", { class: "area", d: `${d}V${TALL}Z` }),
    s("line", { class: "base", x1: 0, x2: width, y1: TALL, y2: TALL }),
    live.length > 0 && s("line", { class: "top", x1: 0, x2: width, y1: y(peak.bytes), y2: y(peak.bytes) }),
  );
  const at = Math.min(step, live.length - 1);
  const now = live[at] ?? 0;
  return h(
    "div",
    { class: "chart" },
    svg,
    h("span", { class: "cursor" }),
    h(
      "span",
      {
        class: "peak",
        style: { bottom: `${(100 * (peak.bytes / model.bytes) * (TALL - TOP)) / (TALL + 1)}%` },
      },
      `peak ${size(peak.bytes)}`,
    ),
    h(
      "span",
      { class: "sr" },
      `The peak is ${size(peak.bytes)}, after step ${peak.step + 1} of ${form.steps}.`,
    ),
    h(
      "span",
      { class: "axis" },
      h(
        "span",
        null,
        step >= form.steps ? `done after ${form.steps} steps` : `after step ${at + 1}: `,
        step < form.steps && h("b", null, size(now)),
      ),
      h("span", null, `${form.steps} of ${model.steps} steps`),
    ),
  );
}

/**
 * `explorer` has `model`, `step`, `key` (chosen, or -1), `choose(form, row, byReader)` and `point(key)` (the pointer is on it).
 * Returns `{ el, rows, draw(), mark() }`.
 * @param {SharingExplorer} explorer
 * @param {number} index
 */
export function createForm(explorer, index) {
  const { model, view } = explorer;
  const form = model.forms[index];
  const id = uid("form");
  const head = h(
    "div",
    { class: "form-head" },
    h("p", { class: "form-name", id }, form.name),
    h(
      "p",
      { class: "numbers" },
      form.written && [
        h("b", null, form.runs.toLocaleString("en")),
        form.runs === 1 ? " evaluation" : " evaluations",
        " · peak ",
        h("b", null, size(form.peak.bytes)),
      ],
    ),
    h("p", { class: "sentence" }, sentence(form.say)),
  );
  const el = h("section", { class: "form", "aria-labelledby": id, "data-form": index }, head);
  if (!form.written) return { el, rows: null, draw() {}, mark() {}, destroy() {} };

  /** @param {number} row */
  const first = (row) => form.on[row][0];
  const rows = createRows({
    view: form.program,
    label: `${form.name}: ${view.title}`,
    columns: [
      {
        id: "runs",
        title: "runs",
        width: "42px",
        lines: (row) => (form.on[row].length ? 1 : 0),
        draw: (row, cell) => {
          if (first(row)) runs(first(row), cell);
        },
      },
      {
        id: "life",
        title: "needed",
        width: "minmax(60px, 0.45fr)",
        lines: (row) => (form.on[row].length ? 1 : 0),
        draw: (row, cell) => {
          if (first(row)) bars(model, first(row), cell, explorer.step);
        },
      },
    ],
    hooks: {
      select: (row, byReader) => {
        if (byReader) explorer.choose(index, row);
      },
      hover: (hit) => explorer.point(hit ? (view.keys[hit.ref] ? hit.ref : form.keyOf[hit.row]) : -1),
      activate: (row) => explorer.choose(index, row),
    },
  });
  rows.setColumns();
  const box = h("div", { class: "chart-box" });
  const drawn = new Map();
  el.append(rows.el, box);

  /** The step moved: what is made, what is alive, the chart. */
  function draw() {
    const { step } = explorer;
    const now = model
      .made(index, step)
      .map((item) => item.row)
      .filter((row) => row >= 0);
    if (now.length) rows.scrollTo(now[0]);
    rows.mark("now", now);
    // The cursor is one property of the form; a line is drawn again only when its value appears or is let go.
    el.style.setProperty("--at", `${share(step + 0.5, model.steps)}%`);
    for (const row of rows.visible) {
      if (!first(row)) continue;
      const now = first(row)
        .lives.map(({ made, last }) => (made === step ? "f" : made <= step && step <= last ? "a" : "-"))
        .join("");
      if (drawn.get(row) !== now) rows.update(row);
      drawn.set(row, now);
    }
    fill(box, chart(model, form, step));
    set(el, "data-done", step >= form.steps ? "yes" : null);
  }

  /** @param {number} row */
  const inWindow = (row) => {
    const place = rows.place(row);
    return (
      place !== null &&
      place.top >= rows.port.top &&
      place.top + place.height <= rows.port.top + rows.port.height
    );
  };

  /** The same thing in every form: the lines that compute it, and every place that names it; with `show`, in the window. */
  function mark(show = false) {
    /** @param {number} key */
    const own = (key) =>
      key < 0
        ? []
        : form.rows
            .map((_, row) => row)
            .filter(
              (row) =>
                form.on[row].some((item) => item.key === key) ||
                (form.on[row].length === 0 && form.keyOf[row] === key && form.rows[row].kind === 2),
            );
    const same = own(explorer.key);
    if (show && same.length && !same.some(inWindow)) rows.scrollTo(same[0]);
    rows.mark("same", same);
    rows.mark("linked", own(explorer.pointed));
    rows.light([explorer.key, explorer.pointed].filter((key) => key >= 0));
  }

  return { el, rows, draw, mark, destroy: () => rows.destroy() };
}
