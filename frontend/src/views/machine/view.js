// The machine explorer: a run of the virtual machine beside the program: the code of the function that runs, its
// registers, the stack, and what takes memory until when; and the graph executor's plan, where there is one.
import { closestTo, fill, h, text } from "../../core/dom.js";
import { LATER } from "../../core/later.js";
import { Explorer } from "../../core/explorer.js";
import { createLegend } from "../../core/legend.js";
import { integer, parseList } from "../../core/links.js";
import { createRows } from "../../core/rows.js";
import { sentence } from "../../core/sentence.js";
import { addStyle } from "../../core/style.js";
import { SIDE, TABS, createBoxes } from "./boxes.js";
import { checkMachine } from "./check.js";
import { createFinder } from "./find.js";
import { mountExecutors } from "./forms.js";
import { bindings } from "./keys.js";
import { MARKS } from "./marks.js";
import { drawMemory } from "./memory.js";
import { drawCode, drawRegisters, drawStack, instructionsColumn } from "./panels.js";
import { pointing } from "./pointing.js";
import { createRun } from "./run.js";
import { drawWhy } from "./why.js";
import css from "./style.css";
import { sums } from "./totals.js";
/** @import { MachineView } from "../../generated/machine.js" */
/** @import { Context, KeyEvent, State } from "../../core/types.js" */

addStyle(css);

/** @type {[string[], string][]} */
const KEYS = [
  [["←", "→"], "instruction"],
  [["o"], "over"],
  [["u"], "out"],
  [["w"], "why"],
  [["?"], "keys"],
];
const JUMPS = [
  ["over", "over", "step over the call: go to where it returns (o)"],
  ["out", "out", "step out of this call (u)"],
  ["again", "again", "the next execution of this instruction (n)"],
];
const NOWHERE = {
  over: "No further step at this level of the call stack.",
  out: "This step is in the outermost call.",
  again: "This instruction is not executed again.",
};

/**
 * @param {HTMLElement} root
 * @param {MachineView} view
 * @param {Context} ctx
 */
export function mountMachine(root, view, ctx) {
  checkMachine(view);
  /**
   * @param {HTMLElement} inner
   * @param {MachineView} seen
   * @param {Context} own
   */
  const mount = (inner, seen, own) => new MachineExplorer(inner, seen, own).begin();
  return view.plan ? mountExecutors(root, view, ctx, mount) : mount(root, view, ctx);
}

/** @extends {Explorer<MachineView>} */
export class MachineExplorer extends Explorer {
  clicked = pointing.clicked;
  runTo = pointing.runTo;
  hovered = pointing.hovered;
  light = pointing.light;
  /** @type {ReturnType<typeof createBoxes>["boxes"]} */
  boxes = LATER;
  /** @type {ReturnType<typeof createBoxes>["codePane"]} */
  codePane = LATER;
  /** @type {ReturnType<typeof createBoxes>["regsPane"]} */
  regsPane = LATER;
  /** @type {ReturnType<typeof createBoxes>["regsHead"]} */
  regsHead = LATER;
  /** @type {ReturnType<typeof createBoxes>["choice"]} */
  choice = LATER;
  /** @type {ReturnType<typeof createBoxes>["panes"]} */
  panes = LATER;
  /** @type {ReturnType<typeof createBoxes>["tabs"]} */
  tabs = LATER;
  /** @type {ReturnType<typeof createBoxes>["narrowTabs"]} */
  narrowTabs = LATER;
  /** @type {HTMLButtonElement[]} */
  jumps = LATER;
  /** @type {HTMLDivElement} */
  failure = LATER;
  /** @type {HTMLDivElement} */
  body = LATER;
  /** @type {any} */
  lit = LATER;

  /**
   * @param {HTMLElement} root
   * @param {MachineView} view
   * @param {Context} ctx
   */
  constructor(root, view, ctx) {
    super(root, view, ctx);
    this.run = createRun(view);
    this.step = 0;
    /** The frame that is shown; `pinned` when the reader chose it, else it is the one that runs. */
    this.frame = -1;
    this.pinned = false;
    this.fn = this.run.functionOf(view.steps[0].frame);
    this.all = false;
    this.question = { kind: "step", at: -1 };
  }

  cursorRow() {
    return this.run.rowsOf(this.step)[0] ?? -1;
  }

  kept() {
    return this.finder?.keep
      ? (/** @type {number} */ step) => /** @type {any} */ (this.finder).about(step)
      : null;
  }

  get marks() {
    return MARKS;
  }

  get chosen() {
    return this.question.kind === "object" ? this.question.at : -1;
  }

  // --- building -------------------------------------------------------------------------------------

  build() {
    const { view, run } = this;
    this.frameOf("The virtual machine, instruction by instruction");
    const kinds = view.steps.map(({ mark }) => mark);
    this.timeline = this.timelineOf({ kinds, profile: view.steps.map((_, step) => run.height(step)) });
    this.jumps = JUMPS.map(([kind, label, title]) =>
      h("button", { class: "btn", type: "button", title, onclick: () => this.jumpTo(kind, 1) }, label),
    );
    this.shell.bar.classList.add("has-jumps");
    this.shell.bar.append(
      this.transport.el,
      h("span", { class: "group jumps", role: "group", "aria-label": "go" }, this.jumps),
      h("span", { class: "grow" }, this.timeline.el),
      this.counter,
      this.tools(),
    );
    this.failure = h("div", {
      class: "conflict failure",
      role: "group",
      "aria-label": "failure",
      hidden: true,
    });
    this.buildRows();
    this.buildPanes();
    this.finder = createFinder(this);
    this.search = this.finder.search;
    this.shell.body.append(this.failure, this.search.el, this.narrowTabs.el, this.body);
    this.shell.foot.append(
      h("span", { class: "sums" }, sums(this.view)),
      createLegend({ marks: MARKS, kinds, onMark: (mark) => this.nextMark(mark) }),
      this.hints(KEYS),
      ...(view.without.length ? [h("span", { class: "without sentence" }, sentence(view.without))] : []),
    );
    this.listen(bindings(this));
    this.root.addEventListener("click", (event) => this.clicked(event));
    this.root.addEventListener("pointerover", (event) => this.hovered(event));
    this.root.addEventListener("focusin", (event) => this.hovered(event));
  }

  buildRows() {
    this.rows = createRows({
      view: this.view,
      label: `program of ${this.view.title}, with the instructions of each line`,
      fit: true,
      foldLists: true,
      columns: [instructionsColumn(this)],
      hooks: {
        select: (row, byReader) => {
          if (!byReader) return;
          if (this.question.kind === "row") this.ask("row", row, false);
          this.ctx.changed();
        },
        hover: (hit) => this.light(hit ? hit.row : -1),
        fold: () => this.ctx.changed(),
        activate: (row) => this.ask("row", row),
      },
    });
    this.rows.setColumns();
  }

  buildPanes() {
    Object.assign(
      this,
      createBoxes(this, {
        onFunction: (fn) => this.showFunction(fn),
        onSide: () => {
          this.drawSide();
          this.ctx.changed();
        },
        onTab: (id) => {
          this.place(id);
          this.ctx.changed();
        },
      }),
    );
    const bare = this.view.rows.length === 0; // a program that was loaded is bytecode alone
    this.narrowTabs.hide("program", bare);
    this.body = h(
      "div",
      { class: bare ? "parts vm-body bare" : "parts vm-body", "data-on": "code" },
      this.rows.el,
      this.boxes,
    );
  }

  // --- state ----------------------------------------------------------------------------------------

  token() {
    const { kind, at } = this.question;
    const tab = this.narrowTabs.selected;
    return {
      step: this.step + 1,
      frame: this.pinned ? this.frame : "",
      fn: this.fn === this.run.functionOf(this.frame) ? "" : this.fn.index,
      sel: { row: `r${at}`, object: `o${at}` }[kind] ?? "",
      row: this.selected(),
      pane: this.tabs.selected === "stack" ? "" : this.tabs.selected,
      tab: this.narrow && tab !== "code" ? tab : "",
      all: this.all ? 1 : "",
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
    this.all = state.all === "1";
    this.tabs.select(SIDE.some(({ id }) => id === state.pane) ? state.pane : "stack");
    this.narrowTabs.select(TABS.some(({ id }) => id === state.tab) ? state.tab : "code");
    this.place(this.narrowTabs.selected);
    this.go(integer(state.step, this.view.start + 1) - 1, true);
    const frame = integer(state.frame, -1);
    if (this.view.frames[frame]?.entered <= this.step) this.showFrame(frame, true);
    const fn = integer(state.fn, -1);
    if (this.run.functions[fn]) this.showFunction(fn, true);
    if (state.fold) this.rows.setFolded(parseList(state.fold));
    this.finder.restore(state);
    const row = integer(state.row, -1);
    if (this.view.rows[row]) this.rows.select(row, { quiet: true });
    else this.rows.scrollTo(this.run.rowsOf(this.step)[0] ?? -1, true);
  }

  // --- time -----------------------------------------------------------------------------------------

  /**
   * "over", "out" or "again": Esc comes back.
   * @param {string} kind
   * @param {number} by
   */
  jumpTo(kind, by) {
    const to = this.run.jump(kind, this.step, by);
    if (to >= 0) this.jump(to);
    else this.shell.announce(NOWHERE[kind]);
  }

  /**
   * Shows the state after `step`. `quiet`: not the reader's doing, so neither spoken nor put in the address.
   * @param {number} step
   */
  go(step, quiet = false) {
    const { run, view } = this;
    const to = Math.max(0, Math.min(this.count - 1, step));
    this.step = to;
    const { frame, say } = view.steps[to];
    this.frame = run.stack(to).at(-1) ?? frame;
    this.pinned = false;
    this.setFunction(run.functionOf(frame));
    if (this.question.kind === "object" && !run.seen(this.question.at, to))
      this.question = { kind: "step", at: -1 };
    const rows = run.rowsOf(to);
    if (rows.length) this.rows.scrollTo(rows[0]);
    this.rows.mark("now", rows);
    fill(this.shell.say, sentence(say));
    text(this.counter, `${to + 1} / ${this.count}`);
    this.timeline.setStep(to);
    const failed = view.failure !== null && to === this.count - 1;
    this.shell.say.classList.toggle("bad", failed);
    this.rows.mark("failed", failed ? rows.slice(0, 1) : []);
    this.failure.hidden = !(failed && this.drawFailure());
    JUMPS.forEach(([kind], i) => {
      this.jumps[i].disabled = run.jump(kind, to, 1) < 0;
    });
    this.draw();
    if (quiet) return;
    this.shell.announce(`Step ${to + 1} of ${this.count}. ${this.spoken(to)}`);
    this.ctx.changed();
  }

  drawFailure() {
    const { notes, tries: attempts } = this.view.failure;
    const list = (lines) =>
      h(
        "ul",
        { class: "notes sentence" },
        lines.map((line) => h("li", null, sentence(line))),
      );
    fill(
      this.failure,
      notes.length > 0 && list(notes),
      attempts.length > 0 && [h("strong", null, "What to try"), list(attempts)],
    );
    return notes.length + attempts.length > 0;
  }

  /**
   * Shows another frame's code and registers at this step.
   * @param {number} frame
   */
  showFrame(frame, quiet = false) {
    this.frame = frame;
    this.pinned = frame !== (this.run.stack(this.step).at(-1) ?? -1);
    this.setFunction(this.run.functionOf(frame));
    this.draw();
    if (quiet) return;
    this.shell.announce(`Showing ${this.run.frameName(frame)}.`);
    this.ctx.changed();
  }

  /** @param {number} by */
  otherFrame(by) {
    const stack = this.run.stack(this.step);
    const to = stack[stack.indexOf(this.frame) + by];
    if (to !== undefined) this.showFrame(to);
  }

  /**
   * Shows the code of a function, whether or not it runs.
   * @param {number} index
   */
  showFunction(index, quiet = false) {
    this.setFunction(this.run.functions[index]);
    this.draw();
    if (!quiet) this.ctx.changed();
  }

  setFunction(fn) {
    if (fn === this.fn && this.choice.value === String(fn.index)) return;
    this.fn = fn;
    this.choice.value = String(fn.index);
    for (const row of this.run.fromRow.keys()) this.rows.update(row);
  }

  // --- what is shown --------------------------------------------------------------------------------

  draw() {
    const before = this.active;
    const tab = this.narrowTabs.selected;
    const waits = this.pinned ? this.run.standsAt(this.frame, this.step) : -1;
    const rows = waits >= 0 ? (this.run.functionOf(this.frame).code[waits]?.rows.slice(0, 1) ?? []) : [];
    this.rows.mark("waits", rows);
    if (rows.length) this.rows.scrollTo(rows[0]);
    if (!this.narrow || tab === "code") drawCode(this, this.codePane);
    if (!this.narrow || tab === "regs") drawRegisters(this, this.regsPane);
    text(
      this.regsHead,
      this.frame < 0 ? "" : `of ${this.run.frameName(this.frame)}${this.pinned ? ", which is waiting" : ""}`,
    );
    this.drawSide(before);
  }

  drawSide(before = this.active) {
    const side = this.narrow ? this.narrowTabs.selected : this.tabs.selected;
    if (side === "stack") drawStack(this, this.panes.stack);
    if (side === "memory") drawMemory(this, this.panes.memory);
    if (side === "why") drawWhy(this, this.panes.why);
    this.refocus(before, ["object", "frame", "step", "ins"]);
  }

  /**
   * On a phone, what the chosen tab shows; elsewhere everything stands side by side.
   * @param {string} id
   */
  place(id) {
    this.body.dataset.on = id;
    if (SIDE.some((item) => item.id === id) && this.narrow) this.tabs.select(id);
    if (this.ready) this.draw();
  }

  resized() {
    if (this.turned()) this.place(this.narrowTabs.selected);
  }

  /**
   * `kind`: "step" (why could it happen), "row" (what became of it), "object" (its story).
   * @param {string} kind
   * @param {number} at
   */
  ask(kind, at, move = true) {
    this.question = { kind, at };
    if (this.narrow && move) {
      this.narrowTabs.select("why");
      this.body.dataset.on = "why";
    }
    this.tabs.select("why");
    this.draw();
    this.ctx.changed();
  }

  // --- keyboard -------------------------------------------------------------------------------------

  /**
   * ↑ and ↓: along the code where the focus is there, else along the program.
   * @param {number} by
   * @param {number} row
   * @param {KeyEvent} event
   */
  walk(by, row, event) {
    const line = closestTo(event, ".vm-line");
    if (!line) return this.rows.move(by, row);
    (by > 0 ? line.nextElementSibling : line.previousElementSibling)?.querySelector(".ins")?.focus();
  }

  leave() {
    if (this.pinned || this.fn !== this.run.functionOf(this.frame)) this.go(this.step);
    else if (this.revisit(-1)) return undefined;
    else if (this.question.kind !== "step" || this.tabs.selected === "why") {
      this.question = { kind: "step", at: -1 };
      this.tabs.select("stack");
      if (this.narrow) {
        this.narrowTabs.select("code");
        this.place("code");
      }
      this.draw();
      this.ctx.changed();
    } else return false;
  }
}
