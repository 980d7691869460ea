// What stands beside the rows: how much is known of each value, and who made each row of the residual program.
import { fill, h } from "../../core/dom.js";
import { STATES } from "./marks.js";
/** @import { PartialModel } from "./model.js" */

/** A value: its sign, its text. */
export function chip({ state, text }, fresh = false) {
  const { id, sign, word } = STATES[state];
  return h(
    "span",
    { class: `known-chip s-${id}${fresh ? " fresh" : ""}`, title: `${word}: ${text}` },
    h("i", { "aria-hidden": "true" }, sign),
    h("span", { class: "sr" }, `${word}: `),
    h("span", { class: "text" }, text),
  );
}

/**
 * "●2 ○1": how often the row was evaluated, and with what.
 * @param {number[]} counts
 */
function tally(counts) {
  const shown = STATES.map(
    ({ id, sign, word }, i) =>
      counts[i] > 0 &&
      h(
        "span",
        { class: `s-${id}`, title: `${word}: ${counts[i]}` },
        h("i", { "aria-hidden": "true" }, sign),
        String(counts[i]),
        h("span", { class: "sr" }, ` ${word} `),
      ),
  );
  return h("span", { class: "tally" }, shown);
}

/**
 * `now()` gives `{ step, owner }`.
 * @param {PartialModel} model
 */
export function programColumns(model, now) {
  return [
    {
      id: "known",
      title: "what is static",
      width: "var(--w-known)",
      /** @param {number} row */
      draw(row, cell) {
        const { step, owner } = now();
        const value = owner[row] >= 0 ? model.value(row, owner[row], step) : null;
        const counts = model.tally(row, step);
        const times = counts.reduce((sum, n) => sum + n, 0);
        fill(
          cell,
          value && chip(value, value.at === step),
          (times > 1 || (times > 0 && !value)) && tally(counts),
        );
      },
    },
  ];
}

/** @param {PartialModel} model */
export function residualColumns(model) {
  return [
    {
      id: "maker",
      title: "made in",
      width: "var(--w-maker)",
      /** @param {number} row */
      draw(row, cell) {
        const { frame, binds, needed, effect } = model.residual[row];
        if (!binds) return void fill(cell);
        const { name, turn } = model.frames[frame] ?? { name: "", turn: 0 };
        fill(
          cell,
          frame < 0 && h("span", { class: "soft" }, "left out"),
          h(
            "span",
            { class: "maker" },
            name,
            turn > 0 && h("span", { class: "soft" }, ` recursive call ${turn}`),
          ),
          !needed && h("span", { class: "soft" }, " not needed"),
          effect > 0 &&
            h(
              "span",
              { class: "order s-effect", title: `effect ${effect}: effects keep this order` },
              h("i", { "aria-hidden": "true" }, STATES[3].sign),
              h("span", { class: "sr" }, "effect "),
              String(effect),
            ),
        );
      },
    },
  ];
}
