// The columns beside the program: the quantizer, the values that calibration saw, the scale, the integer program, the error.
import { fill, h } from "../../core/dom.js";
import { tokenElement } from "../../core/operators.js";
import { scaleBars, smallHistogram } from "./charts.js";
import { CALIBRATE, FLOAT, FULL, GONE, INTEGER, KINDS } from "./marks.js";
import { compared, decibels, dtype, short } from "./model.js";
/** @import { QuantizeModel } from "./model.js" */
/** @import { RowState, Site } from "../../generated/quantize.js" */
/** @import { Child } from "../../core/types.js" */

/** The kinds of lines that a phase makes, rather than leaves as they were. */
const MADE = [1, 2, 3, 4];

/** What is shown now. @typedef {{ step: number, variant: number }} Now */

/**
 * What a site is called beside its row: nothing for the row's own value.
 * @param {Site} site
 */
const label = ({ role }) => (role === "value" ? "" : role);

/**
 * A line of the integer program, as tokens.
 * @param {QuantizeModel} model
 * @param {number} line
 */
export function integerCode(model, line) {
  const { tokens } = model.view.rows[model.split + line];
  const parts = tokens.map(({ kind, text, ref }, i) => {
    const shown = i === 0 ? text.trimStart() : text;
    if (kind === 0 && ref < 0) return shown;
    return tokenElement(model.program, kind, shown, { class: `t${kind}`, "data-ref": ref >= 0 ? ref : null });
  });
  return h("code", { title: model.lineText(line) }, parts);
}

/**
 * An SQNR as a bar with its number; `dashed` where it is only supposed.
 * @param {number | null} error
 */
export function errorBar(error, { before = null, dashed = false, word = "" } = {}) {
  const share = (/** @type {number | null} */ value) =>
    value === null ? 100 : Math.max(0, Math.min(100, (100 * value) / FULL));
  const level = error === null || error >= 30 ? "good" : error >= 15 ? "fair" : "poor";
  return [
    h(
      "span",
      { class: `q-meter ${level}${dashed ? " dashed" : ""}`, "aria-hidden": "true" },
      h("i", { style: { width: `${share(error)}%` } }),
      before !== null && h("b", { style: { left: `${share(before)}%` } }),
    ),
    h("span", { class: "q-db" }, word, decibels(error)),
  ];
}

/**
 * `now()` gives the step and the variant that are shown.
 * @param {QuantizeModel} model
 * @param {() => Now} now
 */
export function quantizeColumns(model, now) {
  const { sites, sitesOf, linesOf, states, decided, fateAt, integers, view } = model;

  /**
   * A cell with a line for each site of the row.
   * @param {(site: number, now: Now) => Child} write
   */
  const perSite = (write) => (/** @type {number} */ row, /** @type {HTMLElement} */ cell) =>
    fill(
      cell,
      sitesOf[row].map((site) => h("div", { class: "q-line" }, write(site, now()))),
    );

  /**
   * @param {number} row
   * @param {HTMLElement} cell
   */
  function quantizer(row, cell) {
    const { step, variant } = now();
    const state = states[row];
    const lines = sitesOf[row].map((site) => {
      const item = sites[site];
      const there = decided[site][1] <= step;
      const range = model.rangeOf(site, variant);
      const bits = range?.bits ?? item.bits;
      return h(
        "div",
        { class: `q-line${there ? "" : " later"}` },
        label(item) && h("span", { class: "q-role" }, label(item)),
        there
          ? h(
              "span",
              { class: `q-chip${bits < 8 ? " low" : ""}` },
              h("code", null, dtype({ ...item, bits })),
              item.per !== "tensor" &&
                h(
                  "span",
                  { title: `a scale per ${item.per}` },
                  `×${item.scales.length}`,
                  h("span", { class: "sr" }, ` (per ${item.per})`),
                ),
            )
          : h("span", { class: "soft" }, "float32"),
      );
    });
    if (state.fate === FLOAT && fateAt[row] <= step)
      lines.push(
        h(
          "div",
          { class: "q-line" },
          model.isLeft(row)
            ? h("span", { class: "q-chip float", title: "the scheme skips this call" }, "✕ left in float")
            : h("span", { class: "soft", title: "no integer form" }, "computed in float"),
        ),
      );
    fill(cell, lines);
  }

  const values = perSite((site, { step, variant }) => {
    const item = sites[site];
    const seen = step >= model.firstOf[CALIBRATE];
    if (!item.histogram || !seen) return h("span", { class: "soft", "aria-hidden": "true" }, "·");
    const chosen = decided[site][CALIBRATE] <= step;
    const other = model.rangeOf(site, variant);
    return [
      smallHistogram(item, chosen ? item : null, chosen && other !== item ? other : null),
      item.clipped > 0 &&
        chosen &&
        h("span", { class: "q-cut", title: "values outside the range, which are clipped" }, share(item)),
    ];
  });

  const scale = perSite((site, { step }) => {
    const { scales, zeros } = sites[site];
    if (decided[site][CALIBRATE] > step || !scales.length)
      return h("span", { class: "soft", "aria-hidden": "true" }, "·");
    if (scales.length > 1)
      return [scaleBars(scales, 62, 18), h("span", { class: "soft" }, ` ×${scales.length}`)];
    return h(
      "span",
      { title: "scale, and zero point if it is not 0" },
      short(scales[0]),
      zeros[0] !== undefined && zeros[0] !== 0 && h("span", { class: "soft" }, `, zero point ${zeros[0]}`),
    );
  });

  /**
   * @param {number} row
   * @param {HTMLElement} cell
   */
  function becomes(row, cell) {
    const { step } = now();
    const { fate } = states[row];
    if (!linesOf[row].length)
      return fill(
        cell,
        fate === GONE && fateAt[row] <= step && h("div", { class: "q-int ghost" }, "no counterpart"),
      );
    fill(
      cell,
      linesOf[row].map((line) => {
        const { kind, born } = integers[line];
        const state = born > step ? "later" : born === step && MADE.includes(kind) ? "now" : "there";
        const { id, word, title } = KINDS[kind];
        return h(
          "div",
          { class: `q-int k-${id} ${state}` },
          h("span", { class: "q-word", title }, word),
          integerCode(model, line),
          state === "later" && h("span", { class: "sr" }, " (later)"),
        );
      }),
    );
  }

  /**
   * @param {number} row
   * @param {HTMLElement} cell
   */
  function error(row, cell) {
    const { step, variant } = now();
    const state = states[row];
    const other = variant !== view.asked;
    if (!compared(model, step) && !other) return fill(cell);
    const value = model.errorOf(row, variant);
    const worst = !other && row === view.worst;
    const lines = [];
    if (value !== null)
      lines.push(
        h(
          "div",
          { class: "q-line" },
          errorBar(value, { before: other ? state.error : null }),
          worst && h("span", { class: "q-worst", title: "most noise added" }, "▼"),
        ),
      );
    else if (state.fate === INTEGER && model.errorOf(row, view.asked) !== null)
      lines.push(h("div", { class: "q-line soft" }, "not measured"));
    if (state.otherwise !== null && !other)
      lines.push(
        h(
          "div",
          { class: "q-line", title: otherwiseText(state) },
          errorBar(state.otherwise, {
            dashed: true,
            word: state.fate === FLOAT ? "if quantized " : "if in float ",
          }),
        ),
      );
    fill(cell, lines);
  }

  /** @param {number} row */
  const siteLines = (row) => sitesOf[row].length + (states[row].fate === FLOAT ? 1 : 0);
  return [
    { id: "quantizer", title: "quantizer", width: "var(--w-quantizer)", lines: siteLines, draw: quantizer },
    {
      id: "values",
      title: "observed values",
      width: "var(--w-values)",
      lines: (/** @type {number} */ row) => sitesOf[row].length,
      draw: values,
    },
    {
      id: "scale",
      title: "scale",
      width: "var(--w-scale)",
      lines: (/** @type {number} */ row) => sitesOf[row].length,
      draw: scale,
    },
    {
      id: "becomes",
      title: "integer program",
      width: "var(--w-becomes)",
      lines: (/** @type {number} */ row) => Math.max(linesOf[row].length, states[row].fate === GONE ? 1 : 0),
      draw: becomes,
    },
    {
      id: "error",
      title: "SQNR",
      width: "var(--w-error)",
      lines: (/** @type {number} */ row) =>
        (states[row].error !== null ? 1 : 0) + (states[row].otherwise !== null ? 1 : 0),
      draw: error,
    },
  ];
}

/**
 * What the opposite decision about a layer would do.
 * @param {RowState} state
 */
export const otherwiseText = ({ fate, otherwise }) =>
  `${fate === FLOAT ? "If this line were quantized too" : "If this line were left in float"}, the result would ${otherwise === null ? "be exact" : `have ${decibels(otherwise)}`}.`;

/**
 * The share of the values that are clipped.
 * @param {Site} site
 */
export function share({ clipped, values }) {
  const part = (100 * clipped) / Math.max(1, values);
  return part >= 0.1 ? `${part.toFixed(1)}%` : "<0.1%";
}
