// The gradient explorer: the program is the axis, read downwards; beside each row stands what the backward pass adds for it,
// read upwards. The reader steps through the visits of the real transformation.
import { fill, h, text } from "../../core/dom.js";
import { scale } from "../../core/fit.js";
import { LATER } from "../../core/later.js";
import { Explorer } from "../../core/explorer.js";
import { createLegend } from "../../core/legend.js";
import { integer, parseList } from "../../core/links.js";
import { createRows } from "../../core/rows.js";
import { sentence } from "../../core/sentence.js";
import { addStyle } from "../../core/style.js";
import { changedRows, gradientColumns } from "./columns.js";
import { createFinder } from "./find.js";
import { drawGraph } from "./graph.js";
import { bindings } from "./keys.js";
import { MARKS } from "./marks.js";
import { createModel } from "./model.js";
import { COLUMNS, ON_ROWS, PANES, createAside, drawKept, drawTotals, drawWhy } from "./panes.js";
import { createWires } from "./wires.js";
import { size } from "../fusion/columns.js";
import css from "./style.css";
/** @import { GradientView } from "../../generated/gradient.js" */
/** @import { Context, Hit, State } from "../../core/types.js" */

addStyle(css);

const LINE = 26 * scale();
/** @type {[string[], string][]} */
const KEYS = [
  [["←", "→"], "step"],
  [["s"], "sum"],
  [["r"], "rule"],
  [["g"], "graphs"],
  [["w"], "why"],
  [["k"], "kept"],
  [["/"], "find"],
  [["?"], "keys"],
];

/**
 * @param {HTMLElement} root
 * @param {GradientView} view
 * @param {Context} ctx
 */
export function mountGradient(root, view, ctx) {
  return new GradientExplorer(root, view, ctx).begin();
}

/** @extends {Explorer<GradientView>} */
export class GradientExplorer extends Explorer {
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
  /** @type {ReturnType<typeof createWires>} */
  wires = LATER;

  /**
   * @param {HTMLElement} root
   * @param {GradientView} view
   * @param {Context} ctx
   */
  constructor(root, view, ctx) {
    super(root, view, ctx);
    this.model = createModel(view);
    this.step = this.model.start;
  }

  /** @param {[number, number]} range */
  amountOf([from, to]) {
    const stored = this.model.steps.slice(from, to + 1).map(({ kept }) => kept);
    return `at most ${size(Math.max(...stored))} stored`;
  }

  opening() {
    return "the backward pass begins at the result";
  }

  get marks() {
    return MARKS;
  }

  get steps() {
    return this.model.steps;
  }

  // --- building -------------------------------------------------------------------------------------

  build() {
    const { view, ctx, model } = this;
    this.frameOf("Gradients, forward and backward pass");
    this.buildRows();
    this.finder = createFinder(this);
    this.search = this.finder.search;
    const kinds = model.steps.map(({ mark }) => mark);
    this.timeline = this.timelineOf({
      kinds,
      label: "backward pass",
      // The marks fall as what was kept is used up.
      profile: view.kept.bytes > 0 ? model.steps.map(({ kept }) => kept) : null,
    });
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
    this.body = h("div", { class: "parts split fusion-body gradient-body on-rows" }, this.rows.el, beside.el);
    this.shell.body.append(this.search.el, this.narrowTabs.el, this.body);
    this.totals = h("span", { class: "totals" });
    const legend = createLegend({ marks: MARKS, kinds, onMark: (mark) => this.nextMark(mark) });
    this.shell.foot.append(this.totals, legend, this.hints(KEYS));
    this.listen(bindings(this));
  }

  buildRows() {
    this.rows = createRows({
      view: this.view,
      label: `program of ${this.view.title}, with what is stored and the backward pass`,
      lineHeight: LINE,
      foldLists: true,
      title: "forward pass ↓",
      columns: gradientColumns(
        this.model,
        () => this.step,
        (row) => this.visit(row),
      ),
      hooks: {
        select: (row, byReader) => byReader && this.ctx.changed(),
        hover: (hit) => this.hovered(hit),
        layout: (columns) => {
          if (columns) this.wires?.moved();
          this.wire();
        },
        fold: () => this.ctx.changed(),
        activate: (row) => this.ask(row),
      },
    });
    this.rows.el.classList.add("gradient-grid");
    this.wires = createWires(this.model, this.rows, LINE);
  }

  // --- state ----------------------------------------------------------------------------------------

  token() {
    const tab = this.narrowTabs.selected;
    return {
      step: this.step + 1,
      row: this.selected(),
      pane: this.tabs.selected === PANES[0].id ? "" : this.tabs.selected,
      tab: this.narrow && tab !== "added" ? tab : "",
      ...this.searched(),
      fold: this.folded(),
    };
  }

  /** @param {State} state */
  restore(state) {
    if (state.fold) this.rows.setFolded(parseList(state.fold));
    this.tabs.select(PANES.some(({ id }) => id === state.pane) ? state.pane : PANES[0].id);
    this.place([...ON_ROWS, ...PANES].some(({ id }) => id === state.tab) ? state.tab : "added");
    this.go(integer(state.step, this.model.start + 1) - 1, true, true);
    this.finder.restore(state);
    const row = integer(state.row, -1);
    this.rows.select(this.view.rows[row] ? row : -1, { quiet: true });
    const at = this.cursorRow();
    if (this.rows.selected < 0 && at >= 0) this.rows.scrollTo(at, true);
    this.drawPane();
  }

  // --- time -----------------------------------------------------------------------------------------

  /**
   * The row that a step is about.
   * @param {number} step
   */
  rowOf(step) {
    return this.model.values[this.model.steps[step].value]?.row ?? -1;
  }

  /**
   * Shows what is there after `step`. `quiet`: not the reader's doing, so neither spoken nor put in the address; `anew` draws every row.
   * @param {number} step
   */
  go(step, quiet = false, anew = false) {
    const { model, view } = this;
    const before = this.step;
    this.step = Math.max(0, Math.min(this.count - 1, step));
    const { mark, say, rule, to, kept } = model.steps[this.step];
    // Scrolling reads the layout: first, while nothing has been written to the page.
    const row = this.cursorRow();
    if (row >= 0) {
      this.rows.reveal(row);
      this.rows.scrollTo(row);
    }
    for (const at of anew ? view.rows.keys() : changedRows(model, before, this.step)) this.rows.update(at);
    this.rows.mark("now", row >= 0 ? [row] : []);
    this.rows.mark(
      "target",
      to.map(({ value }) => model.values[value].row),
    );
    this.shell.say.dataset.mark = MARKS[mark].id;
    fill(
      this.shell.say,
      sentence(say, (name) => this.named(name)),
      rule.length > 0 && h("small", null, sentence(rule)),
    );
    text(this.counter, `${this.step + 1} / ${this.count}`);
    this.timeline.setStep(this.step);
    drawTotals(this.totals, view, kept);
    this.wire();
    this.drawPane();
    if (quiet) return;
    this.shell.announce(`Step ${this.step + 1} of ${this.count}. ${this.spoken(this.step)}`);
    this.ctx.changed();
  }

  /**
   * The step that comes to the value of a row; asked again, the next one.
   * @param {number} row
   */
  ask(row) {
    const v = this.model.onRow[row];
    const steps =
      v < 0 ? [] : [...this.model.steps.keys()].filter((step) => this.model.steps[step].value === v);
    if (!steps.length) return false;
    this.jump(steps.find((step) => step > this.step) ?? steps[0]);
    return true;
  }

  // --- what is shown beside ------------------------------------------------------------------------

  wire() {
    // The rows draw themselves once before the wires exist.
    this.wires?.draw(this.step);
  }

  pane() {
    const tab = this.narrowTabs.selected;
    return this.narrow && PANES.some(({ id }) => id === tab) ? tab : this.tabs.selected;
  }

  drawPane() {
    const id = this.pane();
    const draw = { why: drawWhy, graph: drawGraph, kept: drawKept }[id];
    draw(this.model, this.panes[id], this.step, (v) => this.visit(this.model.values[v].row));
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
    if (this.narrow && !ON_ROWS.some(({ id }) => id === this.narrowTabs.selected)) this.place("added");
    this.rows.reveal(row);
    this.rows.select(row, { focus: true, byReader: true });
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
    if (!this.narrow) this.rows.setColumns();
    else if (onRows) this.rows.setColumns(COLUMNS[id], id === "added");
    else this.tabs.select(id);
    this.wires.moved();
    this.wire();
    this.drawPane();
  }

  resized() {
    if (this.turned()) this.place(this.narrowTabs.selected);
    this.wires.moved();
    this.wire();
    if (this.pane() === "graph") this.drawPane();
  }

  /**
   * A name in a sentence lights its row and leads there; that of a derivative, where it stands.
   * @param {string} name
   */
  named(name) {
    const ref = this.model.named.get(name) ?? -1;
    if (ref < 0) return h("code", null, name);
    const { row } = this.model.values[this.model.ownerOf(ref)];
    return h(
      "code",
      {
        class: "named",
        onpointerenter: () => this.hovered({ row, ref }),
        onpointerleave: () => this.hovered(null),
        onclick: () => this.visit(row),
      },
      name,
    );
  }

  /**
   * Linked highlighting: a value or a line wherever it is named, and the row beside which it stands.
   * @param {Partial<Hit> | null} hit
   */
  hovered(hit) {
    const { onRow, values, lines, beside } = this.model;
    this.rows.mark("hover", hit && hit.row >= 0 ? [hit.row] : []);
    const refs = new Set();
    if (hit?.ref >= 0) refs.add(hit.ref);
    else if (hit && onRow[hit.row] >= 0) {
      const v = onRow[hit.row];
      refs.add(v);
      if (values[v].line >= 0) refs.add(values.length + values[v].line);
    }
    const linked = [...refs].map((ref) => values[this.model.ownerOf(ref)].row);
    // A value's rule uses others: their rows too.
    for (const ref of refs)
      if (ref < values.length)
        for (const n of beside[ref]) for (const use of lines[n].uses) linked.push(values[use.value].row);
    this.rows.mark("linked", linked);
    this.rows.light([...refs]);
  }

  // --- keyboard -------------------------------------------------------------------------------------
}
