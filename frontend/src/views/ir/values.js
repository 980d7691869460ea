// The elements of a constant or a parameter: their range, their mean, and a histogram.

import { h, s } from "../../core/dom.js";
/** @import { Values } from "../../generated/ir.js" */

const WIDE = 216,
  HIGH = 56;

/** @param {number} n */
const exact = (n) => n.toLocaleString("en");

/**
 * @param {Values | undefined} values
 */
export function valuesPane(values) {
  if (!values) return null;
  const { elements, examined, zeros, odd, least, greatest, mean, histogram } = values;
  const facts = [
    ["elements", exact(elements)],
    least && ["range", least === greatest ? `all ${least}` : `${least} to ${greatest}`],
    least && least !== greatest && ["mean", mean],
    zeros > 0 && ["zeros", `${exact(zeros)} (${share(zeros, examined)})`],
    odd > 0 && ["not finite", exact(odd)],
  ];
  return [
    h("div", { class: "sub" }, "values"),
    h(
      "dl",
      null,
      facts.filter(Boolean).map(([name, value]) => [h("dt", null, name), h("dd", null, value)]),
    ),
    histogram.length ? picture(values) : null,
    examined < elements
      ? h("p", { class: "soft" }, `Of ${exact(examined)} elements at equal distances.`)
      : null,
  ];
}

/**
 * @param {number} part
 * @param {number} whole
 */
const share = (part, whole) => `${((100 * part) / whole).toFixed(part === whole ? 0 : 1)}%`;

/** @param {Values} values */
function picture({ histogram, least, greatest }) {
  const most = Math.max(...histogram),
    step = WIDE / histogram.length;
  const bars = histogram.map((n, i) =>
    s("rect", {
      x: i * step + 0.5,
      width: step - 1,
      y: HIGH - Math.max(n ? 1 : 0, (HIGH * n) / most),
      height: Math.max(n ? 1 : 0, (HIGH * n) / most),
    }),
  );
  const label = `histogram from ${least} to ${greatest}; the highest of ${histogram.length} bars has ${exact(most)} elements`;
  return h(
    "figure",
    { class: "histogram" },
    s(
      "svg",
      { width: WIDE, height: HIGH, viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": label },
      bars,
    ),
    h("figcaption", { "aria-hidden": "true" }, h("span", null, least), h("span", null, greatest)),
  );
}
