// The quantization explorer: the float program is the axis; beside each row stand its quantizer, the values that calibration
// saw, what the integer program computes instead, and the error. The reader steps through the decisions of the real passes.
import { fill, h, text } from "../../core/dom.js";
import { scale } from "../../core/fit.js";
import { Explorer } from "../../core/explorer.js";
import { LATER } from "../../core/later.js";
import { createLegend } from "../../core/legend.js";
import { integer, parseList } from "../../core/links.js";
import { createRows } from "../../core/rows.js";
import { sentence } from "../../core/sentence.js";
import { addStyle } from "../../core/style.js";
import { checkQuantize } from "./check.js";
import { quantizeColumns } from "./columns.js";
import { createFinder } from "./find.js";
import { bindings } from "./keys.js";
import { COMPARE, GONE, MARKS, PHASES, REALIZE } from "./marks.js";
import { compared, createModel, phaseOf } from "./model.js";
import { pointing } from "./pointing.js";
import {
  COLUMNS,
  createAside,
  drawLine,
  drawRequantizations,
  drawTotals,
  ON_ROWS,
  PANES,
  TAB_OF_PHASE,
} from "./panes.js";
import { createPhases } from "./strip.js";
import css from "./style.css";
import { drawWhatIf, whatIfText } from "./whatif.js";
/** @import { QuantizeView } from "../../generated/quantize.js" */
/** @import { Context, Hit, State } from "../../core/types.js" */

addStyle(css);

const LINE = 27 * scale();
/** @type {[string[], string][]} */
const KEYS = [
  [["←", "→"], "step"],
  [["p"], "phase"],
  [["e"], "most noise added"],
  [["w"], "why"],
  [["i"], "what if"],
  [["/"], "find"],
  [["?"], "keys"],
];

/**
 * @param {HTMLElement} root
 * @param {QuantizeView} view
 * @param {Context} ctx
 */
export function mountQuantize(root, view, ctx) {
  checkQuantize(view);
  return new QuantizeExplorer(root, view, ctx).begin();
}

/** @extends {Explorer<QuantizeView>} */
export class QuantizeExplorer extends Explorer {
  nameIn = pointing.nameIn;
  hovered = pointing.hovered;
  /** @type {{ [k: string]: HTMLDivElement; }} */
  panes = LATER;
  /** @type {import("../../core/types.js").Tabs} */
  tabs = LATER;
  /** @type {import("../../core/types.js").Tabs} */
  narrowTabs = LATER;
  /** @type {HTMLDivElement} */
  body = LATER;
  /** @type {HTMLSpanElement} */
  totals = LATER;
  /** @type {HTMLElement} */
  question = LATER;
  /** @type {ReturnType<typeof createPhases>} */
  phases = LATER;

  /**
   * @param {HTMLElement} root
   * @param {QuantizeView} view
   * @param {Context} ctx
   */
  constructor(root, view, ctx) {
    super(root, view, ctx);
    this.model = createModel(view);
    this.step = view.start;
    this.variant = view.asked;
    /** The phase whose columns are drawn. */
    this.drawn = -1;
    /** The choice that Python was asked for. @type {number[] | null} */
    this.wanted = null;
    /** @type {(() => void) | null} */
    this.stop = null;
  }

  get marks() {
    return MARKS;
  }

  // --- building -------------------------------------------------------------------------------------

  build() {
    const { model, ctx } = this;
    this.frameOf("Quantization, phase by phase");
    this.phases = createPhases(model, (phase) => this.jump(model.firstOf[phase]));
    this.buildRows();
    this.finder = createFinder(this);
    this.search = this.finder.search;
    const kinds = model.steps.map(({ mark }) => mark);
    this.timeline = this.timelineOf({ kinds, label: "decision" });
    this.shell.bar.append(
      this.transport.el,
      h("span", { class: "grow" }, this.timeline.el),
      this.counter,
      this.tools(),
    );
    const beside = createAside({
      onPane: () => {
        this.drawPane();
        ctx.changed();
      },
      onTab: (id) => {
        this.place(id);
        ctx.changed();
      },
    });
    this.panes = beside.panes;
    this.tabs = beside.tabs;
    this.narrowTabs = beside.narrowTabs;
    this.question = h("div", { class: "what-if", hidden: true });
    this.body = h("div", { class: "parts split fusion-body quantize-body on-rows" }, this.rows.el, beside.el);
    this.shell.body.append(this.phases.el, this.search.el, this.question, this.narrowTabs.el, this.body);
    this.totals = h("span", { class: "totals" });
    const legend = createLegend({ marks: MARKS, kinds, onMark: (mark) => this.nextMark(mark) });
    this.shell.foot.append(this.totals, legend, this.hints(KEYS));
    this.listen(bindings(this));
  }

  buildRows() {
    this.rows = createRows({
      view: this.model.program,
      label: `program of ${this.view.title}, with its quantizers, its integer program and its errors`,
      lineHeight: LINE,
      foldLists: true,
      title: "float program",
      columns: quantizeColumns(this.model, () => this),
      hooks: {
        select: (_, byReader) => {
          if (!byReader) return;
          this.drawPane();
          this.ctx.changed();
        },
        hover: (hit) => this.hovered(hit),
        fold: () => this.ctx.changed(),
        activate: (row) => this.ask(row),
      },
    });
    this.rows.el.classList.add("quantize-grid");
  }

  // --- state ----------------------------------------------------------------------------------------

  token() {
    const tab = this.narrowTabs.selected;
    const { variant, view } = this;
    return {
      step: this.step + 1,
      row: this.selected(),
      pane: this.tabs.selected === PANES[0].id ? "" : this.tabs.selected,
      tab: this.narrow && tab !== TAB_OF_PHASE[phaseOf(this.model, this.step)] ? tab : "",
      if: this.wanted?.join(".") ?? (variant === view.asked ? "" : view.variants[variant].choice.join(".")),
      ...this.searched(),
      fold: this.folded(),
    };
  }

  /** @param {State} state */
  restore(state) {
    const { model, view } = this;
    if (state.fold) this.rows.setFolded(parseList(state.fold));
    this.tabs.select(PANES.some(({ id }) => id === state.pane) ? state.pane : PANES[0].id);
    const variant = state.if ? model.variantOf(state.if.split(".").map(Number)) : -1;
    this.variant = variant >= 0 ? variant : view.asked;
    this.drawn = -1;
    this.step = Math.max(0, Math.min(this.count - 1, integer(state.step, view.start + 1) - 1));
    const known = [...ON_ROWS, ...PANES].some(({ id }) => id === state.tab);
    this.narrowTabs.select(known ? state.tab : TAB_OF_PHASE[phaseOf(model, this.step)]);
    const row = integer(state.row, -1);
    this.rows.select(model.rows[row] ? row : -1, { quiet: true });
    this.place(this.narrowTabs.selected);
    this.go(this.step, true);
    this.finder.restore(state);
    const at = this.rows.selected >= 0 ? this.rows.selected : this.cursorRow();
    if (at >= 0) this.rows.scrollTo(at, true);
  }

  // --- time -----------------------------------------------------------------------------------------

  /**
   * Shows what is decided after `step`. `quiet`: not the reader's doing, so neither spoken nor put in the address.
   * @param {number} step
   */
  go(step, quiet = false) {
    const { model } = this;
    this.step = Math.max(0, Math.min(this.count - 1, step));
    const { mark, say, phase, row } = model.steps[this.step];
    const narrow = this.narrowTabs.selected;
    if (this.drawn !== phase) {
      // On a phone the tab follows the phase, unless the reader looks at a pane.
      if (ON_ROWS.some(({ id }) => id === narrow) && this.drawn >= 0)
        this.narrowTabs.select(TAB_OF_PHASE[phase]);
      this.drawn = phase;
      this.columns();
    }
    if (row >= 0) {
      this.rows.reveal(row);
      this.rows.scrollTo(row);
    }
    this.redraw();
    this.rows.mark("now", row >= 0 ? [row] : []);
    this.rows.mark(
      "target",
      model.steps[this.step].sites.map((site) => model.sites[site].row).filter((at) => at !== row),
    );
    this.shell.say.dataset.mark = MARKS[mark].id;
    fill(
      this.shell.say,
      sentence(say, (name) => this.nameIn(name)),
    );
    text(this.counter, `${this.step + 1} / ${this.count}`);
    this.timeline.setStep(this.step);
    this.phases.show(phase);
    drawTotals(this.totals, model, this);
    this.drawPane();
    if (quiet) return;
    this.shell.announce(
      `Step ${this.step + 1} of ${this.count}, ${PHASES[phase]}. ${this.spoken(this.step)}`,
    );
    this.ctx.changed();
  }

  /** Draws the cells anew, and marks what became of each row. */
  redraw() {
    const { model, view } = this;
    for (const row of model.rows.keys())
      if (model.sitesOf[row].length || model.linesOf[row].length || model.states[row].fate)
        this.rows.update(row);
    const known = (/** @type {number} */ fate) =>
      [...model.rows.keys()].filter(
        (row) => model.states[row].fate === fate && model.fateAt[row] <= this.step,
      );
    const realized = phaseOf(model, this.step) >= REALIZE;
    this.rows.mark("ghost", realized ? known(GONE) : []);
    this.rows.mark(
      "worst",
      compared(model, this.step) && view.worst >= 0 && this.variant === view.asked ? [view.worst] : [],
    );
  }

  /** @param {number} by */
  nextPhase(by) {
    const { firstOf } = this.model;
    let phase = phaseOf(this.model, this.step) + by;
    while (firstOf[phase] < 0) phase += by;
    if (firstOf[phase] === undefined) return false;
    this.jump(firstOf[phase]);
    return true;
  }

  /** The line that adds most noise, in the comparison. */
  toWorst() {
    const { worst } = this.view;
    const step = this.model.firstOf[COMPARE];
    if (worst < 0 || step < 0) return false;
    this.jump(step);
    this.visit(worst);
    return true;
  }

  /**
   * The step that decides about a row; asked again, the next one.
   * @param {number} row
   */
  ask(row) {
    const steps = this.model.stepsOf[row] ?? [];
    if (!steps.length) return false;
    this.jump(steps.find((step) => step > this.step) ?? steps[0]);
    return true;
  }

  // --- what if --------------------------------------------------------------------------------------

  /**
   * Shows another way to quantize the program.
   * @param {number[]} choice
   */
  choose(choice) {
    const variant = this.model.variantOf(choice);
    if (variant < 0) {
      if (this.canAsk()) this.askFor(choice);
      return;
    }
    this.variant = variant;
    const before = this.active;
    this.columns();
    this.redraw();
    this.drawPane();
    this.refocus(before, ["axis", "option"]);
    this.ctx.changed();
  }

  /** Whether Python can compute a variant that is not there. */
  canAsk() {
    return Boolean(this.view.live && this.ctx.ask);
  }

  /**
   * In a notebook, Python computes one more variant; the answer is a new view, which opens with it.
   * @param {number[]} choice
   */
  askFor(choice) {
    this.wanted = choice;
    const told = h("span", { role: "status" }, "Python is quantizing the program. This takes a moment.");
    this.question.hidden = false;
    fill(this.question, told);
    this.stop?.();
    this.stop = this.ctx.on("problem", (problem) => {
      if (problem) text(told, problem);
    });
    // The state, which names the choice, is reported a moment after a change: the new view begins with it.
    this.ctx.changed();
    setTimeout(() => this.ctx.ask({ choice }), 400);
  }

  // --- what is shown beside ------------------------------------------------------------------------

  pane() {
    const tab = this.narrowTabs.selected;
    return this.narrow && PANES.some(({ id }) => id === tab) ? tab : this.tabs.selected;
  }

  drawPane() {
    const { model } = this;
    const id = this.pane();
    const pane = this.panes[id];
    if (id === "whatif")
      drawWhatIf(model, pane, this.variant, this.canAsk(), (choice) => this.choose(choice));
    else if (id === "rescale") drawRequantizations(model, pane, this.step, (step) => this.jump(step));
    else drawLine(model, pane, this.rows.selected >= 0 ? this.rows.selected : this.cursorRow(), this);
    const other = this.variant !== this.view.asked;
    this.question.hidden = !other;
    if (other)
      fill(
        this.question,
        h("span", null, "What if? ", whatIfText(model, this.variant)),
        h(
          "button",
          {
            class: "btn",
            type: "button",
            onclick: () => this.choose([...model.variants[this.view.asked].choice]),
          },
          "back",
        ),
      );
  }

  /** @param {string} id */
  showPane(id) {
    this.tabs.select(id);
    if (this.narrow) this.place(id);
    this.drawPane();
    this.ctx.changed();
  }

  /**
   * Brings a row into the window and selects it.
   * @param {number} row
   */
  visit(row) {
    if (row < 0) return;
    if (this.narrow && !ON_ROWS.some(({ id }) => id === this.narrowTabs.selected))
      this.place(TAB_OF_PHASE[phaseOf(this.model, this.step)]);
    this.rows.reveal(row);
    this.rows.select(row, { focus: true, byReader: true });
  }

  /** The columns of the phase, with the errors where another choice is shown; on a phone, those of the tab. */
  columns() {
    const tab = this.narrowTabs.selected;
    if (this.narrow) {
      if (ON_ROWS.some(({ id }) => id === tab)) this.rows.setColumns([tab], tab === "becomes");
      return;
    }
    const ids = COLUMNS[phaseOf(this.model, this.step)];
    const other = this.variant !== this.view.asked && !ids.includes("error");
    this.rows.setColumns(other ? [...ids.filter((id) => id !== "scale"), "error"] : ids);
  }

  /**
   * On a phone, what the chosen tab shows; elsewhere everything stands side by side.
   * @param {string} id
   */
  place(id) {
    if (this.narrowTabs.selected !== id) this.narrowTabs.select(id);
    const onRows = ON_ROWS.some((tab) => tab.id === id);
    this.body.classList.toggle("on-rows", onRows);
    this.body.classList.toggle("on-pane", !onRows);
    if (this.narrow && !onRows) this.tabs.select(id);
    this.columns();
    this.drawPane();
  }

  resized() {
    if (this.turned()) this.place(this.narrowTabs.selected);
    if (this.pane() === "line") this.drawPane();
  }

  destroy() {
    this.stop?.();
    super.destroy();
  }
}
