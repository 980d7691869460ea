// The answers: why a step could happen, what a line gave each time, what became of a value.
import { causeChain } from "../../core/steps.js";
import { fill, h } from "../../core/dom.js";
import { glyph } from "../../core/glyphs.js";
import { sentence, sentenceText } from "../../core/sentence.js";
import { lastAt, KIND } from "./run.js";
import { KINDS, MARKS } from "./marks.js";
import { valueChip } from "./rows.js";
/** @import { EvaluationExplorer } from "./view.js" */
/** @import { EvaluationView } from "../../generated/evaluation.js" */

const LONGEST = 40;

/**
 * A step as an entry of a list: its mark, number and sentence; clicking goes there.
 * @param {EvaluationExplorer} explorer
 * @param {number} step
 */
export function stepEntry(explorer, step, note = "") {
  const { view } = explorer;
  const { mark, say } = view.steps[step];
  return h(
    "button",
    { class: "entry", type: "button", "data-step": step },
    glyph(MARKS[mark]),
    h("span", { class: "at" }, String(step + 1)),
    h("span", { class: "sentence" }, sentence(say)),
    note && h("span", { class: "note" }, note),
  );
}

/**
 * @param {EvaluationExplorer} explorer
 * @param {HTMLDivElement} pane
 */
function causes(explorer, pane) {
  const { view, step } = explorer;
  const { chain, more } = causeChain((at) => view.steps[at]?.because ?? [], step, LONGEST);
  const ordered = [...chain].sort((a, b) => b.step - a.step);
  const notes = ["", "direct cause"];
  fill(
    pane,
    h("p", { class: "ask" }, "What does this step depend on?"),
    chain.length === 1 && h("p", { class: "soft" }, "It depends only on the program and its arguments."),
    h(
      "ol",
      { class: "chain" },
      ordered.map(({ step: at, depth }) =>
        h("li", { class: at === step ? "here" : "" }, stepEntry(explorer, at, notes[depth] ?? "")),
      ),
    ),
    more > 0 && h("p", { class: "soft" }, `and ${more} earlier steps`),
  );
}

/**
 * Every time that a line was evaluated, near the cursor if they are many.
 * @param {EvaluationExplorer} explorer
 * @param {number} row
 * @param {HTMLDivElement} pane
 */
function line(explorer, pane, row) {
  const { run, step } = explorer;
  const all = run.lines[row];
  const at = lastAt(all, step);
  const from = Math.max(0, Math.min(at - LONGEST / 2, all.length - LONGEST));
  const shown = all.slice(from, from + LONGEST);
  const one = ({ step: when, frame, value }) =>
    h(
      "li",
      { class: when === step ? "here" : "" },
      h(
        "button",
        { class: "entry", type: "button", "data-step": when },
        h("span", { class: "at" }, String(when + 1)),
        h("code", { class: "who" }, run.frameName(frame)),
        h("span", { class: "sentence" }, run.say(value)),
      ),
    );
  fill(
    pane,
    h(
      "p",
      { class: "ask" },
      "What are the results of ",
      h("code", null, explorer.rows.text(row)),
      ", evaluation by evaluation?",
    ),
    h(
      "p",
      { class: "soft" },
      all.length === 0
        ? "No value of this line was recorded."
        : `${all.length} ${all.length === 1 ? "time" : "times"}, ${at + 1} up to this step.`,
    ),
    from > 0 && h("p", { class: "soft" }, `${from} earlier ones`),
    h("ol", { class: "chain" }, shown.map(one)),
    from + shown.length < all.length &&
      h("p", { class: "soft" }, `and ${all.length - from - shown.length} later ones`),
  );
}

/**
 * What is known of an object: all of its text, when it was made and when it can go, and what a cell has held.
 * @param {EvaluationExplorer} explorer
 * @param {HTMLDivElement} pane
 * @param {number} object
 */
function story(explorer, pane, object) {
  const { view, run, step } = explorer;
  const { kind, text: whole, type, row, step: made, last, bytes } = view.objects[object];
  const count = view.steps.length;
  const held = kind === KIND.ref ? run.held(object, step) : [];
  const times = held.map(({ value, step: when }, i) =>
    h(
      "li",
      { class: i === held.length - 1 ? "here" : "" },
      h(
        "button",
        { class: "entry", type: "button", "data-step": when },
        h("span", { class: "at" }, String(when + 1)),
        h(
          "span",
          { class: `sentence${i < held.length - 1 ? " past" : ""}` },
          i < held.length - 1 ? h("s", null, run.say(value)) : run.say(value),
        ),
      ),
    ),
  );
  const parts = kind === KIND.ref ? [] : run.parts(object, step);
  fill(
    pane,
    h("p", { class: "ask" }, `What is #${object}?`),
    h("p", { class: "whole" }, h("code", null, whole)),
    h(
      "p",
      { class: "soft" },
      `A ${KINDS[kind].word}`,
      type && [" of type ", h("code", null, type)],
      bytes > 0 && `, ${bytes} bytes`,
      ". ",
      h(
        "button",
        { class: "link", type: "button", "data-step": Math.min(made, count - 1) },
        `Made at step ${made + 1}`,
      ),
      row >= 0 && [
        " by ",
        h("button", { class: "link", type: "button", "data-row": row }, explorer.rows.text(row)),
      ],
      ". ",
      last >= count
        ? "It is needed until the end."
        : last < made
          ? "It is never needed."
          : [
              step > last ? "Not needed since " : "Needed until ",
              h(
                "button",
                { class: "link", type: "button", "data-step": Math.min(last, count - 1) },
                `step ${last + 1}`,
              ),
              ".",
            ],
    ),
    held.length > 0 && [
      h("p", { class: "ask" }, "Its contents over time:"),
      h("ol", { class: "chain" }, times),
    ],
    parts.length > 0 &&
      h(
        "dl",
        { class: "env" },
        parts
          .slice(0, LONGEST)
          .map(({ name, value }) => [
            h("dt", null, h("code", null, name)),
            h("dd", null, valueChip(explorer, value)),
          ]),
      ),
  );
}

/**
 * Answers what the reader asked: `question` is `{ kind: "step" | "row" | "object", at }`.
 * @param {EvaluationExplorer} explorer
 * @param {HTMLDivElement} pane
 */
export function drawWhy(explorer, pane) {
  const { kind, at } = explorer.question;
  if (kind === "row") line(explorer, pane, at);
  else if (kind === "object") story(explorer, pane, at);
  else causes(explorer, pane);
}

/** @param {string} text */
const plain = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/**
 * What a failure has to say beyond its step's own sentence; false where that is nothing.
 * @param {EvaluationView} view
 * @param {HTMLDivElement} el
 */
export function drawFailure(view, el) {
  const { step, say, notes, tries: attempts } = view.failure;
  const told = plain(sentenceText(view.steps[step].say)).includes(plain(sentenceText(say)));
  if (told && notes.length + attempts.length === 0) return false;
  fill(
    el,
    !told && h("p", { class: "lead sentence" }, h("strong", null, "The run stops here. "), sentence(say)),
    notes.length > 0 &&
      h(
        "ul",
        { class: "notes sentence" },
        notes.map((note) => h("li", null, sentence(note))),
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
  return true;
}
