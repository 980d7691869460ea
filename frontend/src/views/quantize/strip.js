// The phases: float, annotate, calibrate, realize, compare. Each says what came of it, and leads to its first step.
import { h, set } from "../../core/dom.js";
import { counted } from "../fusion/columns.js";
import { PHASES } from "./marks.js";
import { decibels } from "./model.js";
/** @import { QuantizeModel } from "./model.js" */

/**
 * What came of each phase, in few words.
 * @param {QuantizeModel} model
 */
export const results = ({ view: { totals, sites, states } }) => [
  counted(states.filter(({ fate }) => fate > 0).length, "call"),
  counted(sites.length, "quantizer"),
  totals.calibrated > 0 ? counted(totals.calibrated, "input") : "",
  `${totals.integer} in integers`,
  decibels(totals.result),
];

/**
 * `go(phase)` is called when the reader chooses a phase.
 * @param {QuantizeModel} model
 * @param {(phase: number) => unknown} go
 */
export function createPhases(model, go) {
  const words = results(model);
  const frames = PHASES.map((name, phase) =>
    h(
      "button",
      {
        class: "shot",
        type: "button",
        disabled: model.firstOf[phase] < 0,
        title: `to the first step of this phase`,
        onclick: () => go(phase),
      },
      h("span", { class: "shot-name" }, name),
      h("span", { class: "changes" }, words[phase]),
    ),
  );
  return {
    el: h(
      "div",
      { class: "strips q-phases", role: "group", "aria-label": "phases" },
      h(
        "div",
        { class: "strip" },
        h(
          "ol",
          { class: "film", "aria-label": "phases" },
          frames.map((frame) => h("li", null, frame)),
        ),
      ),
    ),
    /**
     * Marks the phase that is shown; only the strip scrolls, never the page.
     * @param {number} phase
     */
    show(phase) {
      frames.forEach((frame, i) => set(frame, "aria-current", i === phase ? "step" : null));
      const film = /** @type {HTMLElement} */ (frames[phase].closest(".film"));
      const [a, b] = [film.getBoundingClientRect(), frames[phase].getBoundingClientRect()];
      if (b.left < a.left || b.right > a.right) film.scrollLeft += b.left - a.left - (a.width - b.width) / 2;
    },
  };
}
