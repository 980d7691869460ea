// What can be chosen: kernels or operators, when names are freed, the order; and the foot with what it comes to.
import { fill, h } from "../../core/dom.js";
import { size } from "../fusion/columns.js";
/** @import { MemoryModel } from "./model.js" */

/**
 * Draws the choices of each axis that has some; `choose(axis, choice)`. Those that lead to the same plan look so. `time`
 * is `{ whole, set(whole) }` where not all steps fit beside the rows.
 * @param {HTMLDivElement} el
 * @param {MemoryModel} model
 * @param {number[]} chosen
 */
export function drawChoices(el, model, chosen, choose, time) {
  const now = model.at(chosen);
  /**
   * @param {boolean} whole
   * @param {string} word
   */
  const zoom = (whole, word) =>
    h(
      "button",
      { class: "btn", type: "button", "aria-pressed": whole === time.whole, onclick: () => time.set(whole) },
      word,
    );
  fill(
    el,
    model.axes.map(
      ({ name, choices }, axis) =>
        choices.length > 1 &&
        h(
          "span",
          { class: "choice", role: "group", "aria-label": name },
          h("span", { class: "axis-name" }, name),
          h(
            "span",
            { class: "group" },
            choices.map((choice, i) => {
              const on = i === chosen[axis];
              const same = !on && model.at(chosen.map((at, k) => (k === axis ? i : at))) === now;
              return h(
                "button",
                {
                  class: `btn${same ? " alike" : ""}`,
                  type: "button",
                  "aria-pressed": on,
                  title: same ? "the plan is the same here" : null,
                  "data-axis": axis,
                  onclick: () => choose(axis, i),
                },
                choice,
              );
            }),
          ),
        ),
    ),
    time &&
      h(
        "span",
        { class: "choice", role: "group", "aria-label": "steps shown" },
        h("span", { class: "axis-name" }, "steps"),
        h("span", { class: "group" }, zoom(false, "around this one"), zoom(true, "all")),
      ),
  );
}

/**
 * The sizes, one below the other as bars, each with its share of the largest.
 * @param {HTMLSpanElement} el
 */
export function drawTotals(el, variant, first) {
  const { peak, packed, arena, total } = variant.totals;
  const most = Math.max(total, first.totals.total, 1);
  const differs = (bytes, was) => size(bytes) !== size(was);
  /**
   * @param {string} word
   * @param {string} what
   */
  const line = (word, bytes, what, was) =>
    h(
      "span",
      { class: "total", title: what },
      h("span", { class: "word" }, word),
      h(
        "span",
        { class: "meter", "aria-hidden": "true" },
        h("i", { style: { width: `${(100 * bytes) / most}%` } }),
        differs(bytes, was) && h("u", { style: { left: `${(100 * was) / most}%` } }),
      ),
      h("b", null, size(bytes)),
      differs(bytes, was) && h("span", { class: "was" }, ` was ${size(was)}`),
    );
  fill(
    el,
    line("peak", peak, "the most bytes live at once: no plan for this order takes less", first.totals.peak),
    packed !== null &&
      line(
        "by address",
        packed,
        "the size if a value could have any address instead of a whole buffer: the largest first, each at the lowest address where it fits",
        first.totals.packed ?? packed,
      ),
    line("buffers", arena, "the size of all buffers together", first.totals.arena),
    line("no reuse", total, "the size if every value had a buffer of its own", first.totals.total),
  );
}
