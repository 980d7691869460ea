// The memory explorer: the program is the axis; beside it how long each value is needed and in which buffer it is, while
// the reader steps through the plan; and the same for other plans, made beforehand.
import { fill, h, text } from "../../core/dom.js";
import { LATER } from "../../core/later.js";
import { Explorer } from "../../core/explorer.js";
import { integer, parseList } from "../../core/links.js";
import { sentence } from "../../core/sentence.js";
import { addStyle } from "../../core/style.js";
import { ON_ROWS, PANES, WINDOW, createAside, timeWindow } from "./aside.js";
import { checkMemory } from "./check.js";
import { createFinder } from "./find.js";
import { bindings } from "./keys.js";
import { MARKS } from "./marks.js";
import { createModel } from "./model.js";
import { createArena, drawInUse } from "./panes.js";
import { plans } from "./plans.js";
import { pointing } from "./pointing.js";
import { buildRows } from "./table.js";
import { size } from "../fusion/columns.js";
import css from "./style.css";
/** @import { MemoryView } from "../../generated/memory.js" */
/** @import { Context, State } from "../../core/types.js" */

addStyle(css);

/** @type {[string[], string][]} */
const KEYS = [
  [["←", "→"], "step"],
  [["p"], "peak"],
  [["v"], "other plan"],
  [["w"], "why"],
  [["/"], "find"],
  [["?"], "keys"],
];

/**
 * @param {HTMLElement} root
 * @param {MemoryView} view
 * @param {Context} ctx
 */
export function mountMemory(root, view, ctx) {
  checkMemory(view);
  return new MemoryExplorer(root, view, ctx).begin();
}

/** @extends {Explorer<MemoryView>} */
export class MemoryExplorer extends Explorer {
  suppose = plans.suppose;
  drawChoices = plans.drawChoices;
  choose = plans.choose;
  nextPlan = plans.nextPlan;
  named = pointing.named;
  hovered = pointing.hovered;
  /** @type {HTMLSpanElement} */
  time = LATER;
  /** @type {HTMLSpanElement} */
  legend = LATER;
  /** @type {HTMLParagraphElement} */
  plan = LATER;
  /** @type {HTMLDivElement} */
  choices = LATER;
  /** @type {HTMLDivElement} */
  body = LATER;
  /** @type {HTMLSpanElement} */
  totals = LATER;
  /** @type {{ [k: string]: HTMLDivElement; }} */
  panes = LATER;
  /** @type {import("../../core/types.js").Tabs} */
  tabs = LATER;
  /** @type {import("../../core/types.js").Tabs} */
  narrowTabs = LATER;
  /** @type {HTMLDivElement} */
  aside = LATER;
  /** @type {(life: any) => void} */
  onLife = LATER;
  /** @type {ReturnType<typeof createArena>} */
  arena = LATER;
  /** @type {ReturnType<typeof import("./moment.js").createMoment>} */
  moment = LATER;

  /**
   * @param {HTMLElement} root
   * @param {MemoryView} view
   * @param {Context} ctx
   */
  constructor(root, view, ctx) {
    super(root, view, ctx);
    this.model = createModel(view);
    this.chosen = this.model.axes.map(() => 0);
    this.step = this.variant.peak;
    this.whole = false;
    this.from = 0;
    this.hover = -1;
  }

  /** @param {[number, number]} range */
  amountOf([from, to]) {
    const { live } = this.variant;
    return `at most ${size(Math.max(...live.slice(from, to + 1)))} live`;
  }

  opening() {
    return "the peak, when most memory is in use";
  }

  get marks() {
    return MARKS;
  }

  get variant() {
    return this.model.variant(this.model.at(this.chosen));
  }

  get steps() {
    return this.variant.steps;
  }

  // --- building -------------------------------------------------------------------------------------

  build() {
    this.frameOf("Memory, step by step");
    this.time = h("span", { class: "grow memory-time" });
    this.legend = h("span", null);
    this.plan = h("p", { class: "plan", hidden: true });
    this.choices = h("div", { class: "choices-of-plan", role: "group", "aria-label": "which plan" });
    buildRows(this);
    this.finder = createFinder(this);
    this.search = this.finder.search;
    this.shell.bar.append(this.transport.el, this.time, this.counter, this.tools());
    this.buildAside();
    this.body = h("div", { class: "parts split memory-body on-rows" }, this.rows.el, this.aside);
    this.shell.body.append(this.choices, this.plan, this.search.el, this.narrowTabs.el, this.body);
    this.totals = h("span", { class: "memory-totals" });
    this.shell.foot.append(this.totals, this.legend, this.hints(KEYS));
    this.listen(bindings(this));
  }

  buildAside() {
    const beside = createAside({
      onPane: () => {
        this.drawPane();
        this.ctx.changed();
      },
      onTab: (id) => {
        this.place(id);
        this.ctx.changed();
      },
    });
    this.panes = beside.panes;
    this.tabs = beside.tabs;
    this.narrowTabs = beside.narrowTabs;
    this.aside = beside.el;
    this.onLife = (life) => this.visit(this.model.values[this.variant.lives[life].value]?.row ?? -1);
    this.arena = createArena(this.model, this.panes.arena, {
      onLife: this.onLife,
      onSeek: (step) => {
        this.transport.stop();
        this.go(step);
      },
      onHover: (life) => {
        const value = life < 0 ? -1 : this.variant.lives[life].value;
        this.hovered(value, this.model.values[value]?.row ?? -1, life);
      },
    });
  }

  /**
   * All steps beside the rows, or those around the one that is shown.
   * @param {boolean} whole
   */
  setWhole(whole) {
    if (this.count <= WINDOW) return;
    const inside = this.choices.contains(this.active);
    this.whole = whole;
    this.drawChoices();
    if (inside)
      this.choices.querySelector('.choice:last-child [aria-pressed="true"]')?.focus({ preventScroll: true });
    this.placeTime();
    this.ctx.changed();
  }

  placeTime() {
    const { first, span } = timeWindow(this.from, this.step, this.count, this.whole);
    this.from = first;
    this.moment.show({ first, span, step: this.step });
  }

  // --- state ----------------------------------------------------------------------------------------

  token() {
    const tab = this.narrowTabs.selected;
    return {
      step: this.step,
      time: this.whole ? "all" : "",
      plan: this.chosen.some((choice) => choice > 0) ? this.chosen.join(".") : "",
      row: this.selected(),
      pane: this.tabs.selected === "arena" ? "" : this.tabs.selected,
      tab: this.narrow && tab !== "life" ? tab : "",
      ...this.searched(),
      fold: this.folded(),
    };
  }

  /** @param {State} state */
  restore(state) {
    const asked = (state.plan ?? "").split(".").map((part) => integer(part, 0));
    this.chosen = this.model.axes.map(({ choices }, i) =>
      asked[i] > 0 && asked[i] < choices.length ? asked[i] : 0,
    );
    this.step = Math.min(this.step, this.count - 1); // the plan may have fewer steps than the one before
    this.whole = state.time === "all";
    this.tabs.select(PANES.some(({ id }) => id === state.pane) ? state.pane : "arena");
    this.place([...ON_ROWS, ...PANES].some(({ id }) => id === state.tab) ? state.tab : "life");
    this.suppose();
    if (state.fold) this.rows.setFolded(parseList(state.fold));
    this.go(integer(state.step, this.variant.peak), true);
    this.finder.restore(state);
    const row = integer(state.row, -1);
    this.rows.select(this.view.rows[row] ? row : -1, { quiet: true });
    const at = this.cursorRow();
    if (this.rows.selected < 0 && at >= 0) this.rows.scrollTo(at, true);
  }

  // --- time -----------------------------------------------------------------------------------------

  /**
   * The row that a step is about: that of the last value it computes.
   * @param {number} step
   */
  rowOf(step) {
    const { about } = this.variant.steps[step];
    return this.model.values[about.findLast((n) => this.model.values[n].row >= 0)]?.row ?? -1;
  }

  /**
   * Shows the memory during `step`. `quiet`: not the reader's doing, so neither spoken nor put in the address.
   * @param {number} step
   */
  go(step, quiet = false) {
    const { variant } = this;
    this.step = Math.max(0, Math.min(this.count - 1, step));
    const { mark, say } = variant.steps[this.step];
    const row = this.cursorRow();
    if (row >= 0) {
      this.rows.reveal(row);
      this.rows.scrollTo(row);
    }
    this.markRows();
    this.shell.say.dataset.mark = MARKS[mark].id;
    fill(
      this.shell.say,
      sentence(say, (name) => this.named(name)),
    );
    text(this.counter, `${this.step} / ${this.count - 1}`);
    this.timeline.setStep(this.step);
    this.arena.seek(this.step);
    this.drawPane();
    if (quiet) return;
    this.shell.announce(`Step ${this.step} of ${this.count - 1}. ${this.spoken(this.step)}`);
    this.ctx.changed();
  }

  /** Marks the rows whose values are there, read, made, and not needed any more. */
  markRows() {
    const { variant, model, rows, step } = this;
    const { about, reads, frees } = variant.steps[step];
    /** @param {number[]} lives */
    const rowsOf = (lives) =>
      lives.map((life) => model.values[variant.lives[life].value]?.row ?? -1).filter((row) => row >= 0);
    const there = variant.inUse(step);
    for (let tint = 0; tint < 6; tint++)
      rows.mark(
        `k${tint}`,
        rowsOf(there.filter((life) => variant.buffers[variant.lives[life].buffer].tint === tint)),
      );
    rows.mark(
      "now",
      about.map((n) => model.values[n].row).filter((row) => row >= 0),
    );
    rows.mark("read", rowsOf(reads));
    rows.mark("freed", rowsOf(frees));
    this.placeTime();
  }

  /**
   * The step that makes the value of a row; asked again, the next one that has to do with it.
   * @param {number} row
   */
  ask(row) {
    const { variant, model } = this;
    const values = model.onRow[row]?.length
      ? model.onRow[row]
      : [model.same.get(row)].filter((n) => n !== undefined);
    const steps = [
      ...new Set(
        values.flatMap((n) => [...variant.stepsOf[n], ...(variant.lives[variant.lifeOf[n]]?.reads ?? [])]),
      ),
    ].sort((a, b) => a - b);
    if (!steps.length) return false;
    this.jump(steps.find((step) => step > this.step) ?? steps[0]);
    return true;
  }

  // --- what is shown beside ------------------------------------------------------------------------

  pane() {
    const tab = this.narrowTabs.selected;
    return this.narrow && PANES.some(({ id }) => id === tab) ? tab : this.tabs.selected;
  }

  drawPane() {
    if (this.pane() === "use")
      drawInUse(this.model, this.panes.use, { variant: this.variant, step: this.step }, this.onLife);
    else this.arena.draw(this.variant);
  }

  /** @param {string} id */
  showPane(id) {
    this.tabs.select(id);
    if (this.narrow) this.place(id);
    this.drawPane();
    this.ctx.changed();
  }

  /** Why: who had the buffer before; asked again, who had it before that one. */
  why() {
    const { variant, model } = this;
    const own =
      model.onRow[this.rows.selected]?.map((n) => variant.lifeOf[n]).find((life) => life >= 0) ?? -1;
    const life = own >= 0 ? own : (variant.steps[this.step].makes[0] ?? -1);
    const before = variant.lives[life]?.before ?? -1;
    if (before < 0) return false;
    this.ctx.places.remember();
    this.visit(model.values[variant.lives[before].value]?.row ?? -1);
    this.shell.announce(`${variant.lives[before].name} was in this buffer before.`);
  }

  /**
   * Brings a row into the window and selects it.
   * @param {number} row
   */
  visit(row) {
    if (row < 0) return;
    if (this.narrow && !ON_ROWS.some(({ id }) => id === this.narrowTabs.selected)) this.place("life");
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
    this.moment.hide(this.narrow && id !== "life");
    if (this.timeline) this.drawPane();
  }

  resized() {
    if (this.turned()) this.place(this.narrowTabs.selected);
  }

  // --- keyboard -------------------------------------------------------------------------------------

  leave() {
    if (this.revisit(-1)) return undefined;
    if (this.rows.selected >= 0) {
      this.rows.select(-1, { quiet: true });
      this.focus();
      this.ctx.changed();
    } else return false;
  }

  destroy() {
    this.arena.destroy();
    super.destroy();
  }
}
