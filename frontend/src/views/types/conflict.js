// The frame on which a failing program ends: the two types, the reasons for each, what to try.
import { fill, h } from "../../core/dom.js";
import { sentence, sentenceText } from "../../core/sentence.js";
import { stepEntry } from "./panes.js";
/** @import { Conflict, TypesView } from "../../generated/types.js" */

/** @param {TypesView} view */
function side(view, name, { type, chain }, go) {
  const list = h(
    "ol",
    { class: "chain" },
    chain.map(({ step, say }) => h("li", null, stepEntry(view, step, say, go))),
  );
  return h(
    "section",
    { class: `side side-${name}` },
    h("p", { class: "type" }, h("span", { class: "badge" }, name.toUpperCase()), h("code", null, type)),
    list,
  );
}

/** @param {string} text */
const plain = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/**
 * Fills `el` with the conflict; `go(step)` jumps.
 * @param {TypesView} view
 * @param {HTMLDivElement} el
 */
export function drawConflict(view, el, go) {
  const { step, say, left, right, tries: attempts } = view.conflict;
  // A relation may refuse one type by itself (an axis that is not there): then nothing disagrees with it.
  /** @type {[string, import("../../generated/types.js").Side][]} */
  const pair = [
    ["a", left],
    ["b", right],
  ];
  const sides = pair.filter(([, { type, chain }]) => type || chain.length > 0);
  const lead = ["", "This is where it comes from. ", "These two disagree. "][sides.length];
  // The sentence above often says it already; saying it twice would look like two things.
  const told = plain(sentenceText(view.steps[step]?.say)).includes(plain(sentenceText(say)));
  fill(
    el,
    (lead || !told) &&
      h("p", { class: "lead sentence" }, lead && h("strong", null, lead), !told && sentence(say)),
    lead &&
      h(
        "div",
        { class: sides.length > 1 ? "sides" : "sides one" },
        sides.map(([name, one]) => side(view, name, one, go)),
      ),
    attempts.length > 0 &&
      h(
        "div",
        { class: "try sentence" },
        h("strong", null, "What to try"),
        h(
          "ul",
          null,
          attempts.map((one) => h("li", null, sentence(one))),
        ),
      ),
  );
}

/**
 * The rows that the two chains pass through.
 * @param {null | Conflict} conflict
 */
export const conflictRows = ({ left, right }) =>
  [left, right].map(({ chain }) => chain.map(({ row }) => row).filter((row) => row >= 0));
