// The evaluation explorer: the program with the cursor, what each line gave in the frame that is shown, the call
// stack, and the heap with its trees, lists, closures and references.
import { fill, h, text } from "../core/dom.js";
import { createFrame, showHelp, showLink } from "../core/frame.js";
import { bindKeys } from "../core/keys.js";
import { createLegend } from "../core/legend.js";
import { formatList, integer, parseList } from "../core/links.js";
import { createRows } from "../core/rows.js";
import { sentence, sentenceText } from "../core/sentence.js";
import { nextStep } from "../core/steps.js";
import { addStyle } from "../core/style.js";
import { createTabs } from "../core/tabs.js";
import { createTimeline } from "../core/timeline.js";
import { createTransport } from "../core/transport.js";
import { checkEvaluation } from "./evaluation_check.js";
import { createFinder } from "./evaluation_find.js";
import { drawFrames } from "./evaluation_frames.js";
import { drawHeap, structured, walkHeap } from "./evaluation_heap.js";
import { bindings } from "./evaluation_keys.js";
import { createAsk } from "./evaluation_live.js";
import { MARKS } from "./evaluation_marks.js";
import { createValues } from "./evaluation_rows.js";
import { createRun } from "./evaluation_run.js";
import { drawFailure, drawWhy } from "./evaluation_why.js";
import css from "./evaluation.css";
import heapCss from "./heap.css";

addStyle(css);
addStyle(heapCss);

const NARROW = 620;
const TABS = [{ id: "program", label: "Program" }, { id: "values", label: "Values" }, { id: "stack", label: "Stack" }, { id: "heap", label: "Heap" }, { id: "why", label: "Why" }];
const SIDE = [{ id: "stack", label: "Stack" }, { id: "why", label: "Why" }];
const KEYS = [[["←", "→"], "step"], [["o"], "over"], [["u"], "out"], [["w"], "why"], [["?"], "keys"]];
const JUMPS = [
  ["over", "over", "step over a call: on to where it has come back (o)"], ["out", "out", "out of this call (u)"], ["row", "same row", "the next step in this row (n)"],
];

export function mountEvaluation(root, view, ctx) {
  checkEvaluation(view);
  return new EvaluationExplorer(root, view, ctx).handle();
}

class EvaluationExplorer {
  constructor(root, view, ctx) {
    Object.assign(this, { root, view, ctx });
    this.count = view.steps.length;
    this.run = createRun(view);
    this.step = -1;
    /** The frame that is shown; `pinned` when the reader chose it, else it is the cursor's. */
    this.frame = -1;
    this.pinned = false;
    this.question = { kind: "step", at: -1 };
    this.past = [];
    this.narrow = false;
    this.build();
    this.restore(ctx.state);
    this.ready = true;
  }

  handle() {
    return { token: () => this.token(), restore: (state) => this.restore(state), destroy: () => this.destroy() };
  }

  get chosen() {
    return this.question.kind === "object" ? this.question.at : -1;
  }

  // --- building -------------------------------------------------------------------------------------

  build() {
    const { view, ctx, run } = this;
    this.shell = createFrame(this.root, { title: view.title, what: "Evaluation, step by step", summary: view.summary });
    this.transport = createTransport({ steps: this.count, move: (name) => this.move(name) });
    this.timeline = createTimeline({
      kinds: view.steps.map(([mark]) => mark), marks: MARKS, label: "step", profile: view.steps.map((_, step) => run.height(step)),
      valueText: (step) => `step ${step + 1} of ${this.count}: ${this.spoken(step)}`,
      onSeek: (step) => { this.transport.stop(); this.go(step); },
    });
    this.counter = h("span", { class: "count" });
    this.jumps = JUMPS.map(([kind, label, title]) => h("button", { class: "btn", type: "button", title, onclick: () => this.jumpTo(kind, 1) }, label));
    const button = (label, title, run_) => h("button", { class: "btn", type: "button", title, "aria-label": title.replace(/ \(.*/, ""), onclick: run_ }, label);
    this.live = createAsk(view, ctx, this.shell);
    this.shell.bar.classList.add("has-jumps");
    this.shell.bar.append(this.transport.el, h("span", { class: "group jumps", role: "group", "aria-label": "go" }, this.jumps),
      h("span", { class: "grow" }, this.timeline.el), this.counter,
      h("span", { class: "group tools" }, this.live && button("run again", "run again with other arguments", this.live), button("find", "find (/)", () => this.search.open()), button("link", "link: to this state (copied)", () => showLink(this.shell, ctx)), button("?", "keys (?)", () => this.help())));
    this.failure = h("div", { class: "conflict failure", role: "group", "aria-label": "failure", hidden: true });
    this.buildRows();
    this.buildSides();
    this.finder = createFinder(this);
    this.search = this.finder.search;
    const parts = view.objects.some((_, object) => structured(view, object));
    this.body = h("div", { class: parts ? "eval-body" : "eval-body no-heap" }, this.rows.el, this.side, this.heapBox);
    this.narrowTabs.hide("heap", !parts);
    this.shell.body.append(this.failure, this.search.el, this.narrowTabs.el, this.body);
    this.shell.foot.append(h("span", { class: "sums" }, this.sums()), createLegend({ marks: MARKS, kinds: view.steps.map(([mark]) => mark), onMark: (mark) => this.nextMark(mark) }), h("span", { class: "keys" }, KEYS.map(([keys, label]) => h("span", null, keys.map((key) => [h("kbd", null, key), " "]), label))));
    this.failed = Boolean(view.failure) && drawFailure(view, this.failure);
    this.keys = bindings(this);
    this.unbind = bindKeys(this.root, this.keys);
    this.root.addEventListener("click", (event) => this.clicked(event));
    this.root.addEventListener("pointerover", (event) => this.hovered(event));
    this.root.addEventListener("focusin", (event) => this.hovered(event));
    this.sizes = new ResizeObserver(() => this.resized());
    this.sizes.observe(this.root);
    this.narrow = this.root.clientWidth <= NARROW;
  }

  buildRows() {
    this.values = createValues(this);
    this.rows = createRows({
      view: this.view, label: `program of ${this.view.title}, with values`, fit: true, foldLists: true, columns: [this.values.column],
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
    this.panes = { stack: h("div", { class: "pane stack-pane", tabindex: 0 }), why: h("div", { class: "pane why-pane", tabindex: 0 }) };
    this.heap = h("div", { class: "pane heap-pane", role: "group", "aria-label": "heap" });
    this.tabs = createTabs({
      label: "what to show beside the program", selected: "stack", items: SIDE.map((item) => ({ ...item, pane: this.panes[item.id] })),
      onSelect: (id, byReader) => { if (byReader) { this.drawSides(); this.ctx.changed(); } },
    });
    this.side = h("div", { class: "side-box" }, this.tabs.el, Object.values(this.panes));
    this.heapBox = h("div", { class: "heap-box" }, h("div", { class: "pane-head" }, h("b", null, "heap"), h("span", { class: "key" }, this.legend())), this.heap);
    this.narrowTabs = createTabs({
      label: "what to show", className: "narrow", selected: "values", items: TABS,
      onSelect: (id, byReader) => { if (byReader) { this.place(id); this.ctx.changed(); } },
    });
  }

  legend() {
    return [["now", "looked at now"], ["open", "opened"], ["gone", "not needed any more"]].map(([mark, label]) => h("span", { class: `mark-${mark}` }, label));
  }

  sums() {
    const { totals } = this.view;
    const said = (name, one) => (Number.isInteger(totals[name]) ? `${totals[name].toLocaleString("en")} ${totals[name] === 1 ? one : name}` : "");
    return [said("steps", "step"), said("calls", "call"), totals["tail calls"] ? said("tail calls", "tail call") : "", said("objects", "object")].filter(Boolean).join(" · ");
  }

  // --- state ----------------------------------------------------------------------------------------

  token() {
    const { query, scope, only } = this.search.state();
    const { kind, at } = this.question;
    const tab = this.narrowTabs.selected;
    return {
      step: this.step + 1, frame: this.pinned ? this.frame : "", sel: { row: `r${at}`, object: `o${at}` }[kind] ?? "", row: this.rows.selected >= 0 ? this.rows.selected : "",
      pane: this.tabs.selected === "stack" ? "" : this.tabs.selected, tab: this.narrow && tab !== "values" ? tab : "",
      q: query, in: query && scope !== "all" ? scope : "", only: only ? 1 : "", fold: this.rows.foldedAsAtFirst() ? "" : formatList(this.rows.folded) || "none",
    };
  }

  restore(state) {
    const [, kind, digits] = /^([ro])(\d{1,7})$/.exec(state.sel ?? "") ?? [];
    const list = { r: this.view.program.rows, o: this.view.objects }[kind];
    this.question = list?.[Number(digits)] ? { kind: kind === "r" ? "row" : "object", at: Number(digits) } : { kind: "step", at: -1 };
    if (SIDE.some(({ id }) => id === state.pane)) this.tabs.select(state.pane);
    this.narrowTabs.select(TABS.some(({ id }) => id === state.tab) ? state.tab : "values");
    this.place(this.narrowTabs.selected);
    this.go(integer(state.step, integer(String(this.view.start ?? ""), this.count - 1) + 1) - 1, true);
    const frame = integer(state.frame, -1);
    if (this.view.frames[frame]?.[7] <= this.step) this.showFrame(frame, true);
    if (state.fold) this.rows.setFolded(parseList(state.fold));
    this.finder.restore(state);
    const row = integer(state.row, -1);
    if (this.view.program.rows[row]) this.rows.select(row, { quiet: true });
    else this.rows.scrollTo(this.view.steps[this.step]?.[1] ?? -1, true);
  }

  // --- time -----------------------------------------------------------------------------------------

  spoken(step) {
    const [mark, , , say] = this.view.steps[step] ?? [0, -1, -1, []];
    return `${MARKS[mark].label}. ${sentenceText(say, this.view.strings)}`;
  }

  move(name) {
    const from = { first: [-1, 1], last: [this.count, -1], back: [this.step, -1], forward: [this.step, 1] }[name];
    const to = nextStep(this.finder.keep, from[0], from[1], this.count);
    if (to === this.step || to < 0 || to >= this.count) return false;
    this.go(to);
    return true;
  }

  /** The row that the reader chose, else the cursor's. */
  asked(row = this.view.steps[this.step]?.[1] ?? -1) {
    return this.rows.selected >= 0 ? this.rows.selected : row;
  }

  /** "over", "out" or "row": Esc comes back. */
  jumpTo(kind, by) {
    const to = this.run.jump(kind, this.step, by, this.asked());
    if (to >= 0) this.jump(to);
    else this.shell.announce({ over: "Nothing follows on this level.", out: "No call is around this.", row: "This row is not evaluated again." }[kind]);
  }

  nextMark(mark) {
    const found = (step) => this.view.steps[step][0] === mark && (!this.finder.keep || this.finder.keep(step));
    let to = nextStep(found, this.step, 1, this.count);
    if (to === this.step) to = nextStep(found, -1, 1, this.count);
    if (to >= 0) this.jump(to);
  }

  jump(step) {
    if (step === this.step) return;
    this.past.push(this.step);
    this.transport.stop();
    this.go(step);
  }

  /** Shows the state after `step`. `quiet`: not the reader's doing, so neither spoken nor put in the address. */
  go(step, quiet = false) {
    if (this.count === 0) {
      fill(this.shell.say, "Nothing was recorded: there is no step to show.");
      return;
    }
    const to = Math.max(0, Math.min(this.count - 1, step));
    const [, row, frame, say] = this.view.steps[to];
    if (row >= 0) this.rows.scrollTo(row);
    this.step = to;
    this.frame = frame >= 0 ? frame : this.run.stack(to).at(-1) ?? -1;
    this.pinned = false;
    // Who asked about a step asks about the step that is shown; a line or a value stays asked about.
    if (this.question.kind === "object" && !this.run.seen(this.question.at, to)) this.question = { kind: "step", at: -1 };
    this.rows.mark("now", row >= 0 ? [row] : []);
    fill(this.shell.say, sentence(say, this.view.strings));
    text(this.counter, `${to + 1} / ${this.count}`);
    this.timeline.setStep(to);
    const failed = this.view.failure && to >= this.view.failure.step;
    this.failure.hidden = !(failed && this.failed);
    this.shell.say.classList.toggle("bad", Boolean(failed));
    this.rows.mark("failed", failed && row >= 0 ? [row] : []);
    JUMPS.forEach(([kind], i) => { this.jumps[i].disabled = this.run.jump(kind, to, 1, this.asked(row)) < 0; });
    this.draw();
    if (quiet) return;
    this.shell.announce(`Step ${to + 1} of ${this.count}. ${this.spoken(to)}`);
    this.ctx.changed();
  }

  /** Shows another frame's values at this step. */
  showFrame(frame, quiet = false) {
    const cursor = this.view.steps[this.step]?.[2] ?? -1;
    this.frame = frame;
    this.pinned = frame !== cursor;
    const row = this.run.standsAt(frame, this.step);
    if (row >= 0) this.rows.scrollTo(row);
    this.draw();
    if (quiet) return;
    this.shell.announce(`Showing ${this.run.frameName(frame)}.`);
    this.ctx.changed();
  }

  /** The frame below or above the shown one on the stack. */
  otherFrame(by) {
    const stack = this.run.stack(this.step);
    const to = stack[stack.indexOf(this.frame) + by];
    if (to !== undefined) this.showFrame(to);
  }

  // --- what is shown --------------------------------------------------------------------------------

  draw() {
    const before = this.root.getRootNode().activeElement;
    for (const row of this.values.changed()) this.rows.update(row);
    this.rows.mark("skipped", this.values.skipped());
    const place = this.frame >= 0 ? this.run.standsAt(this.frame, this.step) : -1;
    this.rows.mark("waits", this.pinned && place >= 0 ? [place] : []);
    this.drawSides(before);
  }

  drawSides(before = this.root.getRootNode().activeElement) {
    const tab = this.narrowTabs.selected;
    const side = this.narrow ? tab : this.tabs.selected;
    if (side === "stack") drawFrames(this, this.panes.stack);
    if (side === "why") drawWhy(this, this.panes.why);
    if (!this.narrow || tab === "heap") drawHeap(this, this.heap);
    this.refocus(before);
  }

  /** What had the focus and was drawn anew has it again, or the keys would go to the page. */
  refocus(before) {
    if (!before || before.isConnected) return;
    const same = ["object", "frame", "step"].filter((name) => before.dataset[name]).map((name) => `[class~="${before.classList[0]}"][data-${name}="${before.dataset[name]}"]`);
    ((same.length && this.root.querySelector(same.join())) || this.root).focus({ preventScroll: true });
  }

  /** On a phone, what the chosen tab shows; elsewhere everything stands side by side. */
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
    const narrow = this.root.clientWidth <= NARROW;
    const width = this.heap.clientWidth;
    if (narrow !== this.narrow) {
      this.narrow = narrow;
      this.place(this.narrowTabs.selected);
    } else if (width && width !== this.width && this.step >= 0) this.drawSides();
    this.width = width;
    // The window of the rows has another height than when the cursor was brought into it.
    const { height } = this.rows.port;
    if (height !== this.height) this.rows.scrollTo(this.view.steps[this.step]?.[1] ?? -1);
    this.height = height;
  }

  /** `kind`: "step" (why could it happen), "row" (what it gave, each time), "object" (its story). */
  ask(kind, at, move = true) {
    this.question = { kind, at };
    if (this.narrow && move) this.place("why");
    this.tabs.select("why");
    this.drawSides();
    this.ctx.changed();
  }

  clicked(event) {
    const hit = (name) => event.target.closest?.(`[data-${name}]`)?.dataset[name];
    const object = hit("object");
    if (object !== undefined) this.ask("object", Number(object));
    else if (hit("step") !== undefined) this.jump(Number(hit("step")));
    else if (hit("frame") !== undefined) this.showFrame(Number(hit("frame")));
    else if (hit("follow") !== undefined) this.go(this.step);
    else if (event.target.closest?.(".link[data-row]")) this.rows.select(Number(hit("row")), { byReader: true, focus: true });
  }

  /** Linked highlighting: the same value wherever it stands. */
  hovered(event) {
    const id = event.target.closest?.("[data-object]")?.dataset.object ?? null;
    // A <title> inside a box would be read as part of what is written in it.
    this.heap.title = event.target.closest?.(".box")?.dataset.said ?? "";
    if (id === this.lit) return;
    this.lit = id;
    for (const node of this.root.querySelectorAll("[data-object].is-lit")) node.classList.remove("is-lit");
    if (id !== null) for (const node of this.root.querySelectorAll(`[data-object="${Number(id)}"]`)) node.classList.add("is-lit");
  }

  // --- keyboard -------------------------------------------------------------------------------------

  /** Arrow keys inside the heap's picture move there. */
  inHeap(event) {
    return walkHeap(this.heap, event);
  }

  back() {
    if (this.shell.closePopover()) return;
    const { search } = this;
    if (search.input.value || (!search.el.hidden && search.el.contains(this.root.getRootNode().activeElement))) {
      this.finder.close();
      this.root.focus({ preventScroll: true });
    } else if (this.pinned) this.go(this.step);
    else if (this.past.length) this.go(this.past.pop());
    else if (this.question.kind !== "step" || this.tabs.selected === "why") {
      this.question = { kind: "step", at: -1 };
      this.tabs.select("stack");
      if (this.narrow) this.place("values");
      this.draw();
      this.ctx.changed();
    } else return false;
  }

  help() {
    showHelp(this.shell, this.keys);
  }

  destroy() {
    this.transport.stop();
    this.unbind();
    this.sizes.disconnect();
    this.timeline.destroy();
    this.rows.destroy();
    this.shell.destroy();
  }
}
