// The panes beside the rows: everything about the chosen line, and the list of requantizations; and the totals in the foot.
import { fill, h } from "../../core/dom.js";
import { glyph } from "../../core/glyphs.js";
import { sentence } from "../../core/sentence.js";
import { createTabs } from "../../core/tabs.js";
import { size } from "../fusion/columns.js";
import { largeHistogram, scaleBars, scalesText, triedCaption, triedCurve } from "./charts.js";
import { errorBar, integerCode, otherwiseText, share } from "./columns.js";
import { CALIBRATE, CANCELLED, FLOAT, GONE, INTEGER, KINDS, MARKS, REALIZE, REQUANTIZED } from "./marks.js";
import { compared, decibels, dtype, short } from "./model.js";
/** @import { QuantizeModel } from "./model.js" */
/** @import { Now } from "./columns.js" */

export const PANES = [
  { id: "line", label: "This line" },
  { id: "whatif", label: "What if" },
  { id: "rescale", label: "Requantization" },
];
/** What a tab shows beside the rows on a phone. */
export const ON_ROWS = [
  { id: "quantizer", label: "Quantizer" },
  { id: "values", label: "Values" },
  { id: "becomes", label: "Integers" },
  { id: "error", label: "Error" },
];
/** The columns of each phase; on a phone, the tab. */
export const COLUMNS = [
  ["quantizer"],
  ["quantizer"],
  ["quantizer", "values", "scale"],
  ["quantizer", "becomes"],
  ["quantizer", "values", "error"],
];
export const TAB_OF_PHASE = ["quantizer", "quantizer", "values", "becomes", "error"];
/** What a tab on a phone is called, where that is other than its pane. */
const SHORT = { line: "Line", rescale: "Requant." };
/** What each phase does, for a reader who has chosen no line. */
const GUIDE = [
  ["float", "the program before quantization: parameters bound, constants folded, computed in float32"],
  ["annotate", "the scheme decides which values become integers, and with how many bits"],
  ["calibrate", "the program runs on typical inputs; the values that it computes decide the ranges"],
  ["realize", "the compiler replaces calls by integer arithmetic and requantizes where scales differ"],
  [
    "compare",
    "the float program and the simulated one run on the same inputs; the error of each line is an SQNR",
  ],
];
const FATES = [
  "",
  "computed in integers",
  "left in float",
  "no counterpart in the integer program",
  "integer weights, float arithmetic",
];

/** `onPane(id)` and `onTab(id)` are called when the reader chooses a pane, or a tab on a phone. */
export function createAside({ onPane, onTab }) {
  const panes = Object.fromEntries(PANES.map(({ id }) => [id, h("div", { class: "pane", tabindex: 0 })]));
  const tabs = createTabs({
    label: "what to show beside the program",
    items: PANES.map((item) => ({ ...item, pane: panes[item.id] })),
    onSelect: (id, byReader) => byReader && onPane(id),
  });
  const narrowTabs = createTabs({
    label: "what to show",
    className: "narrow",
    items: [...ON_ROWS, ...PANES].map(({ id, label }) => ({ id, label: SHORT[id] ?? label })),
    onSelect: (id, byReader) => byReader && onTab(id),
  });
  return { el: h("div", { class: "aside" }, tabs.el, Object.values(panes)), panes, tabs, narrowTabs };
}

/**
 * A range in words: ±3.1, 0 to 6.2.
 * @param {{ kept_low: number, kept_high: number }} range
 */
export const rangeText = ({ kept_low, kept_high }) =>
  kept_low === -kept_high ? `±${short(kept_high)}` : `${short(kept_low)} to ${short(kept_high)}`;

/**
 * One quantizer: its rule, the histogram, the threshold and its reason, the scales.
 * @param {QuantizeModel} model
 * @param {number} at
 * @param {Now} now
 * @param {number} width
 */
function drawSite(model, at, { step, variant }, width) {
  const site = model.sites[at];
  const chosen = model.decided[at][CALIBRATE] <= step;
  const other = model.rangeOf(at, variant);
  const seen = step >= model.firstOf[CALIBRATE];
  const bits = other?.bits ?? site.bits;
  return h(
    "section",
    { class: "q-site" },
    h(
      "p",
      { class: "q-head" },
      site.role === "weight"
        ? ["weight of ", h("code", null, site.name.replace(/^weight of /, ""))]
        : h("code", null, site.name),
      " ",
      h("span", { class: "q-chip" }, h("code", null, dtype({ ...site, bits }))),
      h("span", { class: "soft" }, ` ${site.symmetric ? "symmetric" : "asymmetric"}, per ${site.per}`),
    ),
    site.rule.length > 0 && h("p", { class: "soft" }, sentence(site.rule)),
    !seen && h("p", { class: "soft" }, "Its range is not known until calibration."),
    seen &&
      site.histogram && [
        largeHistogram(site, chosen ? site : null, chosen && other !== site ? other : null, width),
        h("p", { class: "soft q-caption" }, "counts on a logarithmic scale"),
      ],
    chosen && [
      h(
        "p",
        null,
        h("b", null, site.method),
        `: ${rangeText(site)}`,
        site.clipped > 0 && h("span", { class: "q-cut" }, ` ${share(site)} clipped`),
        other && other !== site && h("span", { class: "soft" }, `; what if: ${rangeText(other)}`),
      ),
      site.why.length > 0 && h("p", { class: "soft" }, sentence(site.why)),
      site.tried.length > 1 && [
        triedCurve(site, width),
        h("p", { class: "soft q-caption" }, triedCaption(site)),
      ],
      site.scales.length > 1
        ? [
            scaleBars(site.scales, width, 34),
            h("p", { class: "soft" }, scalesText(site.scales, `one per ${site.per}, `)),
          ]
        : site.scales.length === 1 &&
          h("p", { class: "soft" }, `scale ${short(site.scales[0])}, zero point ${site.zeros[0] ?? 0}`),
    ],
  );
}

/**
 * Everything about a row, as far as it is known after the step.
 * @param {QuantizeModel} model
 * @param {HTMLElement} pane
 * @param {number} row -1 for none
 * @param {Now} now
 */
export function drawLine(model, pane, row, now) {
  if (row < 0) {
    fill(
      pane,
      h("p", { class: "ask" }, "The phases"),
      h(
        "dl",
        { class: "q-guide" },
        GUIDE.map(([name, what], phase) => [
          h("dt", { class: phase === model.steps[now.step].phase ? "here" : null }, name),
          h("dd", null, what),
        ]),
      ),
      h(
        "p",
        { class: "soft" },
        "Choose a line of the program to see its quantizer, its values and its error.",
      ),
    );
    return;
  }
  const { step, variant } = now;
  const width = Math.max(220, Math.min(420, (pane.clientWidth || 340) - 26));
  const { fate, otherwise, say } = model.states[row];
  const sites = model.sitesOf[row];
  const lines = model.linesOf[row].filter((line) => model.integers[line].born <= step);
  const other = variant !== model.view.asked;
  const error = compared(model, step) || other ? model.errorOf(row, variant) : null;
  fill(
    pane,
    h("p", { class: "q-row" }, h("code", null, model.texts[row])),
    model.fateAt[row] <= step && FATES[fate] && h("p", null, h("b", null, FATES[fate])),
    otherwise !== null && compared(model, step) && h("p", null, otherwiseText(model.states[row])),
    !sites.length &&
      fate !== FLOAT &&
      fate !== INTEGER &&
      fate !== GONE &&
      h("p", { class: "soft" }, "Nothing is quantized here."),
    sites.map((site) => drawSite(model, site, now, width)),
    lines.length > 0 && [
      h("p", { class: "ask" }, "In the integer program"),
      h(
        "ol",
        { class: "chain way" },
        lines.map((line) => {
          const { id, word, title } = KINDS[model.integers[line].kind];
          return h(
            "li",
            { class: `added k-${id}` },
            integerCode(model, line),
            h("span", { class: "note", title }, word),
          );
        }),
      ),
    ],
    error !== null && [
      h("p", { class: "ask" }, "Error (simulated)"),
      h("p", { class: "q-line inline" }, errorBar(error, { before: other ? model.states[row].error : null })),
      say.length > 0 && !other && h("p", { class: "soft" }, sentence(say)),
    ],
  );
}

/**
 * The requantizations that were inserted and those that cancelled, in the order of the steps.
 * @param {QuantizeModel} model
 * @param {HTMLElement} pane
 * @param {number} at
 * @param {(step: number) => unknown} onStep
 */
export function drawRequantizations(model, pane, at, onStep) {
  const { steps, view } = model;
  const list = [...steps.keys()].filter((step) => [REQUANTIZED, CANCELLED].includes(steps[step].mark));
  const { requantized, cancelled } = view.totals;
  fill(
    pane,
    h(
      "p",
      { class: "soft" },
      h("i", null, "Requantization"),
      " converts integers to another scale: multiply by the ratio of the scales, round, clip. ",
      h("b", null, `${requantized} inserted, ${cancelled} cancelled`),
      ".",
    ),
    h(
      "ol",
      { class: "chain" },
      list.map((step) =>
        h(
          "li",
          { class: step === at ? "here" : null },
          h(
            "button",
            { class: "entry", type: "button", "data-step": step, onclick: () => onStep(step) },
            glyph(MARKS[steps[step].mark]),
            h("span", { class: "sentence" }, sentence(steps[step].say)),
          ),
        ),
      ),
    ),
  );
}

/**
 * The foot: how much is computed in integers, how large the constants are, and how well the result agrees.
 * @param {HTMLElement} el
 * @param {QuantizeModel} model
 * @param {Now} now
 */
export function drawTotals(el, model, { step }) {
  const { totals, scheme, data, target } = model.view;
  const { phase } = model.steps[step];
  fill(
    el,
    h("span", { class: "total" }, "scheme ", h("b", null, scheme)),
    phase >= CALIBRATE && h("span", { class: "total" }, data),
    phase >= REALIZE && [
      h(
        "span",
        { class: "total" },
        h("b", null, `${totals.integer}`),
        ` calls in integers, ${totals.left} in float`,
        totals.weights > 0 && `, ${totals.weights} in float with integer weights`,
      ),
      h(
        "span",
        { class: "total" },
        "constants: ",
        h("b", null, size(totals.bytes_after)),
        ` instead of ${size(totals.bytes_before)}`,
      ),
    ],
    compared(model, step) &&
      h(
        "span",
        { class: "total" },
        `${totals.result === null ? "" : "SQNR of "}${target < 0 ? "the result" : model.nameOf(target)} `,
        h("b", null, decibels(totals.result)),
      ),
  );
}
