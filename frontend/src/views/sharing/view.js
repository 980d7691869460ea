// The sharing view: one computation as a graph, with `let`, and written out; how often each expression is evaluated,
// how long each value is needed, and how many bytes that takes.
import { fill, h, text } from "../../core/dom.js";
import { scale } from "../../core/fit.js";
import { LATER } from "../../core/later.js";
import { Explorer } from "../../core/explorer.js";
import { both, commonKeys, enterKey, key, playKey, rowKeys, stepKeys } from "../../core/keys.js";
import { integer } from "../../core/links.js";
import { addStyle } from "../../core/style.js";
import { checkSharing } from "./check.js";
import { createFinder } from "./find.js";
import { createForm } from "./form.js";
import { createModel } from "./model.js";
import css from "./style.css";
/** @import { SharingView } from "../../generated/sharing.js" */
/** @import { Context, State } from "../../core/types.js" */

addStyle(css);

const ONE = 899 * scale(); // explorers that are not wider show one form at a time
const MARKS = [{ id: "value", shape: "dot", label: "step" }];
/** @type {[string[], string][]} */
const KEYS = [
  [["←", "→"], "step"],
  [["↑", "↓"], "line"],
  [["n"], "next copy"],
  [["/"], "find"],
  [["?"], "keys"],
];

/**
 * @param {HTMLElement} root
 * @param {SharingView} view
 * @param {Context} ctx
 */
export function mountSharing(root, view, ctx) {
  checkSharing(view);
  return new SharingExplorer(root, view, ctx).begin();
}

/** @extends {Explorer<SharingView>} */
export class SharingExplorer extends Explorer {
  /** @type {any} */
  forms = LATER;
  /** @type {ReturnType<Explorer['partTabs']>} */
  tabs = LATER;
  /** @type {HTMLDivElement} */
  body = LATER;

  get count() {
    return this.model.steps;
  }

  get marks() {
    return MARKS;
  }

  /**
   * @param {HTMLElement} root
   * @param {SharingView} view
   * @param {Context} ctx
   */
  constructor(root, view, ctx) {
    super(root, view, ctx);
    this.model = createModel(view);
    this.step = this.model.start.step;
    this.key = -1;
    this.pointed = -1;
    this.narrow = false;
  }

  // --- building -------------------------------------------------------------------------------------

  build() {
    const { model } = this;
    this.frameOf("Sharing: one computation in several forms");
    this.timeline = this.timelineOf({
      kinds: Array.from({ length: model.steps }, () => 0),
      valueText: (step) => `step ${step + 1} of ${model.steps}`,
    });
    this.shell.bar.append(
      this.transport.el,
      h("span", { class: "grow" }, this.timeline.el),
      this.counter,
      this.tools(),
    );
    this.forms = model.forms.map((_, index) => createForm(this, index));
    this.finder = createFinder(this);
    this.search = this.finder.search;
    const forms = model.forms.map((form, i) => ({
      id: String(i),
      label: form.written ? `${form.name} · ${form.runs}` : form.name,
    }));
    this.tabs = this.partTabs(forms, { label: "which form", className: "form-tabs" });
    this.body = h(
      "div",
      { class: "parts sharing-body", "data-on": "0" },
      this.forms.map(({ el }) => el),
    );
    this.body.style.setProperty(
      "--forms",
      model.forms.map((form) => (form.written ? "minmax(0, 1fr)" : "minmax(0, 0.5fr)")).join(" "),
    );
    this.shell.body.append(this.search.el, this.tabs.el, this.body);
    this.shell.foot.append(
      h(
        "span",
        { class: "legend-line" },
        h("span", { class: "life sample" }),
        "a value is live from the step that computes it to the last step that uses it",
      ),
      this.hints(KEYS),
    );
    this.listen(this.bindings());
    this.resized();
  }

  resized() {
    this.narrow = this.root.clientWidth <= ONE;
  }

  /** A step is about several rows, one in each form: a search leaves out none. */
  kept() {
    return null;
  }

  bindings() {
    return [
      ...stepKeys(this, { next: "next step, in every form" }),
      playKey(this),
      rowKeys(
        (by) => this.current().rows?.move(by),
        "move along a form; the same computation is marked in all forms",
      ),
      both(["n", "N"], "next and previous line with the same computation", (by) => this.nextCopy(by)),
      key(["[", "]"], "previous and next form", (event) => this.otherForm(event.key === "[" ? -1 : 1)),
      enterKey("choose what this line computes", () =>
        this.choose(this.at(), this.current().rows?.selected ?? -1),
      ),
      ...commonKeys(this, { fold: null }),
    ];
  }

  // --- state ----------------------------------------------------------------------------------------

  opening() {
    return "the peak, when most memory is in use";
  }

  token() {
    const chosen = this.forms.findIndex(({ rows }) => rows?.selected >= 0);
    return {
      step: this.step === this.model.start.step ? "" : this.step + 1,
      sel: this.key === this.model.start.key ? "" : this.key >= 0 ? this.key : "none",
      row: chosen >= 0 ? `${chosen}.${this.forms[chosen].rows.selected}` : "",
      tab: this.tabs.selected === "0" ? "" : this.tabs.selected,
      ...this.searched(),
    };
  }

  /** @param {State} state */
  restore(state) {
    const { start } = this.model;
    this.key =
      state.sel === "none" ? -1 : this.view.keys[integer(state.sel, -1)] ? integer(state.sel, -1) : start.key;
    this.tabs.select(this.forms[integer(state.tab, -1)] ? state.tab : "0");
    this.finder.restore(state);
    this.go(integer(state.step, start.step + 1) - 1, true);
    const [form, row] = (state.row ?? "").split(".").map((part) => integer(part, -1));
    for (const [i, { rows }] of this.forms.entries())
      rows?.select(i === form && this.model.forms[i].rows[row] ? row : -1, { quiet: true });
    // The same computation is in the window of every form, as it was when the reader chose it.
    this.mark(true);
    this.tell();
  }

  // --- time -----------------------------------------------------------------------------------------

  /** @param {number} step */
  go(step, quiet = false) {
    this.step = Math.max(0, Math.min(this.model.steps - 1, step));
    text(this.counter, `${this.step + 1} / ${this.model.steps}`);
    this.timeline.setStep(this.step);
    for (const form of this.forms) form.draw();
    if (quiet) return;
    this.shell.announce(`Step ${this.step + 1} of ${this.model.steps}. ${this.heard()}`);
    this.ctx.changed();
  }

  /** What each form evaluates at this step. */
  heard() {
    return this.model.forms
      .map((form, i) => {
        const items = this.model.made(i, this.step);
        const what = items.map((item) => this.model.what(item.key)).join(", ");
        return form.written ? `${form.name}: ${what || (this.step >= form.steps ? "done" : "nothing")}` : "";
      })
      .filter(Boolean)
      .join(". ");
  }

  // --- one thing in all forms -----------------------------------------------------------------------

  at() {
    const focused = this.active?.closest?.(".form");
    if (focused) return Number(focused.dataset.form);
    const chosen = this.forms.findIndex(({ rows }) => rows?.selected >= 0);
    return this.narrow ? Number(this.tabs.selected) : Math.max(0, chosen);
  }

  current() {
    return this.forms[this.at()];
  }

  /**
   * @param {number} index
   * @param {number} row
   */
  choose(index, row) {
    const key = this.model.forms[index]?.keyOf[row] ?? -1;
    for (const [i, { rows }] of this.forms.entries())
      if (i !== index && rows?.selected >= 0) rows.select(-1, { quiet: true });
    this.pick(key);
    if (key >= 0) this.shell.announce(this.shell.say.textContent);
  }

  /** @param {number} key */
  pick(key) {
    this.key = key;
    this.mark(true);
    this.tell();
    this.ctx.changed();
  }

  point(key) {
    if (key === this.pointed) return;
    this.pointed = key;
    this.mark();
  }

  mark(show = false) {
    for (const form of this.forms) form.mark(show);
  }

  /** The sentence on top: what was chosen and how often each form evaluates it; without a choice, the whole. */
  tell() {
    if (this.key < 0) {
      fill(
        this.shell.say,
        this.view.summary,
        h("small", null, "Choose a line, and the same computation is marked in every form."),
      );
      return;
    }
    const { model } = this;
    const [name, what] = [model.name(this.key), model.what(this.key)];
    const shown = h("code", null, [name, what].filter(Boolean).join(" = "));
    const counts = model.runsOf(this.key);
    if (counts.every(({ copies }) => copies === 0)) {
      fill(this.shell.say, shown, " is given, not computed.");
      return;
    }
    const often = ({ runs, copies }, i) => [
      i > 0 && ", ",
      h("strong", null, `${runs} ${runs === 1 ? "time" : "times"}`),
      ` ${model.forms[i].name}`,
      copies > 1 && ` (${copies} copies)`,
    ];
    fill(
      this.shell.say,
      shown,
      " is evaluated ",
      counts.map(often).filter((_, i) => model.forms[i].written),
      ".",
      h(
        "small",
        null,
        counts.some(({ copies }) => copies > 1)
          ? "Each copy is evaluated on its own, though all give the same value."
          : "The expression is evaluated once, and all its users read the same value.",
      ),
    );
  }

  /** @param {number} by */
  nextCopy(by) {
    if (this.key < 0) return;
    const all = this.model.forms.flatMap((form, index) =>
      form.rows
        .map((_, row) => ({ index, row }))
        .filter(({ row }) => form.on[row].some((item) => item.key === this.key)),
    );
    const now = all.findIndex(({ index, row }) => this.forms[index].rows.selected === row);
    const to = all[(now + by + all.length) % all.length];
    if (to) this.select(to.index, to.row);
  }

  /**
   * Moves the selection and keeps what was chosen.
   * @param {number} row
   * @param {number} index
   */
  select(index, row) {
    for (const [i, { rows }] of this.forms.entries())
      if (i !== index && rows?.selected >= 0) rows.select(-1, { quiet: true });
    if (this.narrow) this.tabs.select(String(index));
    this.forms[index].rows.select(row, { focus: true, quiet: true });
    this.ctx.changed();
  }

  /** @param {number} by */
  otherForm(by) {
    const to = this.at() + by;
    if (!this.forms[to]?.rows) return;
    const form = this.model.forms[to];
    const same = form.on.findIndex((items) => items.some((item) => item.key === this.key));
    this.select(to, Math.max(0, same));
  }

  // --- keyboard -------------------------------------------------------------------------------------

  leave() {
    if (this.key < 0) return false;
    for (const { rows } of this.forms) if (rows?.selected >= 0) rows.select(-1, { quiet: true });
    this.focus();
    this.pick(-1);
    return undefined;
  }

  destroy() {
    for (const form of this.forms) form.destroy();
    super.destroy();
  }
}
