// What the reader chooses to look at: a function of the module, an order of the rows, a what-if; a part of the FusionExplorer.
import { activeIn, fill, h } from "../../core/dom.js";
import { createLegend } from "../../core/legend.js";
import { drawQuestions, whatIf } from "./foot.js";
import { MARKS, marksOf } from "./marks.js";
import { sameStep } from "./model.js";

export const choices = {
  /** What depends on the variant as a whole: the timeline, the marks, the questions, the strip that tells what it changes. */
  suppose() {
    const { variant, model } = this;
    this.timeline?.destroy();
    this.timeline = this.timelineOf({
      kinds: variant.steps.map(({ mark }) => mark),
      marks: marksOf(variant.steps),
      label: "decision",
    });
    fill(this.time, this.timeline.el);
    fill(
      this.legend,
      createLegend({
        marks: MARKS,
        kinds: variant.steps.map(({ mark }) => mark),
        onMark: (mark) => this.nextMark(mark),
      }),
    );
    drawQuestions(this.questions, model.view, this.what, (what) => this.inquire(what));
    this.question.hidden = this.what === 0;
    fill(
      this.question,
      this.what > 0 && [
        h("span", null, whatIf(model.variant(0), variant)),
        h("button", { class: "btn", type: "button", onclick: () => this.inquire(0) }, "as it is"),
      ],
    );
    const order = this.whole.functions[this.function].variants[this.what].order.length > 0;
    this.groupButton.hidden = !this.whole.functions.some(({ variants }) =>
      variants.some(({ order: other }) => other.length > 0),
    );
    this.groupButton.disabled = !order;
    this.groupButton.title = order
      ? "bring the rows of each kernel together (g)"
      : "the rows of each kernel are together";
    this.groupButton.setAttribute("aria-pressed", String(this.grouped && order));
    if (this.chooser) this.chooser.value = String(this.function);
    this.rows.el.style.setProperty("--kernel-lanes", variant.lanes);
    this.wires.moved();
  },

  /** Which rows in which order are shown: no others are needed while this stays. */
  rowsShown() {
    return `${this.function} ${this.grouped ? this.what : "printed"}`;
  },

  /** Other rows: those of another function, or the same in another order. */
  rebuild() {
    const old = this.rows;
    this.take();
    this.buildRows();
    old.el.replaceWith(this.rows.el);
    old.destroy();
    this.finder.renew();
    this.transport.stop();
    this.suppose();
    this.place(this.narrowTabs.selected);
  },

  /**
   * Another function of the module.
   * @param {number} chosen
   */
  choose(chosen) {
    if (chosen === this.function || !this.whole.functions[chosen]) return;
    this.ctx.places.remember();
    this.function = chosen;
    this.what = 0;
    this.rebuild();
    this.go(this.step, true, true);
    this.rows.scrollTo(Math.max(0, this.cursorRow()), true);
    this.shell.announce(`${this.whole.functions[chosen].name}: ${this.whole.functions[chosen].summary}`);
    this.ctx.changed();
  },

  /** @param {number} by */
  nextFunction(by) {
    const { length } = this.whole.functions;
    this.choose((this.function + by + length) % length);
  },

  /** The rows of each kernel together, in another legal order; or as they are printed. */
  regroup(on) {
    if (this.groupButton.disabled || this.groupButton.hidden) return;
    const { step } = this;
    this.grouped = on;
    this.rebuild();
    this.go(step, true, true);
    this.rows.scrollTo(Math.max(0, this.cursorRow()), true);
    this.shell.announce(
      on
        ? "The rows of each kernel are adjacent. The program is equivalent in this order."
        : "The rows are in the order of the program.",
    );
    this.ctx.changed();
  },

  /**
   * Another variant, with the cursor at the same question where there is one.
   * @param {number} what
   */
  inquire(what) {
    if (what === this.what || !this.view.variants[what]) return;
    this.transport.stop();
    // From where the reader last stood, not from where an earlier answer put the cursor.
    const { anchor } = this;
    const to = this.model.variant(what);
    const step =
      anchor.what === what ? anchor.step : sameStep(this.model.variant(anchor.what), anchor.step, to);
    // Focus on a button that is drawn anew would fall to the page.
    const inside =
      this.question.contains(activeIn(this.root)) || this.questions.contains(activeIn(this.root));
    this.ctx.places.remember();
    this.what = what;
    if (this.grouped) this.rebuild();
    else this.suppose();
    this.go(step, true, true);
    this.anchor = anchor;
    this.keepSteps();
    if (this.finder.search.state().query) this.finder.search.run();
    if (inside)
      (this.questions.querySelector('[aria-pressed="true"]') ?? this.root).focus({ preventScroll: true });
    this.shell.announce(
      `${what > 0 ? this.question.querySelector("span").textContent : "The actual result."} ${this.spoken(this.step)}`,
    );
    this.ctx.changed();
  },

  /** @param {number} by */
  nextQuestion(by) {
    this.inquire((this.what + by + this.view.variants.length) % this.view.variants.length);
  },
};
