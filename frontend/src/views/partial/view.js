// The explorer of partial evaluation: on the left the program, with what is known of each value; on the right what
// remains of it, growing while the reader steps through what the real pass decided.
import { fill, h, text } from "../../core/dom.js";
import { scale } from "../../core/fit.js";
import { LATER } from "../../core/later.js";
import { Explorer } from "../../core/explorer.js";
import { createLegend } from "../../core/legend.js";
import { integer, parseList } from "../../core/links.js";
import { createRows } from "../../core/rows.js";
import { sentence } from "../../core/sentence.js";
import { addStyle } from "../../core/style.js";
import { checkPartial } from "./check.js";
import { programColumns, residualColumns } from "./columns.js";
import { createFinder } from "./find.js";
import { bindings } from "./keys.js";
import { MARKS, STATES } from "./marks.js";
import { createModel } from "./model.js";
import { drawCalls, drawStore } from "./panes.js";
import css from "./style.css";
/** @import { PartialView } from "../../generated/partial.js" */
/** @import { Context, State } from "../../core/types.js" */

addStyle(css);

const LINE = 28 * scale();
const TABS = [
  { id: "program", label: "Program" },
  { id: "remains", label: "Residual" },
  { id: "calls", label: "Calls" },
  { id: "store", label: "Cells" },
];
/** @type {[string[], string][]} */
const KEYS = [
  [["←", "→"], "step"],
  [["o"], "over"],
  [["r"], "call"],
  [["n"], "left"],
  [["a"], "all"],
  [["/"], "find"],
  [["?"], "keys"],
];

/**
 * @param {HTMLElement} root
 * @param {PartialView} view
 * @param {Context} ctx
 */
export function mountPartial(root, view, ctx) {
  checkPartial(view);
  return new PartialExplorer(root, view, ctx).begin();
}

/** @extends {Explorer<PartialView>} */
export class PartialExplorer extends Explorer {
  /** @type {{ calls: HTMLElement; store: HTMLElement; }} */
  panes = LATER;
  /** @type {ReturnType<Explorer['partTabs']>} */
  tabs = LATER;
  /** @type {HTMLButtonElement} */
  allButton = LATER;
  /** @type {HTMLParagraphElement} */
  newest = LATER;
  /** @type {ReturnType<typeof createLegend>} */
  legend = LATER;
  /** @type {ReturnType<typeof createRows>} */
  remains = LATER;
  /** @type {any} */
  last = LATER;

  /**
   * @param {HTMLElement} root
   * @param {PartialView} view
   * @param {Context} ctx
   */
  constructor(root, view, ctx) {
    super(root, view, ctx);
    this.model = createModel(view);
    this.step = view.start;
    this.owner = this.model.owner(this.step);
    this.all = false;
    this.signs = [];
    this.keep = [null, null];
  }

  get marks() {
    return MARKS;
  }

  get steps() {
    return this.model.steps;
  }

  // --- building -------------------------------------------------------------------------------------

  build() {
    const { model } = this;
    this.frameOf("Partial evaluation, step by step");
    this.buildRows();
    this.finder = createFinder(this);
    this.search = this.finder.search;
    const kinds = model.steps.map(({ mark }) => mark);
    this.timeline = this.timelineOf({ kinds, profile: this.profile() });
    this.shell.bar.append(
      this.transport.el,
      h("span", { class: "grow" }, this.timeline.el),
      this.counter,
      this.tools(
        this.button("over", "step over the call that begins here (o)", () =>
          this.jump(model.over(this.step)),
        ),
      ),
    );
    this.panes = {
      calls: h("section", { class: "pane", tabindex: 0, "aria-label": "inlined calls" }),
      store: h("section", { class: "pane", tabindex: 0, "aria-label": "cells, and totals" }),
    };
    this.tabs = this.partTabs(TABS, { redraw: () => this.drawPanes() });
    this.allButton = h("button", {
      class: "link all",
      type: "button",
      onclick: () => this.setAll(!this.all),
    });
    this.newest = h("p", { class: "newest" });
    this.body = h(
      "div",
      { class: "parts partial-body", "data-on": "program" },
      this.newest,
      h("div", { class: "side side-program" }, this.rows.el),
      h("div", { class: "side side-remains" }, this.remains.el),
      h("div", { class: "panes" }, this.panes.calls, this.panes.store),
    );
    this.shell.body.append(this.search.el, this.tabs.el, this.body);
    this.legend = createLegend({ marks: MARKS, kinds, onMark: (mark) => this.nextMark(mark) });
    const states = h(
      "span",
      { class: "states" },
      STATES.map(({ id, sign, word }) =>
        h("span", { class: `s-${id}` }, h("i", { "aria-hidden": "true" }, sign), ` ${word}`),
      ),
    );
    this.shell.foot.append(states, this.allButton, this.legend, this.hints(KEYS));
    this.listen(bindings(this));
  }

  /** The depth of the calls at each step, for the line that the marks follow; none where nothing is called. */
  profile() {
    const { steps, frames } = this.model;
    const depths = steps.map(({ frame }) => frames[frame].depth);
    const most = Math.max(...depths);
    return most > 1 ? depths : null;
  }

  buildRows() {
    const { model, view } = this;
    const now = () => ({ step: this.step, owner: this.owner });
    this.rows = createRows({
      view: model.program,
      label: `${view.title}: the program, and what is static in it`,
      lineHeight: LINE,
      foldLists: true,
      title: "the program",
      columns: programColumns(model, now),
      hooks: {
        select: (_, byReader) => byReader && this.chose(this.rows),
        hover: (hit) => this.hovered(hit?.row ?? -1, -1, hit?.ref ?? -1),
        activate: () => this.ask(),
        fold: () => {
          this.tint();
          this.ctx.changed();
        },
      },
    });
    this.remains = createRows({
      view: model.remains,
      label: `${view.title}: the residual program`,
      lineHeight: LINE,
      foldLists: true,
      title: "the residual program",
      columns: residualColumns(model),
      hooks: {
        select: (_, byReader) => byReader && this.chose(this.remains),
        hover: (hit) => this.hovered(-1, hit?.row ?? -1, hit?.ref ?? -1),
        activate: () => this.ask(),
        fold: () => this.grow(),
      },
    });
    this.rows.el.classList.add("partial-grid", "program-grid");
    this.remains.el.classList.add("partial-grid", "remains-grid");
    this.rows.setColumns();
    this.remains.setColumns();
    this.last = this.rows;
  }

  // --- state ----------------------------------------------------------------------------------------

  token() {
    const tab = this.tabs.selected;
    return {
      step: this.step + 1,
      row: this.selected(),
      out: this.remains.selected >= 0 ? this.remains.selected : "",
      all: this.all ? 1 : "",
      tab: tab === "program" ? "" : tab,
      ...this.searched(),
      fold: this.folded(),
    };
  }

  /** @param {State} state */
  restore(state) {
    if (state.fold) this.rows.setFolded(parseList(state.fold));
    this.tabs.select(TABS.some(({ id }) => id === state.tab) ? state.tab : "program");
    this.setAll(state.all === "1", true);
    this.go(integer(state.step, this.view.start + 1) - 1, true);
    this.finder.restore(state);
    const row = integer(state.row, -1);
    const out = integer(state.out, -1);
    this.rows.select(row < this.model.split ? row : -1, { quiet: true });
    this.remains.select(this.model.residual[out] ? out : -1, { quiet: true });
    this.hovered(-1, -1, -1);
  }

  /** A search narrows the rows; the steps stay. */
  kept() {
    return null;
  }

  // --- time -----------------------------------------------------------------------------------------

  /**
   * Shows what was known, and what remained, after `step`. `quiet`: not the reader's doing, so neither spoken nor put in the address.
   * @param {number} step
   */
  go(step, quiet = false) {
    const { model } = this;
    this.step = Math.max(0, Math.min(this.count - 1, step));
    const { mark, row, say, block, changes } = model.steps[this.step];
    this.owner = model.owner(this.step);
    if (row >= 0) {
      this.rows.reveal(row);
      this.rows.scrollTo(block > row ? block : row);
    }
    this.refresh();
    this.tint();
    const bound = changes
      .filter((/** @type {any} */ { tag, row }) => tag === "b" && row >= 0)
      .map((/** @type {any} */ { row }) => row - model.split);
    /** @param {number[]} list */
    const there = (list) => list.filter((at) => this.remains.anchor(at) === at);
    const fresh = model.residual.map((_, at) => at).filter((at) => model.residual[at].born === this.step);
    this.rows.mark("now", row >= 0 ? [row] : []);
    this.rows.mark("block", block >= 0 ? [block] : []);
    this.grow();
    this.remains.mark("fresh", there(fresh));
    this.remains.mark("target", there(bound));
    const to = [...fresh, ...bound].find((at) => this.isShown(at + model.split));
    if (to !== undefined) this.remains.scrollTo(to);
    // On a phone what remains is behind a tab: the line that is new stands above the program.
    const line = fresh.find((at) => model.residual[at].binds && this.isShown(at + model.split));
    fill(
      this.newest,
      h("span", { class: "soft" }, "residual program: "),
      line === undefined ? "nothing new" : h("code", null, model.text(line + model.split)),
    );
    this.shell.say.dataset.mark = MARKS[mark].id;
    fill(this.shell.say, sentence(say));
    text(this.counter, `${this.step + 1} / ${this.count}`);
    this.timeline.setStep(this.step);
    this.drawPanes();
    if (quiet) return;
    this.shell.announce(`Step ${this.step + 1} of ${this.count}. ${this.spoken(this.step)}`);
    this.ctx.changed();
  }

  /** Draws what stands beside the rows for which it is something else than before. */
  refresh() {
    const { model } = this;
    for (let row = 0; row < model.split; row++) {
      if (!model.values[row].length) continue;
      const sign = model.sign(row, this.owner[row], this.step);
      if (this.signs[row] === sign) continue;
      this.signs[row] = sign;
      this.rows.update(row);
    }
  }

  /** How much is known of each row's value where it is evaluated now; of the others, over all their evaluations. */
  tint() {
    const { model } = this;
    const found = STATES.map(() => []);
    for (let row = 0; row < model.split; row++) {
      const value = this.owner[row] >= 0 ? model.value(row, this.owner[row], this.step) : null;
      if (value && this.rows.anchor(row) === row) found[value.state].push(row);
    }
    STATES.forEach(({ id }, state) => this.rows.mark(id, found[state]));
  }

  /** Which rows of the residual program are there yet. A mark on a hidden row would fall to the block around it. */
  grow() {
    const { residual } = this.model;
    const shown = residual.map((_, row) => row).filter((row) => this.remains.anchor(row) === row);
    this.remains.mark(
      "unborn",
      shown.filter((row) => residual[row].born > this.step),
    );
    this.remains.mark(
      "spare",
      shown.filter((row) => !residual[row].needed),
    );
    this.remains.mark(
      "effect",
      shown.filter((row) => residual[row].effect > 0),
    );
  }

  // --- rows -----------------------------------------------------------------------------------------

  chose(rows) {
    this.last = rows;
    const other = rows === this.rows ? this.remains : this.rows;
    other.select(-1, { quiet: true });
    this.hovered(-1, -1, -1);
    this.ctx.changed();
  }

  /** The selected row, counted over both programs; -1 where there is none. */
  chosen() {
    if (this.remains.selected >= 0) return this.remains.selected + this.model.split;
    return this.rows.selected;
  }

  /** @param {number} row */
  isShown(row) {
    return row < this.model.split || this.all || this.model.residual[row - this.model.split].needed;
  }

  /** The step about the selected row; asked again, the next one. Of a row of the residual program, the one that made it. */
  ask() {
    const { model } = this;
    if (this.remains.selected >= 0) return void this.jump(model.madeBy(this.remains.selected));
    const row = this.rows.selected >= 0 ? this.rows.selected : model.steps[this.step].row;
    const steps = model.stepsOf[row] ?? [];
    if (!steps.length) return false;
    this.jump(steps.find((step) => step > this.step) ?? steps[0]);
  }

  /** @param {number} by */
  along(by) {
    const { rows, remains } = this;
    for (const grid of [rows, remains]) if (grid.el.contains(this.active)) this.last = grid;
    if (this.last === remains) {
      // Rows that are not there yet are passed over.
      const there = remains.visible.filter((row) => this.model.residual[row].born <= this.step);
      const at = there.indexOf(remains.selected);
      const to = there[at < 0 ? 0 : Math.max(0, Math.min(there.length - 1, at + by))];
      if (to !== undefined) remains.select(to, { focus: true, byReader: true });
      return;
    }
    rows.move(by, rows.selected >= 0 ? rows.selected : Math.max(0, this.model.steps[this.step].row));
  }

  fold() {
    const row = this.last.selected;
    if (row >= 0) this.last.toggle(row);
  }

  /**
   * Brings a row, counted over both programs, into the window and selects it.
   * @param {number} row
   */
  visit(row) {
    const { split } = this.model;
    const [rows, at, tab] =
      row < split ? [this.rows, row, "program"] : [this.remains, row - split, "remains"];
    this.tabs.select(tab);
    rows.reveal(at);
    rows.select(at, { byReader: true });
  }

  /**
   * Shows also the bindings that nothing asks for.
   * @param {boolean} on
   */
  setAll(on, quiet = false) {
    this.all = on;
    const spare = this.view.totals.kept - this.view.totals.needed;
    this.allButton.hidden = !spare;
    this.allButton.setAttribute("aria-pressed", String(on));
    fill(this.allButton, on ? "only needed bindings" : `also ${spare} unused`);
    this.narrowTo(...this.keep);
    if (quiet) return;
    this.shell.announce(on ? "All bindings are shown." : "Only needed bindings are shown.");
    this.ctx.changed();
  }

  /** Shows only the rows that a search keeps; null keeps all. */
  narrowTo(program, remains) {
    const { residual } = this.model;
    this.keep = [program, remains];
    this.rows.filter(program);
    const spare = residual.some(({ needed }) => !needed) && !this.all;
    this.remains.filter(
      spare || remains ? (row) => (this.all || residual[row].needed) && (!remains || remains(row)) : null,
    );
    this.grow();
  }

  /**
   * Linked highlighting: a row of the program, and those that came of it; or the other way round.
   * @param {number} row
   * @param {number} out
   * @param {number} ref
   */
  hovered(row, out, ref) {
    const { model } = this;
    const item = model.items[ref];
    const [own, other] = row < 0 && out < 0 ? [this.rows.selected, this.remains.selected] : [row, out];
    const source = other >= 0 ? model.residual[other].source : -1;
    this.rows.mark("hover", row >= 0 ? [row] : []);
    this.remains.mark("hover", out >= 0 ? [out] : []);
    this.rows.mark("linked", source >= 0 ? [source] : []);
    this.remains.mark("linked", own >= 0 ? model.of[own].filter((at) => this.remains.anchor(at) === at) : []);
    const lit = item && item.row < model.split ? [ref] : [];
    this.rows.light(lit);
    this.remains.light(item && item.row >= model.split ? [ref] : []);
  }

  drawPanes() {
    drawCalls(this.panes.calls, this.model, this.step, (step) => this.jump(step));
    drawStore(this.panes.store, this.model, this.step);
  }

  // --- keyboard -------------------------------------------------------------------------------------

  leave() {
    if (this.revisit(-1)) return undefined;
    if (this.chosen() >= 0) {
      this.rows.select(-1, { quiet: true });
      this.remains.select(-1, { quiet: true });
      this.hovered(-1, -1, -1);
      this.focus();
      this.ctx.changed();
    } else return false;
  }

  destroy() {
    this.remains.destroy();
    super.destroy();
  }
}
