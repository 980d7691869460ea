// The explorer of two programs: row beside row, or graph beside graph, from difference to difference.
import { fill, h, text } from "../../core/dom.js";
import { LATER } from "../../core/later.js";
import { Explorer } from "../../core/explorer.js";
import { createLegend } from "../../core/legend.js";
import { integer } from "../../core/links.js";
import { sentence } from "../../core/sentence.js";
import { addStyle } from "../../core/style.js";
import { createTabs } from "../../core/tabs.js";
import { checkCompare } from "./check.js";
import { createFinder } from "./find.js";
import { createGraphs } from "./graphs.js";
import { bindings } from "./keys.js";
import { KEPT, MARKS, MOVED } from "./marks.js";
import { createModel, otherSide } from "./model.js";
import { PANES, drawDifferences, drawSizes } from "./panes.js";
import { buildTable, spokenPair } from "./table.js";
import css from "./style.css";
/** @import { CompareView } from "../../generated/compare.js" */
/** @import { Context, Hit, State } from "../../core/types.js" */
/** @import { Form, Line, SideName } from "./model.js" */

addStyle(css);

/** More rows than these begin with what is equal folded away. */
const MANY = 24;
const TABS = [
  { id: "both", label: "Both" },
  { id: "a", label: "A" },
  { id: "b", label: "B" },
  { id: "graphs", label: "Graphs" },
  ...PANES,
];
const TEXTS = ["both", "a", "b"];
const SIDES = /** @type {SideName[]} */ (["a", "b"]);
/** @type {[string[], string][]} */
const KEYS = [
  [["←", "→"], "difference"],
  [["n"], "of this kind"],
  [["g"], "graphs"],
  [["u"], "fold"],
  [["/"], "find"],
  [["?"], "keys"],
];

/**
 * @param {HTMLElement} root
 * @param {CompareView} view
 * @param {Context} ctx
 */
export function mountCompare(root, view, ctx) {
  checkCompare(view);
  return new CompareExplorer(root, view, ctx).begin();
}

/** @extends {Explorer<CompareView>} */
export class CompareExplorer extends Explorer {
  /** @type {HTMLDivElement} */
  holder = LATER;
  /** @type {ReturnType<typeof createGraphs>} */
  graphs = LATER;
  /** @type {import("../../core/types.js").Tabs} */
  tabs = LATER;
  /** @type {import("../../core/types.js").Tabs} */
  paneTabs = LATER;
  /** @type {{ [k: string]: HTMLElement }} */
  panes = LATER;
  /** @type {HTMLElement} */
  choices = LATER;
  /** The lines of the text, as it is drawn. @type {Line[]} */
  lines = [];
  /** Of each pair, its first line. @type {Int32Array} */
  lineOf = LATER;
  /** The runs of equal rows that can fold. @type {number[][]} */
  blocks = [];
  /** @type {Form | ""} */
  form = "";
  graphsOn = false;

  /**
   * @param {HTMLElement} root
   * @param {CompareView} view
   * @param {Context} ctx
   */
  constructor(root, view, ctx) {
    super(root, view, ctx);
    this.model = createModel(view);
    this.step = 0;
    this.tight = this.tightAtFirst = this.model.pairs.length > MANY;
  }

  get marks() {
    return MARKS;
  }

  get steps() {
    return this.view.differences;
  }

  /** @param {number} step */
  rowOf(step) {
    const { first } = this.view.differences[step] ?? { first: -1 };
    return first < 0 || !this.lineOf ? -1 : this.lineOf[first];
  }

  // --- building -------------------------------------------------------------------------------------

  build() {
    const { view, model, ctx } = this;
    this.frameOf("Two programs side by side");
    this.finder = createFinder(this);
    this.search = this.finder.search;
    const kinds = view.differences.map(({ mark }) => mark);
    this.timeline = this.timelineOf({ kinds, label: "difference" });
    this.choices = h("span", { class: "group choices" });
    this.shell.bar.append(
      this.transport.el,
      h("span", { class: "grow" }, this.timeline.el),
      this.counter,
      this.choices,
      this.tools(),
    );
    this.panes = Object.fromEntries(
      PANES.map(({ id, label }) => [
        id,
        h("section", { class: `pane ${id}`, tabindex: 0, "aria-label": label }),
      ]),
    );
    this.paneTabs = createTabs({
      label: "about the differences",
      className: "pane-tabs",
      items: PANES.map((item) => ({ ...item, pane: this.panes[item.id] })),
      onSelect: (_, byReader) => {
        if (!byReader) return;
        this.drawPane();
        ctx.changed();
      },
    });
    this.holder = h("div", { class: "holder" });
    this.graphs = createGraphs(model, ctx, {
      select: (side, node) => this.choseNode(side, node),
      hover: (side, node) => this.point(node < 0 ? [] : model.related(model.refOf(side, node))),
    });
    this.tabs = this.partTabs(TABS, { className: "narrow tight", redraw: () => this.place() });
    this.body = h(
      "div",
      { class: "parts split compare-body", "data-on": "both" },
      this.holder,
      this.graphs.el,
      h("div", { class: "aside" }, this.paneTabs.el, Object.values(this.panes)),
    );
    this.shell.body.append(this.search.el, this.tabs.el, this.body);
    this.shell.foot.append(
      createLegend({ marks: MARKS, kinds, onMark: (mark) => this.nextMark(mark) }),
      this.hints(KEYS),
    );
    this.listen(bindings(this));
  }

  drawChoices() {
    const pressed = (/** @type {string} */ label, /** @type {string} */ title, on, run) => {
      const button = this.button(label, title, run);
      button.setAttribute("aria-pressed", String(on));
      return button;
    };
    fill(
      this.choices,
      pressed("graphs", "graphs instead of text (g)", this.graphsOn, () => this.setGraphs(!this.graphsOn)),
      pressed("fold", "fold what is equal (u)", this.tight, () => this.setTight(!this.tight)),
    );
  }

  // --- state ----------------------------------------------------------------------------------------

  token() {
    const tab = this.tabs.selected;
    return {
      step: this.step || "",
      row: this.rows.selected >= 0 ? this.lines[this.rows.selected].pair : "",
      graphs: this.graphsOn ? 1 : "",
      equal: this.tight === this.tightAtFirst ? "" : this.tight ? "folded" : "shown",
      pane: this.paneTabs.selected === PANES[0].id ? "" : this.paneTabs.selected,
      tab: this.narrow && tab !== "both" ? tab : "",
      ...this.searched(),
    };
  }

  /** @param {State} state */
  restore(state) {
    this.tight = state.equal === "folded" || (state.equal !== "shown" && this.tightAtFirst);
    this.graphsOn = state.graphs === "1";
    this.paneTabs.select(PANES.some(({ id }) => id === state.pane) ? state.pane : PANES[0].id);
    this.tabs.select(TABS.some(({ id }) => id === state.tab) ? state.tab : "both");
    this.form = "";
    this.place();
    this.finder.restore(state);
    this.go(integer(state.step, 0), true);
    const pair = integer(state.row, -1);
    if (this.model.pairs[pair]) this.visit(pair, false, true);
    else this.rows.select(-1, { quiet: true });
  }

  // --- differences ----------------------------------------------------------------------------------

  /**
   * Shows a difference. `quiet`: not the reader's doing, so neither spoken nor put in the address.
   * @param {number} step
   */
  go(step, quiet = false) {
    this.step = Math.max(0, Math.min(this.count - 1, step));
    const { first, last, mark, say } = this.view.differences[this.step];
    const lines = first < 0 ? [] : this.linesOf(first, last);
    if (lines.length) {
      for (const line of lines) this.rows.reveal(line);
      this.rows.scrollTo(lines[0], lines.length > 1);
    }
    this.rows.mark("now", lines);
    this.shell.say.dataset.mark = MARKS[mark].id;
    fill(this.shell.say, sentence(say));
    text(this.counter, this.step ? `${this.step} of ${this.count - 1}` : counted(this.count - 1));
    this.timeline.setStep(this.step);
    this.drawPane();
    if (first >= 0) this.showNodes(first, last);
    if (quiet) return;
    this.shell.announce(`${this.step} of ${this.count - 1}. ${this.spoken(this.step)}`);
    this.ctx.changed();
  }

  /**
   * The lines of some pairs, and of the other places of those that moved.
   * @param {number} first
   * @param {number} last
   */
  linesOf(first, last) {
    const { pairs } = this.model;
    const wanted = new Set();
    for (let pair = first; pair <= last; pair++) {
      wanted.add(pair);
      if (pairs[pair].other >= 0) wanted.add(pairs[pair].other);
    }
    if (last === first && this.form !== "both") return [...wanted].map((pair) => this.lineOf[pair]);
    return [...this.lines.keys()].filter((line) => wanted.has(this.lines[line].pair));
  }

  // --- rows and nodes -------------------------------------------------------------------------------

  lineNow() {
    return this.rows.selected >= 0 ? this.rows.selected : this.cursorRow();
  }

  pairNow() {
    return this.lines[this.lineNow()]?.pair ?? -1;
  }

  /**
   * The reader chose a row: the difference that it is a part of is shown.
   * @param {number} pair
   */
  chose(pair) {
    const step = this.model.differenceOf[pair];
    if (step >= 0 && step !== this.step) this.go(step);
    else this.shell.announce(spokenPair(this, pair));
    this.showNodes(pair);
    this.ctx.changed();
  }

  /**
   * @param {SideName} side
   * @param {number} node
   */
  choseNode(side, node) {
    const partner = node < 0 ? -1 : this.model.partners[side][node];
    const nodes = side === "a" ? { a: node, b: partner } : { a: partner, b: node };
    const row = node < 0 ? -1 : this.model.sides[side].nodes[node].row;
    if (row < 0) this.rows.select(-1, { quiet: true });
    else {
      const pair = this.model.pairOf[side][row];
      const step = this.model.differenceOf[pair];
      if (step >= 0 && step !== this.step) this.go(step);
      this.select(pair, false);
    }
    this.graphs.choose(nodes, side);
    this.ctx.changed();
  }

  /**
   * In the graphs, the first node that some pairs define in each program, or its partner.
   * @param {number} first
   */
  showNodes(first, last = first) {
    const { model } = this;
    const nodes = { a: -1, b: -1 };
    for (let pair = first; pair <= last; pair++)
      for (const side of SIDES) if (nodes[side] < 0) nodes[side] = model.row(pair, side)?.node ?? -1;
    if (nodes.a < 0 && nodes.b < 0) return;
    for (const side of SIDES)
      if (nodes[side] < 0) nodes[side] = model.partners[otherSide(side)][nodes[otherSide(side)]];
    this.graphs.choose(nodes);
  }

  /**
   * Selects a pair's line, and brings it into the window.
   * @param {number} pair
   * @param {boolean} focus
   */
  select(pair, focus) {
    const line = this.lineOf[pair];
    this.rows.reveal(line);
    this.rows.select(line, { focus, quiet: true });
  }

  /**
   * Goes to a pair.
   * @param {number} pair
   */
  visit(pair, focus = true, quiet = false) {
    if (pair < 0) return;
    if (!quiet && this.narrow && !TEXTS.includes(this.tabs.selected)) {
      this.tabs.select("both");
      this.place();
    }
    this.select(pair, focus);
    if (quiet) this.showNodes(pair);
    else this.chose(pair);
  }

  /**
   * To the other place of a row that moved.
   * @param {number} pair
   */
  cross(pair) {
    const { fate, other } = this.model.pairs[pair] ?? { fate: KEPT, other: -1 };
    if (fate !== MOVED) return false;
    this.visit(other);
    return true;
  }

  /** @param {Hit | null} hit */
  hovered(hit) {
    const pair = hit ? this.lines[hit.row]?.pair : -1;
    const other = pair >= 0 ? this.model.pairs[pair].other : -1;
    this.rows.mark("hover", hit ? [hit.row] : []);
    this.rows.mark("linked", other >= 0 ? [this.lineOf[other]] : []);
    let ref = hit?.ref ?? -1;
    for (const side of SIDES)
      if (ref < 0 && pair >= 0) ref = this.model.refOf(side, this.model.row(pair, side)?.node ?? -1);
    this.point(ref < 0 ? [] : this.model.related(ref));
  }

  /**
   * Lights names wherever they are.
   * @param {number[]} refs
   */
  point(refs) {
    this.rows.light(refs);
    const [ref = -1] = refs;
    this.graphs.light(ref < 0 ? "a" : this.model.sideOf(ref), ref < 0 ? -1 : this.model.nodeOf(ref));
  }

  // --- what is shown --------------------------------------------------------------------------------

  /** Draws what there is room for: both columns, or on a phone what its tab shows. */
  place() {
    const tab = this.tabs.selected;
    const pane = PANES.some(({ id }) => id === tab);
    if (this.narrow && pane) this.paneTabs.select(tab);
    const graphs = this.narrow ? tab === "graphs" : this.graphsOn;
    this.body.dataset.shown = this.narrow
      ? pane
        ? "pane"
        : graphs
          ? "graphs"
          : "text"
      : graphs
        ? "graphs"
        : "text";
    const form = /** @type {Form} */ (
      !this.narrow ? "sides" : TEXTS.includes(tab) ? tab : this.form || "both"
    );
    if (form !== this.form) {
      const pair = this.rows ? this.pairNow() : -1;
      const selected = this.rows?.selected >= 0;
      buildTable(this, form);
      if (selected && pair >= 0) this.select(pair, false);
      if (this.ready) this.go(this.step, true);
    }
    if (graphs) this.graphs.show();
    this.drawChoices();
    this.drawPane();
  }

  drawPane() {
    const id = this.paneTabs.selected;
    if (id === "sizes") return drawSizes(this.panes.sizes, this.view);
    const before = this.active;
    if (this.panes.differences.hidden) return undefined;
    drawDifferences(this.panes.differences, this.view, this.step, (step) => this.jump(step));
    this.refocus(before, ["step"]);
    return undefined;
  }

  otherPane() {
    const next = PANES[(PANES.findIndex(({ id }) => id === this.paneTabs.selected) + 1) % PANES.length];
    this.paneTabs.select(next.id);
    if (this.narrow) this.tabs.select(next.id);
    this.place();
    this.ctx.changed();
  }

  /** @param {boolean} on */
  setGraphs(on) {
    this.graphsOn = on;
    if (this.narrow) this.tabs.select(on ? "graphs" : "both");
    this.place();
    this.shell.announce(on ? "The graphs." : "The text.");
    this.ctx.changed();
  }

  /** @param {boolean} on */
  setTight(on) {
    this.tight = on;
    this.rows.setFolded(on ? this.blocks.map(([from]) => from) : []);
    const line = this.lineNow();
    if (line >= 0) this.rows.scrollTo(line);
    this.drawChoices();
    this.ctx.changed();
  }

  resized() {
    if (this.turned()) this.place();
  }

  destroy() {
    this.graphs.destroy();
    super.destroy();
  }
}

/** @param {number} count */
const counted = (count) =>
  count === 0 ? "no difference" : `${count.toLocaleString("en")} difference${count === 1 ? "" : "s"}`;
