// The panes: the calls that are done in place, as a tree, and what cells are known to hold.
import { fill, h } from "../../core/dom.js";
import { STATES } from "./marks.js";
/** @import { PartialModel } from "./model.js" */

const MOST = 120;

/**
 * The frames up to `step`, each with what it was given; `go(step)` shows its beginning.
 * @param {HTMLElement} el
 * @param {PartialModel} model
 * @param {number} step
 */
export function drawCalls(el, model, step, go) {
  const inside = new Set(model.stack(step).map(({ number }) => number));
  const here = model.steps[step].frame;
  const begun = model.frames.filter(({ begins }) => begins <= step);
  const at = begun.findIndex(({ number }) => number === here);
  const from = Math.max(0, Math.min(begun.length - MOST, at - MOST / 2));
  const shown = begun.slice(from, from + MOST);
  const line = (frame) => {
    const given = frame.asked ? [] : model.given(frame.number);
    const state = frame.number === here ? "now" : inside.has(frame.number) ? "waits" : "done";
    return h(
      "li",
      { class: `call ${state}`, style: { "--level": Math.min(frame.depth, 12) } },
      h(
        "button",
        {
          type: "button",
          class: "link-row",
          "aria-current": state === "now" ? "true" : null,
          onclick: () => go(frame.begins),
        },
        h("b", null, frame.name),
        frame.turn > 0 && h("span", { class: "turn" }, `recursive call ${frame.turn}`),
        frame.asked && h("span", { class: "turn" }, "written"),
        h(
          "span",
          { class: "args" },
          given.map(({ name, state: known, text }, i) => [
            i > 0 && ", ",
            h(
              "span",
              { class: `s-${STATES[known].id}` },
              h("i", { "aria-hidden": "true" }, STATES[known].sign),
              name,
              h("span", { class: "is" }, known === 2 ? "" : ` = ${text}`),
            ),
          ]),
        ),
        h("span", { class: "sr" }, state === "waits" ? ", waiting" : state === "done" ? ", done" : ", here"),
      ),
    );
  };
  const top = el.scrollTop;
  fill(
    el,
    h(
      "p",
      { class: "heading" },
      "Inlined calls",
      h("span", { class: "soft" }, ` ${begun.length.toLocaleString("en")} so far`),
    ),
    from > 0 && h("p", { class: "soft" }, `${from.toLocaleString("en")} before these`),
    h("ol", { class: "calls" }, shown.map(line)),
    from + shown.length < begun.length &&
      h("p", { class: "soft" }, `${(begun.length - from - shown.length).toLocaleString("en")} after these`),
  );
  el.scrollTop = top;
  const now = el.querySelector(".call.now");
  if (
    now &&
    (now.offsetTop < el.scrollTop || now.offsetTop + now.offsetHeight > el.scrollTop + el.clientHeight)
  )
    el.scrollTop = Math.max(0, now.offsetTop - el.clientHeight / 2);
}

/**
 * What cells are known to hold, and how much of the work is done.
 * @param {HTMLElement} el
 * @param {PartialModel} model
 * @param {number} step
 */
export function drawStore(el, model, step) {
  const held = model.cells(step);
  const { totals } = model.view;
  /** @param {number[]} marks */
  const count = (marks) => model.steps.slice(0, step + 1).filter(({ mark }) => marks.includes(mark)).length;
  /**
   * @param {string} name
   * @param {number} all
   * @param {number} done
   */
  const total = (name, done, all) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, name),
      h("td", null, done.toLocaleString("en")),
      h("td", null, all.toLocaleString("en")),
    );
  const born = model.bindings.filter((row) => model.residual[row].born <= step).length;
  fill(
    el,
    h("p", { class: "heading" }, "Cells with static contents"),
    held.length
      ? h(
          "dl",
          { class: "cells" },
          held.map(({ cell, text }) => [
            h("dt", null, cell),
            h("dd", null, h("span", { class: "soft" }, "holds "), h("code", null, text)),
          ]),
        )
      : h("p", { class: "soft" }, "The contents of every cell are dynamic here."),
    h(
      "table",
      { class: "work" },
      h(
        "thead",
        null,
        h("tr", null, h("td"), h("th", { scope: "col" }, "so far"), h("th", { scope: "col" }, "in total")),
      ),
      h(
        "tbody",
        null,
        total("operators computed", count([1]), totals.computed),
        total("static choices", count([8]), totals.decided),
        total("calls inlined", count([5, 6]), totals.inlined),
        total("residual bindings", born, Math.max(totals.needed, model.bindings.length)),
      ),
    ),
  );
}
