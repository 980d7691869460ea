// What the explorers share: the frame and the tools in it, the steps and how a reader moves through them, the parts of the
// state that all of them have, the keyboard, and what is given back at the end.
import { h } from "./dom.js";
import { createFrame, showHelp, showLink } from "./frame.js";
import { bindKeys } from "./keys.js";
import { formatList } from "./links.js";
import { sentenceText } from "./sentence.js";
import { nextStep } from "./steps.js";
import { createTimeline } from "./timeline.js";
import { createTransport } from "./transport.js";

/** Explorers that are not wider than this have tabs, one of which is shown. */
export const NARROW = 620;

/**
 * An explorer of `view` in `root`. A subclass makes its parts in `build()`, takes up a state in `restore(state)` and tells it
 * in `token()`; one that steps has `count`, `step`, `marks` and `go(step)`. `begin()` is called once the fields are there.
 */
export class Explorer {
  constructor(root, view, ctx) {
    Object.assign(this, { root, view, ctx, past: [], narrow: false, ready: false });
  }

  begin() {
    this.build();
    this.restore(this.ctx.state);
    this.ready = true;
    return {
      token: () => this.token(),
      restore: (state) => this.restore(state),
      destroy: () => this.destroy(),
    };
  }

  // --- building -------------------------------------------------------------------------------------

  /** The frame, and where the explorer steps, `transport` and `counter`. */
  frameOf(what, steps = this.count) {
    const { title, summary } = this.view;
    this.shell = createFrame(this.root, { title, what, summary });
    this.counter = h("span", { class: "count" });
    if (steps !== undefined) this.transport = createTransport({ steps, move: (name) => this.move(name) });
  }

  timelineOf(options) {
    return createTimeline({
      marks: this.marks,
      label: "step",
      valueText: (step) => `step ${step + 1} of ${this.count}: ${this.spoken(step)}`,
      onSeek: (step) => this.seek(step),
      ...options,
    });
  }

  /** A button of the bar; without `name`, a screen reader reads its title up to the key. */
  button(label, title, onclick, name = title.replace(/ \(.*/, "")) {
    return h("button", { class: "btn", type: "button", title, "aria-label": name, onclick }, label);
  }

  /** The last buttons of the bar, after those that only this explorer has. */
  tools(own = null, find = true) {
    return h(
      "span",
      { class: "group tools" },
      own,
      find && this.button("find", "find (/)", () => this.search.open()),
      this.button("link", "link: to this state (copied)", () => showLink(this.shell, this.ctx)),
      this.button("?", "keys (?)", () => this.help()),
    );
  }

  /** The most useful keys, for the foot: `[[keys, label], …]`. */
  hints(list) {
    return h(
      "span",
      { class: "keys" },
      list.map(([keys, label]) =>
        h(
          "span",
          null,
          keys.map((key) => [h("kbd", null, key), " "]),
          label,
        ),
      ),
    );
  }

  /** Takes up the keyboard, and where there is a `resized()`, looks at the explorer's width. */
  listen(keys) {
    this.keys = keys;
    this.unbind = bindKeys(this.root, keys);
    if (!this.resized) return;
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

  /** The kind of a step, an index into `marks`, and what is said of it. */
  markOf(step) {
    return this.view.steps[step]?.mark ?? 0;
  }

  sayOf(step) {
    return this.view.steps[step].say;
  }

  spoken(step) {
    return `${this.marks[this.markOf(step)].label}. ${sentenceText(this.sayOf(step))}`;
  }

  /** Null, or which steps a search keeps. */
  kept() {
    return this.finder?.keep ?? null;
  }

  move(name) {
    const from = { first: [-1, 1], last: [this.count, -1], back: [this.step, -1], forward: [this.step, 1] }[
      name
    ];
    const to = nextStep(this.kept(), from[0], from[1], this.count);
    if (to === this.step || to < 0 || to >= this.count) return false;
    this.moved?.();
    this.go(to);
    return true;
  }

  seek(step) {
    this.transport.stop();
    this.go(step);
  }

  page(by) {
    this.seek(this.step + by * Math.max(5, Math.round(this.count / 20)));
  }

  /** Where Esc comes back to. */
  here() {
    return this.step;
  }

  /** Goes to a step because the reader asked for it: Esc comes back. */
  jump(step) {
    if (step === this.step) return;
    this.past.push(this.here());
    this.seek(step);
  }

  /** To the next step of a kind, or of one of several, around the end. */
  nextMark(mark, by = 1) {
    const keep = this.kept();
    const marks = [mark].flat();
    const found = (step) => marks.includes(this.markOf(step)) && (!keep || keep(step));
    let to = nextStep(found, this.step, by, this.count);
    if (to === this.step) to = nextStep(found, by > 0 ? -1 : this.count, by, this.count);
    if (to >= 0 && to < this.count) this.jump(to);
  }

  // --- keyboard -------------------------------------------------------------------------------------

  /** What has the focus, also inside the shadow root. */
  get active() {
    return this.root.getRootNode().activeElement;
  }

  focus() {
    this.root.focus({ preventScroll: true });
  }

  /** What had the focus and was drawn anew has it again, or the keys would go to the page; `names`: what its data tell it by. */
  refocus(before, names) {
    if (!before || before.isConnected) return;
    const same = names
      .filter((name) => before.dataset[name])
      .map((name) => `[class~="${before.classList[0]}"][data-${name}="${before.dataset[name]}"]`);
    ((same.length && this.root.querySelector(same.join())) || this.root).focus({ preventScroll: true });
  }

  /** Esc: out of a popover, else out of the search, else `leave()`, which is false where there is nothing to leave. */
  back() {
    if (this.shell.closePopover()) return undefined;
    const { search } = this;
    if (!search || !(search.input.value || (!search.el.hidden && search.el.contains(this.active))))
      return this.leave();
    if (this.finder?.close) this.finder.close();
    else search.close();
    this.focus();
    return undefined;
  }

  /** Out of where a jump led, else out of a selected row. */
  leave() {
    if (this.past.length) this.go(this.past.pop());
    else if (this.rows.selected >= 0) {
      this.rows.select(-1, { quiet: true });
      this.focus();
      this.ctx.changed();
    } else return false;
    return undefined;
  }

  help(notes = []) {
    showHelp(this.shell, this.keys, notes);
  }

  destroy() {
    this.transport?.stop();
    this.unbind();
    this.sizes?.disconnect();
    this.timeline?.destroy();
    this.rows?.destroy();
    this.shell.destroy();
  }
}
