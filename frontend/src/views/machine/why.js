// The reasons beside the program: why a step could happen, what a row gave, the story of an object.
import { fill, h } from "../../core/dom.js";
import { glyph } from "../../core/glyphs.js";
import { sentence } from "../../core/sentence.js";
import { causeChain } from "../../core/steps.js";
import { MARKS } from "./marks.js";
import { STORAGE, TENSOR } from "./run.js";
/** @import { MachineExplorer } from "./view.js" */

const LONGEST = 40;

/**
 * @param {MachineExplorer} explorer
 * @param {number} step
 */
function entry(explorer, step, note = "") {
  const { mark, say } = explorer.view.steps[step];
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
 * @param {MachineExplorer} explorer
 * @param {number} object
 */
function story(explorer, pane, object) {
  const { run, view, step, count } = explorer;
  const { kind, label, bytes, storage, given: given_, made, last, freed } = view.objects[object];
  /**
   * @param {string} words
   * @param {number} at
   */
  const to = (at, words) =>
    h("button", { class: "link", type: "button", "data-step": Math.min(at, count - 1) }, words);
  const tenants = kind === STORAGE ? run.tenants(object) : [];
  fill(
    pane,
    h("p", { class: "ask" }, `What is #${object}?`),
    h("p", { class: "whole" }, h("code", null, run.say(object, step))),
    h(
      "p",
      { class: "soft" },
      `A ${run.kind(object).word}`,
      kind === TENSOR && [" ", h("code", null, label)],
      bytes > 0 && `, ${bytes.toLocaleString("en")} bytes`,
      storage >= 0 && [
        ", in ",
        h("button", { class: "link", type: "button", "data-object": storage }, `#${storage}`),
      ],
      ". ",
      given_ ? "It is part of the arguments. " : [to(made, `Made at step ${made + 1}`), ". "],
      last > made && [to(last, `Last used at step ${last + 1}`), ". "],
      freed < count ? [to(freed, `Freed after step ${freed + 1}`), "."] : "It is live until the end.",
    ),
    tenants.length > 0 && [
      h("p", { class: "ask" }, "Tensors in it, one after another:"),
      h(
        "ol",
        { class: "chain" },
        tenants.map((i) =>
          h(
            "li",
            { class: run.seen(i, step) && !run.gone(i, step) ? "here" : "" },
            h(
              "button",
              { class: "entry", type: "button", "data-step": view.objects[i].made },
              h("span", { class: "at" }, String(view.objects[i].made + 1)),
              h("span", { class: "sentence" }, `#${i} ${view.objects[i].label}`),
            ),
          ),
        ),
      ),
    ],
  );
}

/**
 * Why a step could happen; what an object is; what a row became.
 * @param {MachineExplorer} explorer
 */
export function drawWhy(explorer, pane) {
  const { run, view, step, question } = explorer;
  if (question.kind === "object") return story(explorer, pane, question.at);
  if (question.kind === "row") {
    const from = run.fromRow.get(question.at) ?? [];
    const lines = from.map(({ fn, number }) =>
      h(
        "li",
        null,
        h(
          "button",
          { class: "entry", type: "button", "data-fn": fn, "data-ins": number },
          h("span", { class: "at" }, String(number)),
          h(
            "span",
            { class: "sentence" },
            h("code", null, run.functions[fn].code[number].text),
            ` in ${run.functions[fn].name}`,
          ),
        ),
      ),
    );
    return void fill(
      pane,
      h(
        "p",
        { class: "ask" },
        "Which instructions were generated from ",
        h("code", null, explorer.rows.text(question.at)),
        "?",
      ),
      h(
        "p",
        { class: "soft" },
        from.length
          ? `${from.length} ${from.length === 1 ? "instruction" : "instructions"} came from this line.`
          : "No instruction was generated from this line.",
      ),
      h("ol", { class: "chain" }, lines.slice(0, LONGEST)),
      lines.length > LONGEST && h("p", { class: "soft" }, `and ${lines.length - LONGEST} more`),
    );
  }
  const { chain, more } = causeChain((at) => view.steps[at]?.because ?? [], step, LONGEST);
  const ordered = [...chain].sort((a, b) => b.step - a.step);
  fill(
    pane,
    h("p", { class: "ask" }, "What does this step depend on?"),
    chain.length === 1 && h("p", { class: "soft" }, "It depends only on the program and its arguments."),
    h(
      "ol",
      { class: "chain" },
      ordered.map(({ step: at, depth }) =>
        h("li", { class: at === step ? "here" : "" }, entry(explorer, at, ["", "direct cause"][depth] ?? "")),
      ),
    ),
    more > 0 && h("p", { class: "soft" }, `and ${more} earlier steps`),
  );
}
