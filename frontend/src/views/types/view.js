// The type-inference explorer: the program is the axis, types and relations stand beside it, and the
// reader steps through what one real inference did.
import { Explorer } from "../../core/explorer.js";
import { scale } from "../../core/fit.js";
import { LATER } from "../../core/later.js";
import { addStyle } from "../../core/style.js";
import { closestTo, fill, h, text } from "../../core/dom.js";
import { createLegend } from "../../core/legend.js";
import { integer, parseList } from "../../core/links.js";
import { createRows } from "../../core/rows.js";
import { sentence, sentenceText } from "../../core/sentence.js";
import { nextStep } from "../../core/steps.js";
import { createTabs } from "../../core/tabs.js";
import { byRow, createDirty, typeColumns } from "./chips.js";
import { conflictRows, drawConflict } from "./conflict.js";
import { createFinder } from "./find.js";
import { createQueue, drawFoot } from "./strips.js";
import { MARKS } from "./marks.js";
import { drawClasses, drawConstraints, drawWhy } from "./panes.js";
import { bindings } from "./keys.js";
import { createReplay, finalState, relationsOf, stepsOf, touched, uniqueNames } from "./state.js";
import { createQuestion } from "./select.js";
import { createWires } from "./wires.js";
import conflictCss from "./conflict.css";
import { pointing } from "./pointing.js";
import css from "./style.css";
/** @import { TypesView } from "../../generated/types.js" */
/** @import { Context, Hit, State } from "../../core/types.js" */

addStyle(css);
addStyle(conflictCss);

const LINE = 27 * scale();
/** @type {[string[], string][]} */
const KEYS = [
  [["←", "→"], "step"],
  [["w"], "why"],
  [["/"], "find"],
  [["?"], "keys"],
];
const PANES = [
  { id: "why", label: "Why" },
  { id: "graph", label: "Constraints" },
  { id: "classes", label: "Classes" },
];
const ON_ROWS = [
  { id: "program", label: "Program" },
  { id: "types", label: "Types" },
  { id: "relations", label: "Relations" },
];
const COLUMNS = { program: [], types: ["vars"], relations: ["rels"] };

/**
 * @param {HTMLElement} root
 * @param {TypesView} view
 * @param {Context} ctx
 */
export function mountTypes(root, view, ctx) {
  return new TypesExplorer(root, view, ctx).begin();
}

/** @extends {Explorer<TypesView>} */
export class TypesExplorer extends Explorer {
  named = pointing.named;
  hovered = pointing.hovered;
  /** @type {HTMLDivElement} */
  conflict = LATER;
  /** @type {HTMLDivElement} */
  queue = LATER;
  /** @type {ReturnType<typeof createQueue>} */
  drawQueue = LATER;
  /** @type {HTMLDivElement} */
  body = LATER;
  /** @type {ReturnType<typeof createLegend>} */
  legend = LATER;
  /** @type {HTMLSpanElement} */
  classes = LATER;
  /** @type {{ vars: Set<any>; rels: Set<any>; } | ReturnType<typeof touched>} */
  fresh = LATER;
  /** @type {any} */
  state = LATER;
  /** @type {ReturnType<typeof createWires>} */
  wires = LATER;
  /** @type {{ [k: string]: HTMLDivElement; }} */
  panes = LATER;
  /** @type {ReturnType<typeof createTabs>} */
  tabs = LATER;
  /** @type {HTMLDivElement} */
  aside = LATER;
  /** @type {ReturnType<typeof createTabs>} */
  narrowTabs = LATER;
  /** @type {number} */
  paneWidth = LATER;

  /**
   * @param {HTMLElement} root
   * @param {TypesView} view
   * @param {Context} ctx
   */
  constructor(root, view, ctx) {
    super(root, view, ctx);
    this.replay = createReplay(view);
    const final = finalState(view);
    this.final = final;
    this.since = final.since;
    this.relsOf = relationsOf(view);
    const spare = Math.max(0, view.rows.length - 1);
    this.varsOn = byRow(view.variables, view.rows.length, spare);
    this.relsOn = byRow(view.relations, view.rows.length, spare);
    this.dirty = createDirty(view);
    this.byName = uniqueNames(view);
    this.stepsOf = stepsOf(view);
    this.question = createQuestion(this);
    this.step = -1;
    this.hover = null;
  }

  get marks() {
    return MARKS;
  }

  // --- building -------------------------------------------------------------------------------------

  build() {
    const { view, ctx } = this;
    this.frameOf("Type inference, step by step");
    this.timeline = this.timelineOf({
      kinds: view.steps.map(({ mark }) => (MARKS[mark] ? mark : 0)),
      onSeek: (step) => {
        this.question.clear();
        this.seek(step);
      },
    });
    this.finder = createFinder(this);
    this.search = this.finder.search;
    this.shell.bar.append(
      this.transport.el,
      h("span", { class: "grow" }, this.timeline.el),
      this.counter,
      this.tools(),
    );
    this.conflict = h("div", { class: "conflict", role: "group", "aria-label": "conflict", hidden: true });
    this.queue = h("div", { class: "queue", role: "group", "aria-label": "queue of relations" });
    this.drawQueue = createQueue(view, this.queue, {
      onRel: (rel) => this.question.relation(rel),
      reduced: ctx.reduced,
    });
    this.buildRows();
    this.buildAside();
    this.body = h("div", { class: "parts split types-body on-rows" }, this.rows.el, this.aside);
    this.shell.body.append(
      this.conflict,
      h("div", { class: "queue-strip" }, this.queue),
      this.search.el,
      this.narrowTabs.el,
      this.body,
    );
    this.legend = createLegend({
      marks: MARKS,
      kinds: view.steps.map(({ mark }) => mark),
      onMark: (mark) => this.nextMark(mark),
    });
    this.classes = h("span", { class: "classes" });
    this.shell.foot.append(h("span", null, "same type: ", this.classes), this.legend, this.hints(KEYS));
    if (view.conflict) drawConflict(view, this.conflict, (step) => this.jump(step));
    this.listen(bindings(this));
  }

  buildRows() {
    const now = () => ({ state: this.state, fresh: this.fresh, row: this.rows?.selected ?? -1 });
    this.fresh = { vars: new Set(), rels: new Set() };
    this.state = this.replay.seek(-1);
    this.rows = createRows({
      view: this.view,
      label: `program of ${this.view.title}, with types and relations`,
      lineHeight: LINE,
      fit: true,
      foldLists: true,
      columns: typeColumns(this.view, this.varsOn, this.relsOn, now),
      hooks: {
        select: (row, byReader) => byReader && this.ctx.changed(),
        hover: (hit) => this.hovered(hit),
        layout: (columns) => {
          if (columns) this.wires?.moved();
          this.wire();
        },
        fold: () => this.ctx.changed(),
        activate: (row) => this.question.enter(row),
      },
    });
    this.wires = createWires(this.view, this.rows, this, LINE);
    this.rows.inner.addEventListener("click", (event) => {
      const chip = closestTo(event, ".chip");
      if (chip?.dataset.var) this.question.why(Number(chip.dataset.var));
      if (chip?.dataset.rel) this.question.relation(Number(chip.dataset.rel));
    });
    this.rows.inner.addEventListener("focusin", (event) => {
      const chip = closestTo(event, ".chip");
      if (chip) this.hovered({ row: Number(chip.closest(".row").dataset.row), ref: -1, target: chip });
    });
  }

  buildAside() {
    this.panes = Object.fromEntries(PANES.map(({ id }) => [id, h("div", { class: "pane", tabindex: 0 })]));
    this.tabs = createTabs({
      label: "what to show beside the program",
      selected: "graph",
      items: PANES.map((item) => ({ ...item, pane: this.panes[item.id] })),
      onSelect: (id, byReader) => {
        if (byReader) {
          this.drawPane();
          this.ctx.changed();
        }
      },
    });
    this.aside = h("div", { class: "aside" }, this.tabs.el, Object.values(this.panes));
    this.narrowTabs = createTabs({
      label: "what to show",
      className: "narrow",
      selected: "types",
      items: [...ON_ROWS, ...PANES],
      onSelect: (id, byReader) => {
        if (byReader) {
          this.place(id);
          this.ctx.changed();
        }
      },
    });
  }

  // --- state ----------------------------------------------------------------------------------------

  finding() {
    return /** @type {ReturnType<typeof createFinder>} */ (this.finder);
  }

  start() {
    return integer(String(this.view.start ?? ""), this.count - 1);
  }

  token() {
    const tab = this.narrowTabs.selected;
    return {
      step: this.step + 1,
      sel: this.question.token(),
      row: this.selected(),
      pane: this.tabs.selected === "graph" ? "" : this.tabs.selected,
      tab: this.narrow && tab !== "types" ? tab : "",
      ...this.searched(),
      fn: this.finding().fn >= 0 ? this.finding().fn : "",
      fold: this.folded(),
    };
  }

  /** @param {State} state */
  restore(state) {
    const step = integer(state.step, this.start() + 1) - 1;
    this.question.restore(state.sel);
    this.go(step, true);
    if (state.fold) this.rows.setFolded(parseList(state.fold));
    this.finder.restore(state);
    if (PANES.some(({ id }) => id === state.pane)) this.tabs.select(state.pane);
    this.place([...ON_ROWS, ...PANES].some(({ id }) => id === state.tab) ? state.tab : "types");
    const row = integer(state.row, -1);
    if (this.view.rows[row]) this.rows.select(row, { quiet: true });
    else this.rows.scrollTo(this.view.steps[this.step]?.row ?? -1, true);
    this.drawPane();
  }

  // --- time -----------------------------------------------------------------------------------------

  /** @param {number} step */
  spoken(step) {
    const { mark, say } = this.view.steps[step] ?? { mark: 0, say: [] };
    return `${MARKS[mark]?.label ?? ""}. ${sentenceText(say)}`;
  }

  /** Who steps on asks about the steps again. */
  moved() {
    this.question.clear();
  }

  /**
   * Shows the state after `step`. `quiet`: not the reader's doing, so neither spoken nor put in the address.
   * @param {number} step
   */
  go(step, quiet = false) {
    if (this.count === 0) {
      fill(
        this.shell.say,
        this.view.rows.length === 0
          ? "The module is empty, so there is nothing to infer."
          : "No step of this inference was recorded.",
      );
      return;
    }
    const to = Math.max(0, Math.min(this.count - 1, step));
    const { row, say, changes } = this.view.steps[to];
    // Scrolling reads the layout: first, while nothing has been written to the page.
    if (row >= 0) this.rows.scrollTo(row);
    this.step = to;
    this.state = this.replay.seek(to);
    this.fresh = touched(changes);
    for (const at of this.dirty(this.state, this.fresh))
      this.rows.update(at < 0 ? this.view.rows.length - 1 : at);
    this.rows.mark("now", row >= 0 ? [row] : []);
    const failed = this.view.conflict && to >= this.view.conflict.step;
    this.conflict.hidden = !failed;
    this.body.classList.toggle("failed", Boolean(failed));
    const [a, b] = failed ? conflictRows(this.view.conflict) : [[], []];
    this.rows.mark("a", a);
    this.rows.mark("b", b);
    fill(
      this.shell.say,
      sentence(say, (name) => this.named(name)),
    );
    text(this.counter, `${to + 1} / ${this.count}`);
    this.timeline.setStep(to);
    this.drawQueue(this.state, changes);
    drawFoot(this.view, this.classes, this.state, this.step === this.count - 1);
    this.wire();
    this.drawPane();
    if (quiet) return;
    this.shell.announce(`Step ${to + 1} of ${this.count}. ${this.spoken(to)}`);
    this.ctx.changed();
  }

  /** @param {number} by */
  nextRare(by) {
    /** @param {number} step */
    const rare = (step) => MARKS[this.view.steps[step].mark]?.rare || this.view.steps[step].mark === 3;
    const to = nextStep(rare, this.step, by, this.count);
    if (to !== this.step) this.go(to);
  }

  // --- what is shown beside ------------------------------------------------------------------------

  watched() {
    if (this.hover) return this.hover;
    const { v, rel } = this.question;
    return {
      vars: v >= 0 ? new Set([...this.fresh.vars, v]) : this.fresh.vars,
      rels: rel >= 0 ? new Set([...this.fresh.rels, rel]) : this.fresh.rels,
    };
  }

  wire() {
    // The rows draw themselves once before the wires exist.
    if (this.wires && !this.narrow) this.wires.draw(this.state, this.watched());
  }

  pane() {
    const tab = this.narrowTabs.selected;
    return this.narrow && PANES.some(({ id }) => id === tab) ? tab : this.tabs.selected;
  }

  drawPane() {
    const id = this.pane();
    const pane = this.panes[id];
    const onVar = (v) => this.question.why(v);
    const onRel = (rel) => this.question.relation(rel);
    const shared = {
      state: this.state,
      focus: this.watched(),
      window: this.rows.window(),
      onVar,
      onRel,
      relsOf: this.relsOf,
      width: this.paneWidth,
    };
    if (id === "why")
      drawWhy(this.view, pane, {
        step: this.step,
        question: this.question,
        state: this.state,
        since: this.since,
        stepsOf: this.stepsOf,
        /** @param {number} step */
        go: (step) => this.jump(step),
      });
    else if (id === "graph") drawConstraints(this.view, pane, shared);
    else drawClasses(this.view, pane, shared);
  }

  /** @param {string} id */
  showPane(id) {
    if (this.narrow) this.place(id);
    this.tabs.select(id);
    this.drawPane();
  }

  /**
   * On a phone, what the chosen tab shows; elsewhere everything stands side by side.
   * @param {string} id
   */
  place(id) {
    if (this.narrowTabs.selected !== id) this.narrowTabs.select(id);
    const onRows = id in COLUMNS;
    this.body.classList.toggle("on-rows", onRows);
    this.body.classList.toggle("on-pane", !onRows);
    if (!this.narrow) this.rows.setColumns();
    else if (onRows) this.rows.setColumns(COLUMNS[id], true);
    else this.tabs.select(id);
    this.drawPane();
  }

  resized() {
    if (this.turned()) this.place(this.narrowTabs.selected);
    this.wires.moved();
    this.wire();
    this.paneWidth = this.panes.graph.clientWidth;
    if (this.ready && this.pane() === "graph") this.drawPane();
  }

  // --- keyboard -------------------------------------------------------------------------------------

  leave() {
    if (this.revisit(-1)) return undefined;
    if (this.question.clear()) {
      this.wire();
      this.drawPane();
      this.ctx.changed();
    } else return false;
  }
}
