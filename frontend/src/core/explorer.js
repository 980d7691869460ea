// What the explorers share: the frame and its tools, the steps and how a reader moves through them, the state that all of
// them have, the keyboard, and the clean-up at the end.
import { activeIn, h } from "./dom.js";
import { bringIntoSight, scale } from "./fit.js";
import { createFrame, showHelp } from "./frame.js";
import { nameOfPlace, placeButtons, showLink } from "./share.js";
import { programText } from "./edit.js";
import { focusSame } from "./focus.js";
import { bindKeys } from "./keys.js";
import { LATER } from "./later.js";
import { formatList } from "./links.js";
import { showSave } from "./save/menu.js";
import { sentenceText } from "./sentence.js";
import { own } from "./ownrows.js";
import { nextStep } from "./steps.js";
import { createTimeline } from "./timeline.js";
import { hintsOf, noteRange, partTabsOf, toolsOf } from "./tools.js";
import { createTransport } from "./transport.js";
/** @import { BaseView } from "../generated/common.js" */
/** @import { Finder } from "./finder.js" */
/** @import { Binding, Child, Context, Drawing, Frame, Keep, KeyEvent, Mark, Rows, Search, State, Timeline, Token, Transport } from "./types.js" */
/** @import { Move } from "./transport.js" */

/** Explorers that are not wider than this have tabs, one of which is shown. */
export const NARROW = 620 * scale();

/**
 * An explorer of `view` in `root`. A subclass makes its parts in `build()`, restores a state in `restore(state)` and tells it
 * in `token()`; one that steps has `steps`, `marks` and `go(step)`. `begin()` is called once the fields are there.
 * @template {BaseView} [V=any]
 */
export class Explorer {
  /** @type {Frame} */
  shell = LATER;
  /** @type {Rows} */
  rows = LATER;
  /** @type {Search} */
  search = LATER;
  /** @type {Timeline} */
  timeline = LATER;
  /** @type {Transport} */
  transport = LATER;
  /** @type {HTMLElement} */
  counter = LATER;
  /** @type {readonly Binding[]} */
  keys = [];
  /** What has the parts of the explorer, where tabs choose one of them. @type {HTMLElement | null} */
  body = null;
  /** What finds rows, where the explorer has it: a Finder, or what has its `keep`. @type {Finder | null} */
  finder = null;
  step = -1;
  narrow = false;
  ready = false;

  /**
   * @param {HTMLElement} root
   * @param {V} view
   * @param {Context} ctx
   */
  constructor(root, view, ctx) {
    this.root = root;
    this.view = view;
    this.ctx = ctx;
  }

  // --- what a view's explorer gives -----------------------------------------------------------------

  build() {}

  /** @returns {Token} */
  token() {
    return {};
  }

  /** @param {State} _state */
  restore(_state) {}

  /** @param {number} _step */
  go(_step) {}

  /** Called before the reader's own step. */
  moved() {}

  /** Called when the explorer's width changes. */
  resized() {}

  /** How many steps there are; undefined where the explorer does not step. @returns {number} */
  get count() {
    return this.steps?.length;
  }

  /** The kinds of steps. @returns {readonly Mark[]} */
  get marks() {
    return [];
  }

  /** @returns {readonly { mark: number, row?: number, say: readonly string[] }[]} */
  get steps() {
    return /** @type {any} */ (this.view).steps;
  }

  /** The program, if it can be edited. */
  get programText() {
    return this.view.editable || programText(own(this.view));
  }

  /** @returns {Drawing} */
  begin() {
    this.build();
    this.shell.settle();
    this.restore(this.ctx.state);
    const { step, stage } = this.ctx.state;
    if (step === undefined && stage === undefined) this.shell.where(this.whereNow());
    this.ready = true;
    return {
      token: () => this.token(),
      restore: (state) => this.restore(state),
      destroy: () => this.destroy(),
    };
  }

  // --- building -------------------------------------------------------------------------------------

  /**
   * The frame, and where the explorer steps, `transport` and `counter`.
   * @param {string} what
   */
  frameOf(what, steps = this.count) {
    const { title, summary } = this.view;
    this.shell = createFrame(this.root, { title, what, summary });
    this.shell.bar.append(placeButtons(this.ctx, (by) => this.revisit(by)));
    this.counter = h("span", { class: "count" });
    if (steps === undefined) return;
    const characters = () => this.shell.say.textContent.length;
    this.transport = createTransport({ steps, characters, move: (name) => this.move(name) });
  }

  /** @param {{ kinds: readonly number[] } & Partial<Parameters<typeof createTimeline>[0]>} options */
  timelineOf(options) {
    return createTimeline({
      marks: this.marks,
      label: "step",
      valueText: (step) => `step ${step + 1} of ${this.count}: ${this.spoken(step)}`,
      onSeek: (step) => this.seek(step),
      onRange: (range) => this.showRange(range, options.kinds),
      ...options,
    });
  }

  /**
   * What a selected part of the run adds up to, in units that the steps have: an explorer may say more than their kinds.
   * @param {[number, number]} _range first and last step
   */
  amountOf(_range) {
    return "";
  }

  /**
   * Says what the selected part of the run holds.
   * @param {[number, number] | null} range
   * @param {readonly number[]} kinds
   */
  showRange(range, kinds) {
    noteRange(this, range, kinds);
  }

  /**
   * Tabs that choose which part of `body` is shown where there is not room for all: its `data-on` names the part. When a
   * reader chooses, `redraw()` is called first.
   * @param {readonly { id: string, label: string }[]} items
   * @param {Parameters<typeof partTabsOf>[2]} options
   */
  partTabs(items, options = {}) {
    return partTabsOf(this, items, options);
  }

  /**
   * A button of the bar; without `name`, a screen reader reads its title up to the key.
   * @param {Child} label
   * @param {string} title
   * @param {(event: any) => unknown} onclick
   * @param {string | null} name
   */
  button(label, title, onclick, name = title.replace(/ \(.*/, "")) {
    return h("button", { class: "btn", type: "button", title, "aria-label": name, onclick }, label);
  }

  /**
   * The last buttons of the bar, after those that only this explorer has.
   * @param {Child} own
   */
  tools(own = null, find = true) {
    return toolsOf(this, own, find);
  }

  /**
   * The most useful keys, for the foot: `[[keys, label], …]`.
   * @param {readonly (readonly [readonly string[], string])[]} list
   */
  hints(list) {
    return hintsOf(list);
  }

  /**
   * Takes up the keyboard, and where there is a `resized()`, looks at the explorer's width.
   * @param {readonly Binding[]} keys
   */
  listen(keys) {
    this.keys = keys;
    this.unbind = bindKeys(this.root, keys);
    // After the explorer's own listener: a reader who steps by keys sees the whole of it.
    this.root.addEventListener("keydown", ({ defaultPrevented, key }) => {
      if (defaultPrevented && /^(Arrow|Page|Home|End|Enter)/.test(key)) bringIntoSight(this.root);
    });
    if (this.resized === Explorer.prototype.resized) return;
    this.sizes = new ResizeObserver(() => this.resized());
    this.sizes.observe(this.root);
    this.narrow = this.root.clientWidth <= NARROW;
  }

  /** Whether the explorer has become narrow, or wide again. */
  turned() {
    const narrow = this.root.clientWidth <= NARROW;
    const other = narrow !== this.narrow;
    this.narrow = narrow;
    return other;
  }

  // --- state ----------------------------------------------------------------------------------------

  /** The parts of a token that tell of the search, of the selected row and of what is folded. */
  searched() {
    const { query, scope, only } = this.search.state();
    return { q: query, in: query && scope !== "all" ? scope : "", only: only ? 1 : "" };
  }

  selected() {
    return this.rows.selected >= 0 ? this.rows.selected : "";
  }

  folded() {
    return this.rows.foldedAsAtFirst() ? "" : formatList(this.rows.folded) || "none";
  }

  // --- time -----------------------------------------------------------------------------------------

  /**
   * The kind of a step, an index into `marks`.
   * @param {number} step
   */
  markOf(step) {
    return this.steps[step]?.mark ?? 0;
  }

  /** @param {number} step */
  spoken(step) {
    return `${this.marks[this.markOf(step)].label}. ${sentenceText(this.steps[step]?.say)}`;
  }

  /**
   * The row that a step is about, or -1.
   * @param {number} step
   */
  rowOf(step) {
    return this.steps[step]?.row ?? -1;
  }

  /** The row of the step that is shown, or -1. */
  cursorRow() {
    return this.rowOf(this.step);
  }

  /** The row that keys are about: the selected one, else the one of the step. */
  rowNow() {
    return this.rows.selected >= 0 ? this.rows.selected : Math.max(0, this.cursorRow());
  }

  /**
   * Null, or which steps a search keeps: those whose row is shown.
   * @returns {Keep}
   */
  kept() {
    const keep = this.finder?.keep;
    return keep ? (step) => keep(this.rowOf(step)) : null;
  }

  /** Dims the steps that a search leaves out. */
  keepSteps() {
    this.timeline?.setKeep(this.kept());
  }

  /**
   * @param {Move} name
   * @param {KeyEvent} [_event] the key that asked for it
   * @returns {unknown}
   */
  move(name, _event) {
    const from = { first: [-1, 1], last: [this.count, -1], back: [this.step, -1], forward: [this.step, 1] }[
      name
    ];
    const to = nextStep(this.kept(), from[0], from[1], this.count);
    if (to === this.step || to < 0 || to >= this.count) return false;
    this.moved();
    this.go(to);
    return true;
  }

  /** @param {number} step */
  seek(step) {
    this.transport.stop();
    this.go(step);
  }

  /** @param {number} by */
  page(by) {
    this.seek(this.step + by * Math.max(5, Math.round(this.count / 20)));
  }

  /**
   * Goes to a step because the reader asked for it: Esc comes back.
   * @param {number} step
   */
  jump(step) {
    if (step === this.step) return;
    this.ctx.places.remember();
    this.seek(step);
  }

  /**
   * Back to where the last jump began, or with `by` 1 forward again; false where there is no such place.
   * @param {number} by
   */
  revisit(by) {
    const { places } = this.ctx;
    if (!(by < 0 ? places.back() : places.forward())) return false;
    this.shell.announce(`${by < 0 ? "Back" : "Forward"} to ${this.placeName()}.`);
    return true;
  }

  /** What this place is called: the step and the row. */
  placeName() {
    return nameOfPlace(this);
  }

  /**
   * To the next step of a kind, or of one of several, around the end.
   * @param {number | number[]} mark
   */
  nextMark(mark, by = 1) {
    const keep = this.kept();
    const marks = [mark].flat();
    const found = (/** @type {number} */ step) => marks.includes(this.markOf(step)) && (!keep || keep(step));
    let to = nextStep(found, this.step, by, this.count);
    if (to === this.step) to = nextStep(found, by > 0 ? -1 : this.count, by, this.count);
    if (to >= 0 && to < this.count) this.jump(to);
  }

  /** Why the step that is shown first is that one, in a few words. */
  opening() {
    return this.view.opening;
  }

  /** The step, out of how many, and why this one is shown first. */
  whereNow() {
    const why = this.opening();
    const [, at, of] = /^(\d+) \/ (\d+)/.exec(this.counter.textContent) ?? [];
    return at ? `Step ${at} of ${of}${why && `: ${why}`}.` : "";
  }

  // --- keyboard -------------------------------------------------------------------------------------

  /** What has the focus, also inside the shadow root. */
  get active() {
    return activeIn(this.root);
  }

  focus() {
    this.root.focus({ preventScroll: true });
  }

  /**
   * What had the focus and was drawn anew has it again, or the keys would go to the page; `names`: what its data tell it by.
   * @param {HTMLElement | null} before
   * @param {readonly string[]} names
   */
  refocus(before, names) {
    focusSame(this.root, before, names);
  }

  /**
   * Esc: out of what lies over the rows, else out of the search, else `leave()`, else out of the whole window; false where there
   * is nothing to leave.
   * @returns {unknown}
   */
  back() {
    if (this.shell.back()) return undefined;
    if (this.timeline?.range) return this.timeline.select(null);
    const { search } = this;
    if (!search || !(search.input.value || (!search.el.hidden && search.el.contains(this.active))))
      return this.leave() === false ? this.shell.full.leave() : undefined;
    if (this.finder?.close) this.finder.close();
    else search.close();
    this.focus();
    return undefined;
  }

  /**
   * Out of where a jump led, else out of a selected row.
   * @returns {unknown}
   */
  leave() {
    if (this.revisit(-1)) return undefined;
    if (this.rows?.selected >= 0) {
      this.rows.select(-1, { quiet: true });
      this.focus();
      this.ctx.changed();
    } else return false;
    return undefined;
  }

  /** The link to this state, and the bookmarks; `mark` begins with the name of a new one. */
  share(mark = false) {
    showLink(this.shell, this.ctx, { name: this.placeName(), mark });
  }

  save() {
    showSave(this.shell, this);
  }

  /** @param {Child[]} notes */
  help(notes = []) {
    showHelp(this.shell, this.keys, notes);
  }

  destroy() {
    this.transport?.stop();
    this.unbind?.();
    this.sizes?.disconnect();
    this.timeline?.destroy();
    this.rows?.destroy();
    this.shell.destroy();
  }
}
