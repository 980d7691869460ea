// The lowering explorer: one kernel as Relay, tensor expressions, loops and machine code side by side. The loops are
// those after one primitive of the schedule, which the reader steps through; an operator is lit at every level.
import { fill, h, text } from "../../core/dom.js";
import { LATER } from "../../core/later.js";
import { Explorer } from "../../core/explorer.js";
import { commonKeys, key, onButton, playKey, rowKeys, stepKeys } from "../../core/keys.js";
import { createLegend } from "../../core/legend.js";
import { formatList, integer, parseList } from "../../core/links.js";
import { sentence } from "../../core/sentence.js";
import { addStyle } from "../../core/style.js";
import { createTabs } from "../../core/tabs.js";
import { checkLowering } from "./check.js";
import { addSwitches, operatorChips } from "./choices.js";
import { counted, effectOf } from "./effect.js";
import { createFinder } from "./find.js";
import { createModel, hottest, levelsOf, meets, tally } from "./model.js";
import { MARKS } from "./marks.js";
import { createPanels } from "./panels.js";
import css from "./style.css";
/** @import { LoweringView } from "../../generated/lowering.js" */
/** @import { Context, KeyEvent, State } from "../../core/types.js" */

addStyle(css);

const TITLES = { relay: "Relay", te: "Tensor expressions", loops: "Loops", code: "Code" };
/** @type {[string[], string][]} */
const KEYS = [
  [["←", "→"], "step"],
  [["↑", "↓"], "line"],
  [["1", "…", "9"], "operator"],
  [["/"], "find"],
  [["?"], "keys"],
];

/**
 * @param {HTMLElement} root
 * @param {LoweringView} view
 * @param {Context} ctx
 */
export function mountLowering(root, view, ctx) {
  checkLowering(view);
  return new LoweringExplorer(root, view, ctx).begin();
}

/** @extends {Explorer<LoweringView>} */
export class LoweringExplorer extends Explorer {
  /** @type {HTMLButtonElement[]} */
  chips = LATER;
  /** @type {{ [k: string]: HTMLSpanElement; }} */
  tallies = LATER;
  /** @type {HTMLSpanElement} */
  loopNote = LATER;
  /** @type {any} */
  panels = LATER;
  /** @type {ReturnType<typeof createTabs>} */
  tabs = LATER;
  /** @type {HTMLDivElement} */
  body = LATER;
  /** @type {HTMLSpanElement} */
  effect = LATER;
  /** @type {HTMLButtonElement[]} */
  switches = LATER;

  /**
   * @param {HTMLElement} root
   * @param {LoweringView} view
   * @param {Context} ctx
   */
  constructor(root, view, ctx) {
    super(root, view, ctx);
    this.model = createModel(view);
    this.levels = levelsOf(view);
    this.step = 0;
    this.chosen = [];
    this.pointed = null;
  }

  opening() {
    return this.step > 0 ? "the first change to the loops" : "";
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
    this.frameOf("Lowering: one kernel at every level");
    const kinds = model.steps.map(({ mark }) => mark);
    this.timeline = this.timelineOf({
      kinds,
      label: "the schedule",
      profile: model.times.length > 0 ? model.times.map(Math.log) : null, // the marks go down as the kernel gets faster
    });
    this.shell.bar.append(
      this.transport.el,
      h("span", { class: "grow" }, this.timeline.el),
      this.counter,
      this.tools(),
    );
    this.chips = operatorChips(this);
    const panels = createPanels(model, view, {
      focus: (level, line) => line && this.focused(level, line),
      click: (level, line) => line && this.click(level, line),
      hover: (level, line) => this.point(line ? this.ownersOf(level, line) : null),
    });
    this.tallies = Object.fromEntries(
      Object.keys(model.codes).map((level) => [level, h("span", { class: "lv-tally" })]),
    );
    this.loopNote = h("span", null);
    const notes = { loops: this.loopNote, ...this.tallies };
    const titles = {
      ...TITLES,
      ...Object.fromEntries(Object.entries(model.codes).map(([level, { name }]) => [level, name])),
    };
    this.panels = Object.fromEntries(
      this.levels.map((level) => [level, panels.panel(level, titles[level], notes[level])]),
    );
    if (model.codes.ir) this.switches = addSwitches(this, titles);
    this.tabs = createTabs({
      label: "which level",
      className: "narrow",
      selected: "loops",
      items: this.levels.map((id) => ({ id, label: id === "te" ? "TE" : titles[id] })),
      onSelect: (id, byReader) => {
        this.showLevel(id);
        if (byReader) {
          if (this.chosen.length > 0) this.reveal(id);
          else this.toKernel();
          ctx.changed();
        }
      },
    });
    this.body = h(
      "div",
      {
        class: model.codes.ir ? "parts lowering-body has-ir" : "parts lowering-body",
        "data-on": "loops",
        "data-code": "code",
      },
      this.levels.map((level) => this.panels[level].el),
    );
    this.showLevel(this.tabs.selected);
    this.finder = createFinder(this);
    this.search = this.finder.search;
    this.shell.body.append(
      this.search.el,
      h(
        "div",
        {
          class: "lowering-ops",
          role: "group",
          "aria-label": "operators: choose one to see it at every level",
        },
        h("span", { class: "what" }, "operators"),
        this.chips,
      ),
      this.tabs.el,
      this.body,
    );
    this.effect = h("span", { class: "lowering-effect" });
    const legend = createLegend({ marks: MARKS, kinds, onMark: (mark) => this.nextMark(mark) });
    this.shell.foot.append(this.effect, legend, this.hints(KEYS));
    for (const level of this.levels) if (level !== "loops") this.panels[level].draw();
    this.listen(this.bindings());
  }

  bindings() {
    const numbers = this.model.operators.slice(0, 9).map((_, i) => String(i + 1));
    return [
      ...stepKeys(this, { next: "next primitive of the schedule", previous: "previous primitive" }),
      playKey(this),
      {
        ...key(numbers, "highlight an operator at every level, or clear it", (event) =>
          this.toggle(Number(event.key) - 1),
        ),
        shown: ["1", "…", "9"],
      },
      rowKeys((by) => this.walk(by), "move along a level"),
      key(["[", "]"], "the level before, the level after", (event) =>
        this.otherLevel(event.key === "[" ? -1 : 1),
      ),
      key("Enter", "choose the operators of this line", (event) => this.enter(event)),
      ...commonKeys(this, { fold: null, back: "no operator" }),
    ];
  }

  // --- state ----------------------------------------------------------------------------------------

  token() {
    return {
      step: this.step + 1,
      op: formatList(this.chosen),
      tab: this.tabs.selected === "loops" ? "" : this.tabs.selected,
      ...this.searched(),
    };
  }

  /** @param {State} state */
  restore(state) {
    this.chosen = parseList(state.op).filter((op) => this.model.operators[op]);
    this.tabs.select(this.levels.includes(state.tab) ? state.tab : "loops");
    this.go(integer(state.step, this.model.start + 1) - 1, true);
    this.finder?.restore(state);
    this.light();
    requestAnimationFrame(() => {
      if (this.chosen.length === 0) this.toKernel();
      else for (const level of this.levels) this.reveal(level);
    });
  }

  /** The code is first shown where its innermost loop begins, unless the reader has been there. */
  toKernel() {
    for (const [level, { lines, purposes }] of Object.entries(this.model.codes)) {
      const { list } = this.panels[level];
      const line = list.children[hottest(lines, purposes.indexOf("multiply-add"))];
      if (line && list.scrollTop === 0) this.show(list, line);
    }
  }

  /** @param {string} id */
  showLevel(id) {
    if (!this.body) return;
    this.body.dataset.on = id;
    if (this.model.codes[id]) this.body.dataset.code = id;
    for (const button of this.switches ?? [])
      button.setAttribute("aria-pressed", String(button.dataset.level === this.body.dataset.code));
  }

  // --- the schedule ---------------------------------------------------------------------------------

  /** @param {number} step */
  go(step, quiet = false) {
    const { model } = this;
    this.step = Math.max(0, Math.min(this.count - 1, step));
    const { mark, primitive, say, why } = model.steps[this.step];
    this.shell.say.dataset.mark = MARKS[mark].id;
    fill(this.shell.say, sentence(say), why.length > 0 && h("small", null, sentence(why)));
    text(this.counter, `${this.step + 1} / ${this.count}`);
    this.timeline.setStep(this.step);
    const { list } = this.panels.loops;
    const kept = list.contains(this.active) ? this.active.dataset.at : null;
    this.panels.loops.draw(this.step);
    if (kept !== null)
      (list.children[Math.min(Number(kept), list.children.length - 1)] ?? this.root).focus({
        preventScroll: true,
      });
    const first = list.querySelector(".is-touched");
    if (first) this.show(list, first);
    text(
      this.loopNote,
      primitive || (mark === 0 ? "as generated from the tensor expressions" : "as compiled"),
    );
    fill(this.effect, effectOf(model, this.step));
    this.light();
    // The loops are other lines now.
    if (this.search?.state().query) this.search.run();
    if (quiet) return;
    this.shell.announce(`Step ${this.step + 1} of ${this.count}. ${this.spoken(this.step)}`);
    this.ctx.changed();
  }

  // --- one operator at every level ------------------------------------------------------------------

  /**
   * @param {string} level
   * @param {HTMLElement} line
   */
  ownersOf(level, line) {
    const at = Number(line.dataset.at);
    const lines =
      this.model.codes[level]?.lines ??
      { relay: this.model.relay, te: this.model.te, loops: this.model.steps[this.step].nest }[level];
    return lines[at]?.owners ?? [];
  }

  /** @param {number} op */
  toggle(op) {
    this.choose(this.chosen.length === 1 && this.chosen[0] === op ? [] : [op], "");
  }

  /**
   * @param {number[]} owners
   * @param {string} from
   */
  choose(owners, from) {
    this.chosen = [...owners];
    this.light();
    for (const level of this.levels) if (level !== from) this.reveal(level);
    const names = this.chosen.map((op) => this.model.operators[op].name).join(", ");
    this.shell.announce(names ? `${names}: ${this.tallies.code.textContent}` : "no operator is chosen");
    this.ctx.changed();
  }

  /** @param {HTMLElement} line */
  click(level, line) {
    const owners = this.ownersOf(level, line);
    this.choose(owners.join() === this.chosen.join() ? [] : owners, level);
  }

  /** @param {number[] | null} owners */
  point(owners) {
    const next = owners && owners.length > 0 ? owners : null;
    if ((next ?? []).join() === (this.pointed ?? []).join()) return;
    this.pointed = next;
    this.light();
  }

  /** Lights the lines of what is pointed at, or else of what is chosen. */
  light() {
    const lit = this.pointed ?? this.chosen;
    this.body.classList.toggle("has-lit", lit.length > 0);
    for (const level of this.levels) {
      for (const line of this.panels[level].list.children)
        line.classList.toggle(
          "is-lit",
          line.dataset.at !== undefined && meets(this.ownersOf(level, line), lit),
        );
    }
    for (const [op, chip] of this.chips.entries())
      chip.setAttribute("aria-pressed", String(this.chosen.includes(op)));
    for (const [level, { lines, purposes }] of Object.entries(this.model.codes)) {
      const counts = tally(lines, purposes.length, lit)
        .map((n, i) => (n > 0 ? `${n} ${purposes[i]}` : ""))
        .filter(Boolean);
      text(
        this.tallies[level],
        (this.step < this.count - 1 ? "after the whole schedule: " : "") + counts.join(" · "),
      );
    }
  }

  /** @param {string} level */
  reveal(level) {
    const { list } = this.panels[level];
    // Of loops around several operators, the statement of this one says more.
    const line =
      this.chosen.length > 0 && (list.querySelector(".is-lit.is-block") ?? list.querySelector(".is-lit"));
    if (line) this.show(list, line);
  }

  /**
   * Scrolls a list, and nothing around it, until a line of it is in view.
   * @param {HTMLDivElement} list
   * @param {HTMLElement} line
   */
  show(list, line) {
    const top = line.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 40)
      list.scrollTop = Math.max(0, top - list.clientHeight / 4);
  }

  /**
   * Brings a line into the window of its level, and makes it the one where the keys are.
   * @param {string} level
   * @param {number} at
   */
  showLine(level, at) {
    const { list } = this.panels[level];
    const line = list.querySelector(`[data-at="${at}"]`);
    if (!line) return;
    if (!this.panels[level].el.getClientRects().length) this.tabs.select(level, true);
    const inBox = this.search.el.contains(this.active);
    this.focused(level, line);
    this.show(list, line);
    if (!inBox) line.focus({ preventScroll: true });
  }

  // --- keyboard -------------------------------------------------------------------------------------

  focused(level, line) {
    const { list } = this.panels[level];
    for (const other of list.querySelectorAll('[tabindex="0"], [aria-selected="true"]')) {
      other.tabIndex = -1;
      other.setAttribute("aria-selected", "false");
    }
    line.tabIndex = 0;
    line.setAttribute("aria-selected", "true");
  }

  at() {
    const line = this.active?.closest?.(".lv-line");
    return line ? { level: line.dataset.level, line } : null;
  }

  /** @param {number} by */
  walk(by) {
    const at = this.at();
    const { list } = this.panels[at?.level ?? this.tabs.selected];
    const line = at
      ? list.children[[...list.children].indexOf(at.line) + by]
      : list.querySelector('[tabindex="0"]');
    if (!line || line.dataset.at === undefined) return;
    line.focus({ preventScroll: true });
    this.show(list, line);
  }

  /** @param {number} by */
  otherLevel(by) {
    const now = this.levels.indexOf(this.at()?.level ?? this.tabs.selected);
    const to = this.levels[(now + by + this.levels.length) % this.levels.length];
    this.tabs.select(to, true);
    this.panels[to].list.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  }

  /** @param {KeyEvent} event */
  enter(event) {
    const at = this.at();
    if (onButton(event) || !at) return false;
    this.click(at.level, at.line);
  }

  leave() {
    if (this.chosen.length === 0) return false;
    this.choose([], "");
  }

  help() {
    super.help([h("p", null, h("strong", null, "Estimated. "), counted(this.model))]);
  }
}
