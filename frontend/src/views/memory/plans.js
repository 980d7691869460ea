// One plan of the memory, and from it to another: a part of the MemoryExplorer.
import { fill, h } from "../../core/dom.js";
import { createLegend } from "../../core/legend.js";
import { sentence, sentenceText } from "../../core/sentence.js";
import { WINDOW } from "./aside.js";
import { drawChoices, drawTotals } from "./choices.js";
import { MARKS } from "./marks.js";
import { sameStep } from "./model.js";

export const plans = {
  /** What depends on the plan as a whole: the timeline, the marks, the bars, the sentence that tells what it is. */
  suppose() {
    const { variant, model } = this;
    const kinds = variant.steps.map(({ mark }) => mark);
    this.timeline?.destroy();
    this.timeline = this.timelineOf({
      kinds,
      profile: variant.live,
      valueText: (step) => `step ${step} of ${this.count - 1}: ${this.spoken(step)}`,
    });
    const share = variant.peak / (this.count - 1);
    fill(
      this.time,
      this.timeline.el,
      h(
        "span",
        {
          class: "peak-mark",
          style: { left: `calc(9px + ${share} * (100% - 18px))` },
          "aria-hidden": "true",
        },
        h("span", { class: share > 0.85 ? "left" : "" }, "peak"),
      ),
    );
    fill(this.legend, createLegend({ marks: MARKS, kinds, onMark: (mark) => this.nextMark(mark) }));
    this.drawChoices();
    drawTotals(this.totals, variant, model.variant(0));
    this.plan.hidden = variant.index === 0;
    fill(this.plan, sentence(variant.say));
    this.rows.relayout();
    this.arena.draw(variant);
  },

  drawChoices() {
    const time = this.count > WINDOW && { whole: this.whole, set: (whole) => this.setWhole(whole) };
    drawChoices(
      this.choices,
      this.model,
      this.chosen,
      (axis, choice) => this.choose(this.chosen.map((at, i) => (i === axis ? choice : at))),
      time,
    );
  },

  /**
   * Another plan, with the cursor at the same value where it is computed there too.
   * @param {number[]} chosen
   */
  choose(chosen) {
    const from = this.variant;
    if (chosen.every((choice, i) => choice === this.chosen[i])) return;
    this.transport.stop();
    const inside = this.choices.contains(this.active) ? this.active.dataset.axis : null;
    this.ctx.places.remember();
    this.chosen = chosen;
    this.suppose();
    this.go(from === this.variant ? this.step : sameStep(from, this.step, this.variant), true);
    this.keepSteps();
    if (this.search.state().query) this.search.run();
    if (inside !== null)
      this.choices
        .querySelector(`[data-axis="${inside}"][aria-pressed="true"]`)
        ?.focus({ preventScroll: true });
    this.shell.announce(`${sentenceText(this.variant.say)} ${this.spoken(this.step)}`);
    this.ctx.changed();
  },

  /**
   * The next plan that is another one.
   * @param {number} by
   */
  nextPlan(by) {
    const { variants } = this.view;
    this.choose(this.model.choicesOf((this.model.at(this.chosen) + by + variants.length) % variants.length));
  },
};
