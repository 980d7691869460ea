// The fusion explorer: the program is the axis; beside it who uses what, the pattern of each operator, and the groups
// that become kernels while the reader steps through the decisions of the real pass.
import { fill, h, text } from "../../core/dom.js";
import { LATER } from "../../core/later.js";
import { Explorer } from "../../core/explorer.js";
import { integer, parseList } from "../../core/links.js";
import { sentence } from "../../core/sentence.js";
import { addStyle } from "../../core/style.js";
import { ON_ROWS, PANES, createAside } from "./aside.js";
import { checkFusion } from "./check.js";
import { choices } from "./choices.js";
import { createFinder } from "./find.js";
import { functionView, regrouped } from "./functions.js";
import { drawTotals } from "./foot.js";
import { createRowGroups, groupLanes, paint } from "./groups.js";
import { bindings } from "./keys.js";
import { MARKS, MERGED, REFUSED } from "./marks.js";
import { createModel, startOf } from "./model.js";
import { drawKernels, drawTree, drawWhy, patternList } from "./panes.js";
import { pointing } from "./pointing.js";
import { buildRows } from "./table.js";
import css from "./style.css";
/** @import { FusionView } from "../../generated/fusion.js" */
/** @import { FunctionView } from "./model.js" */
/** @import { Context, State } from "../../core/types.js" */

addStyle(css);

/** @type {[string[], string][]} */
const KEYS = [
  [["←", "→"], "step"],
  [["n"], "refusal"],
  [["m"], "merge"],
  [["v"], "what if"],
  [["w"], "why"],
  [["/"], "find"],
  [["?"], "keys"],
];

/**
 * @param {HTMLElement} root
 * @param {FusionView} view
 * @param {Context} ctx
 */
export function mountFusion(root, view, ctx) {
  checkFusion(view);
  return new FusionExplorer(root, view, ctx).begin();
}

/** @extends {Explorer<FusionView>} */
export class FusionExplorer extends Explorer {
  rowsShown = choices.rowsShown;
  rebuild = choices.rebuild;
  choose = choices.choose;
  nextFunction = choices.nextFunction;
  regroup = choices.regroup;
  inquire = choices.inquire;
  nextQuestion = choices.nextQuestion;
  suppose = choices.suppose;
  named = pointing.named;
  hovered = pointing.hovered;
  /** @type {ReturnType<typeof createModel>} */
  model = LATER;
  /** @type {{ root: any; members: any; }} */
  groups = LATER;
  /** @type {any} */
  told = LATER;
  /** @type {HTMLSpanElement} */
  time = LATER;
  /** @type {HTMLSpanElement} */
  legend = LATER;
  /** @type {HTMLDivElement} */
  question = LATER;
  /** @type {false | HTMLSelectElement} */
  chooser = LATER;
  /** @type {HTMLButtonElement} */
  groupButton = LATER;
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
  /** @type {HTMLSpanElement} */
  questions = LATER;
  /** @type {ReturnType<typeof import("./wires.js").createWires>} */
  wires = LATER;
  /** @type {{ what: number; step: number; }} */
  anchor = LATER;

  /**
   * @param {HTMLElement} root
   * @param {FusionView} view
   * @param {Context} ctx
   */
  constructor(root, view, ctx) {
    super(root, view, ctx);
    this.whole = view;
    this.function = 0;
    this.grouped = false;
    this.what = 0;
    this.take();
    this.hover = -1;
  }

  opening() {
    const { steps } = this.variant;
    return (
      {
        [REFUSED]: "the first pair of operators that must not be fused",
        [MERGED]: "the last operators that are fused",
      }[steps[this.step].mark] ?? "nothing could be fused"
    );
  }

  get marks() {
    return MARKS;
  }

  get variant() {
    return this.model.variant(this.what);
  }

  get steps() {
    return this.variant.steps;
  }

  /** Takes up the function that is chosen, with its rows in the order that is asked for. */
  take() {
    /** @type {FunctionView} */
    let view = functionView(this.whole, this.function);
    if (this.grouped) view = regrouped(view, this.what);
    this.view = view;
    this.model = createModel(view);
    this.step = startOf(this.variant);
    this.rowGroups = createRowGroups(this.model);
    this.groups = this.variant.groups.seek(0);
    this.told = null;
  }

  // --- building -------------------------------------------------------------------------------------

  build() {
    const { ctx } = this;
    this.frameOf("Fusion, decision by decision");
    this.time = h("span", { class: "grow" });
    this.legend = h("span", null);
    this.question = h("div", { class: "what-if", role: "group", "aria-label": "what if", hidden: true });
    this.buildRows();
    this.finder = createFinder(this);
    this.search = this.finder.search;
    const { functions } = this.whole;
    this.chooser =
      functions.length > 1 &&
      h(
        "select",
        {
          class: "chooser",
          "aria-label": "function",
          onchange: (/** @type {any} */ event) => this.choose(Number(event.target.value)),
        },
        functions.map(({ name }, i) => h("option", { value: i, title: functions[i].summary }, name)),
      );
    this.groupButton = this.button("by kernel", "bring the rows of each kernel together (g)", () =>
      this.regroup(!this.grouped),
    );
    this.groupButton.removeAttribute("aria-label");
    this.shell.bar.append(
      ...(this.chooser ? [this.chooser] : []),
      this.transport.el,
      this.time,
      this.counter,
      this.tools(this.groupButton),
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
    this.body = h("div", { class: "parts split fusion-body on-rows" }, this.rows.el, beside.el);
    this.shell.body.append(this.question, this.search.el, this.narrowTabs.el, this.body);
    this.totals = h("span", { class: "totals" });
    this.questions = h("span", { class: "questions", role: "group", "aria-label": "what if" });
    this.shell.foot.append(this.totals, this.questions, this.legend, this.hints(KEYS));
    this.listen(bindings(this));
    this.suppose();
  }

  buildRows() {
    buildRows(this);
  }

  // --- state ----------------------------------------------------------------------------------------

  token() {
    const tab = this.narrowTabs.selected;
    return {
      fn: this.function || "",
      by: this.grouped ? "kernel" : "",
      step: this.step + 1,
      what: this.what || "",
      row: this.selected(),
      pane: this.tabs.selected === "why" ? "" : this.tabs.selected,
      tab: this.narrow && tab !== "kernel" ? tab : "",
      ...this.searched(),
      fold: this.folded(),
    };
  }

  /** @param {State} state */
  restore(state) {
    const [chosen, what] = [integer(state.fn, 0), integer(state.what, 0)];
    const rows = this.rowsShown();
    this.function = this.whole.functions[chosen] ? chosen : 0;
    this.grouped = state.by === "kernel";
    this.what = this.whole.functions[this.function].variants[what] ? what : 0;
    if (rows === this.rowsShown()) this.suppose();
    else this.rebuild();
    if (state.fold) this.rows.setFolded(parseList(state.fold));
    this.tabs.select(PANES.some(({ id }) => id === state.pane) ? state.pane : "why");
    this.place([...ON_ROWS, ...PANES].some(({ id }) => id === state.tab) ? state.tab : "kernel");
    this.go(integer(state.step, startOf(this.variant) + 1) - 1, true, true);
    this.finder.restore(state);
    const row = integer(state.row, -1);
    this.rows.select(this.view.rows[row] ? row : -1, { quiet: true });
    // Before the first decision, and after the last, the first operator: before it there may be other functions.
    const at = this.cursorRow();
    if (this.rows.selected < 0) this.rows.scrollTo(at < 0 ? (this.model.items[0]?.row ?? -1) : at, at >= 0);
    this.drawPane();
  }

  // --- time -----------------------------------------------------------------------------------------

  /**
   * The row that a step is about: that of its node, or else of its target.
   * @param {number} step
   */
  rowOf(step) {
    const { node, target } = this.variant.steps[step];
    const { nodes } = this.model;
    return nodes[node]?.row >= 0 ? nodes[node].row : (nodes[target]?.row ?? -1);
  }

  /**
   * Shows the groups after `step`. `quiet`: not the reader's doing, so neither spoken nor put in the address; `anew` draws every row.
   * @param {number} step
   */
  go(step, quiet = false, anew = false) {
    const { variant } = this;
    this.step = Math.max(0, Math.min(this.count - 1, step));
    this.anchor = { what: this.what, step: this.step };
    const { mark, node, target, say, rule, obstacle, launches, bytes } = variant.steps[this.step];
    // Scrolling reads the layout: first, while nothing has been written to the page.
    const row = this.cursorRow();
    if (row >= 0) {
      this.rows.reveal(row);
      this.rows.scrollTo(row);
    }
    this.groups = variant.groups.seek(this.step);
    const changed = this.tint(anew);
    const { face } = this.model;
    this.told = {
      step: this.step,
      variant,
      groups: this.groups,
      groupLanes:
        changed || !this.told ? groupLanes(this.model, this.groups, variant.lanes) : this.told.groupLanes,
      asked: face(node) < 0 ? node : face(node),
      target: face(target),
      obstacle: face(obstacle),
      way: this.model.way(node, target),
    };
    /** @param {number} n */
    const at = (n) => (n >= 0 && this.model.nodes[n].row >= 0 ? [this.model.nodes[n].row] : []);
    this.rows.mark("now", row >= 0 ? [row] : []);
    this.rows.mark("target", at(target));
    this.rows.mark("obstacle", at(obstacle));
    this.shell.say.dataset.mark = MARKS[mark].id;
    fill(
      this.shell.say,
      sentence(say, (name) => this.named(name)),
      rule.length > 0 && h("small", null, sentence(rule)),
    );
    text(this.counter, `${this.step + 1} / ${this.count}`);
    this.timeline.setStep(this.step);
    drawTotals(this.totals, { variant, launches, bytes });
    this.wire();
    this.drawPane();
    if (quiet) return;
    this.shell.announce(
      `Step ${this.step + 1} of ${this.count}. ${this.spoken(this.step)} ${launches} launches.`,
    );
    this.ctx.changed();
  }

  /**
   * Draws the rows whose group is another one now; says whether there are any.
   * @param {boolean} anew
   */
  tint(anew) {
    const { entries, update } = this.rowGroups;
    const changed = update(this.variant, this.groups);
    paint(this.rows, entries, changed);
    if (anew) for (const row of entries.keys()) this.rows.update(row);
    return anew || changed.length > 0;
  }

  /**
   * The decision about the operator of a row; asked again, the next one about it.
   * @param {number} row
   */
  ask(row) {
    const steps = this.model.allOn[row]?.flatMap((n) => this.variant.stepsOf[n]).sort((a, b) => a - b) ?? [];
    if (!steps.length) return false;
    this.jump(steps.find((step) => step > this.step) ?? steps[0]);
    return true;
  }

  // --- what is shown beside ------------------------------------------------------------------------

  wire() {
    // The rows draw themselves once before the wires exist.
    if (this.wires && this.told) this.wires.draw(this.told);
  }

  pane() {
    const tab = this.narrowTabs.selected;
    return this.narrow && PANES.some(({ id }) => id === tab) ? tab : this.tabs.selected;
  }

  drawPane() {
    if (!this.told) return;
    const id = this.pane();
    const draw = { why: drawWhy, tree: drawTree, list: drawKernels }[id];
    draw(this.model, this.panes[id], this.told, (n) => this.visit(this.model.nodes[n].row));
  }

  /** @param {string} id */
  showPane(id) {
    this.tabs.select(id);
    if (this.narrow) this.place(id);
    this.drawPane();
    this.ctx.changed();
  }

  /** Why: the way, the rule and the obstacle, whose row comes into the window. */
  why() {
    this.showPane("why");
    const { obstacle, target, asked } = this.told;
    const at = this.model.nodes[obstacle >= 0 ? obstacle : target >= 0 ? target : asked]?.row ?? -1;
    if (at < 0 || this.narrow) return;
    this.rows.reveal(at);
    this.rows.select(at, { byReader: true });
  }

  /**
   * Brings a row into the window and selects it.
   * @param {number} row
   */
  visit(row) {
    if (row < 0) return;
    if (this.narrow && !ON_ROWS.some(({ id }) => id === this.narrowTabs.selected)) this.place("kernel");
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
    else if (onRows) this.rows.setColumns([id]);
    else this.tabs.select(id);
    this.wires.moved();
    this.wire();
    this.drawPane();
  }

  resized() {
    if (this.turned()) this.place(this.narrowTabs.selected);
    this.wires.moved();
    this.wire();
  }

  // --- keyboard -------------------------------------------------------------------------------------

  leave() {
    if (this.revisit(-1)) return undefined;
    if (this.what > 0) this.inquire(0);
    else if (this.rows.selected >= 0) {
      this.rows.select(-1, { quiet: true });
      this.focus();
      this.ctx.changed();
    } else return false;
  }

  help() {
    super.help([h("p", { class: "heading second" }, "The patterns"), patternList(this.model)]);
  }
}
