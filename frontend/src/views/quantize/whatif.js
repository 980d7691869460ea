// What if: other bits, ranges, scales or methods. Each option says how well the result would then agree with float; the answers
// were computed beforehand by the real passes.
import { fill, h } from "../../core/dom.js";
import { counted, size } from "../fusion/columns.js";
import { errorBar } from "./columns.js";
import { decibels, outcome } from "./model.js";
/** @import { QuantizeModel } from "./model.js" */

/**
 * Draws the questions for `variant`; `choose(choice)` is called with an option for each axis.
 * @param {QuantizeModel} model
 * @param {HTMLElement} pane
 * @param {number} variant
 * @param {boolean} live whether what was not computed can be asked for
 * @param {(choice: number[]) => unknown} choose
 */
export function drawWhatIf(model, pane, variant, live, choose) {
  const { view, axes, variants } = model;
  if (variant < 0 || (variants.length < 2 && !live)) {
    fill(
      pane,
      h(
        "p",
        { class: "soft" },
        "No variants were computed: the program is too large, or nothing is quantized.",
      ),
    );
    return;
  }
  const { choice } = variants[variant];
  const asked = variants[view.asked];
  const now = variants[variant];
  fill(
    pane,
    axes.map(({ name, options }, axis) =>
      h(
        "div",
        { class: "q-axis", role: "group", "aria-label": name },
        h("p", { class: "ask" }, name),
        h(
          "div",
          { class: "q-options" },
          options.map((option, i) => {
            const wanted = choice.map((at, k) => (k === axis ? i : at));
            const answer = model.variantOf(wanted);
            return h(
              "button",
              {
                class: "btn q-option",
                type: "button",
                "aria-pressed": choice[axis] === i,
                "data-axis": axis,
                "data-option": i,
                disabled: answer < 0 && !live,
                title: variants[answer]?.refused || null,
                onclick: () => choose(wanted),
              },
              h("span", null, option),
              h(
                "span",
                { class: "q-answer" },
                answer < 0 ? (live ? "ask Python" : "not computed") : outcome(variants[answer]),
              ),
            );
          }),
        ),
      ),
    ),
    h(
      "div",
      { class: "q-outcome", role: "status" },
      now.refused
        ? h("p", { class: "q-refused" }, `Not possible: ${now.refused}`)
        : [
            h(
              "p",
              null,
              view.target >= 0 ? [h("code", null, model.nameOf(view.target)), ": "] : "Result: ",
              h(
                "span",
                { class: "q-line inline" },
                errorBar(now.result, { before: variant === view.asked ? null : asked.result }),
              ),
              variant !== view.asked &&
                h("span", { class: "soft" }, ` (scheme's own choice: ${outcome(asked)})`),
            ),
            h(
              "p",
              { class: "soft" },
              sameText(now.same, view.totals.compared),
              now.bytes > 0 && `; constants take about ${size(now.bytes)}`,
              ".",
            ),
          ],
      variant !== view.asked &&
        h(
          "button",
          { class: "link", type: "button", "data-back": "1", onclick: () => choose([...asked.choice]) },
          "back to the scheme's own choice",
        ),
    ),
  );
}

/**
 * On how many inputs the answer is the same.
 * @param {number} same
 * @param {number} compared
 */
export const sameText = (same, compared) =>
  `The largest element, the predicted class of a classifier, is the same on ${same} of ${counted(compared, "input")}`;

/**
 * The line above the rows while another choice is shown.
 * @param {QuantizeModel} model
 * @param {number} variant
 */
export function whatIfText({ axes, variants, view }, variant) {
  const { choice, refused, result } = variants[variant];
  const asked = variants[view.asked].choice;
  const changed = axes.filter((_, axis) => choice[axis] !== asked[axis]);
  const words = axes.flatMap(({ name, options }, axis) =>
    choice[axis] === asked[axis] ? [] : [`${name} = ${options[choice[axis]]}`],
  );
  const what = h("b", null, changed.length ? words.join(", ") : "as the scheme chose");
  if (refused) return [what, `: not possible: ${refused}`];
  return [what, ` → ${decibels(result)} instead of ${outcome(variants[view.asked])}`];
}
