// The evaluation explorer: the program with the cursor, what each line gave in the frame that is shown, the call
// stack, and the heap with its trees, lists, closures and references.
import { fill, h, text } from "../../core/dom.js";
import { LATER } from "../../core/later.js";
import { Explorer } from "../../core/explorer.js";
import { createLegend } from "../../core/legend.js";
import { integer, parseList } from "../../core/links.js";
import { createRows } from "../../core/rows.js";
import { sentence } from "../../core/sentence.js";
import { addStyle } from "../../core/style.js";
import { createTabs } from "../../core/tabs.js";
import { createFinder } from "./find.js";
import { drawFrames } from "./frames.js";
import { drawHeap, structured, walkHeap } from "./heap.js";
import { bindings } from "./keys.js";
import { createAsk } from "./live.js";
import { MARKS } from "./marks.js";
import { createValues } from "./rows.js";
import { createRun } from "./run.js";
import { drawFailure, drawWhy } from "./why.js";
import css from "./style.css";
import heapCss from "./heap.css";
import { pointing } from "./pointing.js";
import { sums } from "./totals.js";
/** @import { EvaluationView } from "../../generated/evaluation.js" */
/** @import { Context, KeyEvent, State } from "../../core/types.js" */

addStyle(css);
addStyle(heapCss);

const TABS = [
  { id: "program", label: "Program" },
  { id: "values", label: "Values" },
  { id: "stack", label: "Stack" },
  { id: "heap", label: "Heap" },
  { id: "why", label: "Why" },
];
const SIDE = [
  { id: "stack", label: "Stack" },
  { id: "why", label: "Why" },
];
/** @type {[string[], string][]} */
const KEYS = [
  [["←", "→"], "step"],
  [["o"], "over"],
  [["u"], "out"],
  [["w"], "why"],
  [["?"], "keys"],
];
const JUMPS = [
  ["over", "over", "step over the call: go to where it returns (o)"],
  ["out", "out", "step out of this call (u)"],
  ["row", "same row", "the next step in this row (n)"],
];

/**
 * @param {HTMLElement} root
 * @param {EvaluationView} view
 * @param {Context} ctx
 */
export function mountEvaluation(root, view, ctx) {
  return new EvaluationExplorer(root, view, ctx).begin();
}

/** @extends {Explorer<EvaluationView>} */
export class EvaluationExplorer extends Explorer {
  clicked = pointing.clicked;
  hovered = pointing.hovered;
  /** @type {HTMLButtonElement[]} */
  jumps = LATER;
  /** @type {ReturnType<typeof createAsk>} */
  live = LATER;
  /** @type {HTMLDivElement} */
  failure = LATER;
  /** @type {HTMLDivElement} */
  body = LATER;
  /** @type {boolean} */
  failed = LATER;
  /** @type {ReturnType<typeof createValues>} */
  values = LATER;
  /** @type {{ stack: HTMLDivElement; why: HTMLDivElement; }} */
  panes = LATER;
  /** @type {HTMLDivElement} */
  heap = LATER;
  /** @type {ReturnType<typeof createTabs>} */
  tabs = LATER;
  /** @type {HTMLDivElement} */
  side = LATER;
  /** @type {HTMLDivElement} */
  heapBox = LATER;
  /** @type {ReturnType<typeof createTabs>} */
  narrowTabs = LATER;
  /** @type {number} */
  width = LATER;
  /** @type {number} */
  height = LATER;
  /** @type {any} */
  lit = LATER;

  /**
   * @param {HTMLElement} root
   * @param {EvaluationView} view
   * @param {Context} ctx
   */
  constructor(root, view, ctx) {
    super(root, view, ctx);
    this.run = createRun(view);
    this.step = -1;
    /** The frame that is shown; `pinned` when the reader chose it, else it is the cursor's. */
    this.frame = -1;
    this.pinned = false;
    this.question = { kind: "step", at: -1 };
  }

  get marks() {
    return MARKS;
  }

  get chosen() {
    return this.question.kind === "object" ? this.question.at : -1;
  }

  // --- building -------------------------------------------------------------------------------------

  build() {
    const { view, ctx, run } = this;
    this.frameOf("Evaluation, step by step");
    this.timeline = this.timelineOf({
      kinds: view.steps.map(({ mark }) => mark),
      profile: view.steps.map((_, step) => run.height(step)),
    });
    this.jumps = JUMPS.map(([kind, label, title]) =>
      h("button", { class: "btn", type: "button", title, onclick: () => this.jumpTo(kind, 1) }, label),
    );
    this.live = createAsk(view, ctx, this.shell);
    this.shell.bar.classList.add("has-jumps");
    this.shell.bar.append(
      this.transport.el,
      h("span", { class: "group jumps", role: "group", "aria-label": "go" }, this.jumps),
      h("span", { class: "grow" }, this.timeline.el),
      this.counter,
      this.tools(this.live && this.button("run again", "run again with other arguments", this.live)),
    );
    this.failure = h("div", {
      class: "conflict failure",
      role: "group",
      "aria-label": "failure",
      hidden: true,
    });
    this.buildRows();
    this.buildSides();
    this.finder = createFinder(this);
    this.search = this.finder.search;
    const parts = view.objects.some((_, object) => structured(view, object));
    this.body = h(
      "div",
      { class: parts ? "parts eval-body" : "parts eval-body no-heap" },
      this.rows.el,
      this.side,
      this.heapBox,
    );
    this.narrowTabs.hide("heap", !parts);
    this.shell.body.append(this.failure, this.search.el, this.narrowTabs.el, this.body);
    this.shell.foot.append(
      h("span", { class: "sums" }, sums(this.view)),
      createLegend({
        marks: MARKS,
        kinds: view.steps.map(({ mark }) => mark),
        onMark: (mark) => this.nextMark(mark),
      }),
      this.hints(KEYS),
    );
    this.failed = Boolean(view.failure) && drawFailure(view, this.failure);
    this.listen(bindings(this));
    this.root.addEventListener("click", (event) => this.clicked(event));
    this.root.addEventListener("pointerover", (event) => this.hovered(event));
    this.root.addEventListener("focusin", (event) => this.hovered(event));
  }

  buildRows() {
    this.values = createValues(this);
    this.rows = createRows({
      view: this.view,
      label: `program of ${this.view.title}, with values`,
      fit: true,
      foldLists: true,
      columns: [this.values.column],
      hooks: {
        select: (row, byReader) => {
          if (!byReader) return;
          this.jumps[2].disabled = this.run.jump("row", this.step, 1, row) < 0;
          if (this.question.kind === "row") this.ask("row", row, false);
          this.ctx.changed();
        },
        hover: (hit) => this.rows.mark("hover", hit ? [hit.row] : []),
        fold: () => this.ctx.changed(),
        activate: (row) => this.ask("row", row),
      },
    });
  }

  buildSides() {
    this.panes = {
      stack: h("div", { class: "pane stack-pane", tabindex: 0 }),
      why: h("div", { class: "pane why-pane", tabindex: 0 }),
    };
    this.heap = h("div", { class: "pane heap-pane", role: "group", "aria-label": "heap" });
    this.tabs = createTabs({
      label: "what to show beside the program",
      selected: "stack",
      items: SIDE.map((item) => ({ ...item, pane: this.panes[item.id] })),
      onSelect: (id, byReader) => {
        if (byReader) {
          this.drawSides();
          this.ctx.changed();
        }
      },
    });
    this.side = h("div", { class: "side-box" }, this.tabs.el, Object.values(this.panes));
    this.heapBox = h(
      "div",
      { class: "heap-box" },
      h("div", { class: "pane-head" }, h("b", null, "heap"), h("span", { class: "key" }, this.legend())),
      this.heap,
    );
    this.narrowTabs = createTabs({
      label: "what to show",
      className: "narrow",
      selected: "values",
      items: TABS,
      onSelect: (id, byReader) => {
        if (byReader) {
          this.place(id);
          this.ctx.changed();
        }
      },
    });
  }

  legend() {
    return [
      ["now", "inspected now"],
      ["open", "matched"],
      ["gone", "no longer needed"],
    ].map(([mark, label]) => h("span", { class: `mark-${mark}` }, label));
  }

  // --- state ----------------------------------------------------------------------------------------

  token() {
    const { kind, at } = this.question;
    const tab = this.narrowTabs.selected;
    return {
      step: this.step + 1,
      frame: this.pinned ? this.frame : "",
      sel: { row: `r${at}`, object: `o${at}` }[kind] ?? "",
      row: this.selected(),
      pane: this.tabs.selected === "stack" ? "" : this.tabs.selected,
      tab: this.narrow && tab !== "values" ? tab : "",
      ...this.searched(),
      fold: this.folded(),
    };
  }

  /** @param {State} state */
  restore(state) {
    const [, kind, digits] = /^([ro])(\d{1,7})$/.exec(state.sel ?? "") ?? [];
    const list = { r: this.view.rows, o: this.view.objects }[kind];
    this.question = list?.[Number(digits)]
      ? { kind: kind === "r" ? "row" : "object", at: Number(digits) }
      : { kind: "step", at: -1 };
    if (SIDE.some(({ id }) => id === state.pane)) this.tabs.select(state.pane);
    this.narrowTabs.select(TABS.some(({ id }) => id === state.tab) ? state.tab : "values");
    this.place(this.narrowTabs.selected);
    this.go(integer(state.step, integer(String(this.view.start ?? ""), this.count - 1) + 1) - 1, true);
    const frame = integer(state.frame, -1);
    if (this.view.frames[frame]?.entered <= this.step) this.showFrame(frame, true);
    if (state.fold) this.rows.setFolded(parseList(state.fold));
    this.finder.restore(state);
    const row = integer(state.row, -1);
    if (this.view.rows[row]) this.rows.select(row, { quiet: true });
    else this.rows.scrollTo(this.view.steps[this.step]?.row ?? -1, true);
  }

  // --- time -----------------------------------------------------------------------------------------

  /** The row that the reader chose, else the cursor's. */
  asked(row = this.view.steps[this.step]?.row ?? -1) {
    return this.rows.selected >= 0 ? this.rows.selected : row;
  }

  /**
   * "over", "out" or "row": Esc comes back.
   * @param {string} kind
   * @param {number} by
   */
  jumpTo(kind, by) {
    const to = this.run.jump(kind, this.step, by, this.asked());
    if (to >= 0) this.jump(to);
    else
      this.shell.announce(
        {
          over: "No further step at this level of the call stack.",
          out: "This step is in the outermost call.",
          row: "This row is not evaluated again in the recording.",
        }[kind],
      );
  }

  /**
   * Shows the state after `step`. `quiet`: not the reader's doing, so neither spoken nor put in the address.
   * @param {number} step
   */
  go(step, quiet = false) {
    if (this.count === 0) {
      fill(this.shell.say, "No step was recorded.");
      return;
    }
    const to = Math.max(0, Math.min(this.count - 1, step));
    const { row, frame, say } = this.view.steps[to];
    if (row >= 0) this.rows.scrollTo(row);
    this.step = to;
    this.frame = frame >= 0 ? frame : (this.run.stack(to).at(-1) ?? -1);
    this.pinned = false;
    // Who asked about a step asks about the step that is shown; a line or a value stays asked about.
    if (this.question.kind === "object" && !this.run.seen(this.question.at, to))
      this.question = { kind: "step", at: -1 };
    this.rows.mark("now", row >= 0 ? [row] : []);
    fill(this.shell.say, sentence(say));
    text(this.counter, `${to + 1} / ${this.count}`);
    this.timeline.setStep(to);
    const failed = this.view.failure && to >= this.view.failure.step;
    this.failure.hidden = !(failed && this.failed);
    this.shell.say.classList.toggle("bad", Boolean(failed));
    this.rows.mark("failed", failed && row >= 0 ? [row] : []);
    JUMPS.forEach(([kind], i) => {
      this.jumps[i].disabled = this.run.jump(kind, to, 1, this.asked(row)) < 0;
    });
    this.draw();
    if (quiet) return;
    this.shell.announce(`Step ${to + 1} of ${this.count}. ${this.spoken(to)}`);
    this.ctx.changed();
  }

  /**
   * Shows another frame's values at this step.
   * @param {number} frame
   */
  showFrame(frame, quiet = false) {
    const cursor = this.view.steps[this.step]?.frame ?? -1;
    this.frame = frame;
    this.pinned = frame !== cursor;
    const row = this.run.standsAt(frame, this.step);
    if (row >= 0) this.rows.scrollTo(row);
    this.draw();
    if (quiet) return;
    this.shell.announce(`Showing ${this.run.frameName(frame)}.`);
    this.ctx.changed();
  }

  /**
   * The frame below or above the shown one on the stack.
   * @param {number} by
   */
  otherFrame(by) {
    const stack = this.run.stack(this.step);
    const to = stack[stack.indexOf(this.frame) + by];
    if (to !== undefined) this.showFrame(to);
  }

  // --- what is shown --------------------------------------------------------------------------------

  draw() {
    const before = this.active;
    for (const row of this.values.changed()) this.rows.update(row);
    this.rows.mark("skipped", this.values.skipped());
    const place = this.frame >= 0 ? this.run.standsAt(this.frame, this.step) : -1;
    this.rows.mark("waits", this.pinned && place >= 0 ? [place] : []);
    this.drawSides(before);
  }

  drawSides(before = this.active) {
    const tab = this.narrowTabs.selected;
    const side = this.narrow ? tab : this.tabs.selected;
    if (side === "stack") drawFrames(this, this.panes.stack);
    if (side === "why") drawWhy(this, this.panes.why);
    if (!this.narrow || tab === "heap") drawHeap(this, this.heap);
    this.refocus(before, ["object", "frame", "step"]);
  }

  /**
   * On a phone, what the chosen tab shows; elsewhere everything stands side by side.
   * @param {string} id
   */
  place(id) {
    if (this.narrowTabs.selected !== id) this.narrowTabs.select(id);
    const where = { program: "rows", values: "rows", heap: "heap" }[id] ?? "side";
    this.body.dataset.on = where;
    if (!this.narrow) this.rows.setColumns();
    else if (where === "rows") this.rows.setColumns(id === "values" ? ["value"] : [], true);
    else if (where === "side") this.tabs.select(id);
    if (this.step >= 0) this.draw();
  }

  resized() {
    const width = this.heap.clientWidth;
    if (this.turned()) this.place(this.narrowTabs.selected);
    else if (width && width !== this.width && this.step >= 0) this.drawSides();
    this.width = width;
    // The window of the rows has another height than when the cursor was brought into it.
    const { height } = this.rows.port;
    if (height !== this.height) this.rows.scrollTo(this.view.steps[this.step]?.row ?? -1);
    this.height = height;
  }

  /**
   * `kind`: "step" (why could it happen), "row" (what it gave, each time), "object" (its story).
   * @param {string} kind
   * @param {number} at
   */
  ask(kind, at, move = true) {
    this.question = { kind, at };
    if (this.narrow && move) this.place("why");
    this.tabs.select("why");
    this.drawSides();
    this.ctx.changed();
  }

  // --- keyboard -------------------------------------------------------------------------------------

  /**
   * Arrow keys inside the heap's picture move there.
   * @param {KeyEvent} event
   */
  inHeap(event) {
    return walkHeap(this.heap, event);
  }

  leave() {
    if (this.pinned) this.go(this.step);
    else if (this.revisit(-1)) return undefined;
    else if (this.question.kind !== "step" || this.tabs.selected === "why") {
      this.question = { kind: "step", at: -1 };
      this.tabs.select("stack");
      if (this.narrow) this.place("values");
      this.draw();
      this.ctx.changed();
    } else return false;
  }
}
