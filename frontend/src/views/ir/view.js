// The IR explorer: the program's rows and its graph side by side, and everything about the expression that the reader chose.

import { fill, h } from "../../core/dom.js";
import { LATER } from "../../core/later.js";
import { createFrame, showHelp } from "../../core/frame.js";
import { bindKeys } from "../../core/keys.js";
import { showSave } from "../../core/save/menu.js";
import { addStyle } from "../../core/style.js";
import { placeButtons, showLink } from "../../core/share.js";
import { createTabs } from "../../core/tabs.js";
import { createGraph } from "../../graph/draw.js";
import { shortened } from "../../core/names.js";
import { layout, relayout } from "../../graph/layout.js";
import { createModel } from "../../graph/model.js";
import { createTools } from "./bar.js";
import { createDetails } from "./details.js";
import { createFinder } from "./find.js";
import { keyBindings } from "./keys.js";
import { createLegend } from "./legend.js";
import { deriveProgram } from "./program.js";
import { createProgramRows } from "./program_rows.js";
import { Shown } from "./shown.js";
import { asideAtStart, below, foldAtStart, groupTotals, levelAbove, nextLevel, specOf } from "./spec.js";
import { readState, writeState } from "./state.js";
import { createStrip } from "./strip.js";
import { describe, sayAll, sayGroup, sayNode, sayReach, tip } from "./words.js";
import css from "./style.css";
/** @import { IRView } from "../../generated/ir.js" */
/** @import { Context, State } from "../../core/types.js" */
/** @import { Reach } from "./reach.js" */

addStyle(css);

const TABS = [
  { id: "program", label: "Program" },
  { id: "graph", label: "Graph" },
  { id: "details", label: "Details" },
];

/**
 * @param {HTMLElement} root
 * @param {IRView} view
 * @param {Context} ctx
 */
export function mountIr(root, view, ctx) {
  const explorer = new IrExplorer(root, view, ctx);
  return {
    token: () => writeState(explorer),
    restore: (state) => explorer.restore(state),
    destroy: () => explorer.destroy(),
  };
}

export class IrExplorer {
  /** Whether the weights were aside at the start. @type {boolean | undefined} */
  startAside;
  /** @type {ReturnType<typeof createFrame>} */
  frame = LATER;
  /** @type {ReturnType<typeof createGraph>} */
  graph = LATER;
  /** @type {ReturnType<typeof createDetails>} */
  details = LATER;
  /** @type {ReturnType<typeof createFinder>} */
  finder = LATER;
  /** @type {ReturnType<typeof createTools>} */
  tools = LATER;
  /** @type {ReturnType<typeof createLegend>} */
  legend = LATER;
  /** @type {ReturnType<typeof createStrip>} */
  strip = LATER;
  /** @type {{ program: HTMLDivElement; graph: HTMLDivElement; details: HTMLDivElement; }} */
  panes = LATER;
  /** @type {ReturnType<typeof createTabs>} */
  tabs = LATER;
  /** @type {ReturnType<typeof keyBindings>} */
  keys = LATER;
  /** @type {ReturnType<typeof bindKeys>} */
  unbind = LATER;
  /** @type {ReturnType<typeof createProgramRows>} */
  rows = LATER;
  /** @type {any} */
  layout = LATER;
  /** @type {string} */
  layoutKind = LATER;
  /** @type {string} */
  lit = LATER;
  /** @type {boolean} */
  ready = LATER;

  /**
   * @param {HTMLElement} root
   * @param {IRView} view
   * @param {Context} ctx
   */
  constructor(root, view, ctx) {
    this.root = root;
    this.view = view;
    this.ctx = ctx;
    this.model = createModel(view);
    this.totals = groupTotals(this.model);
    this.program = deriveProgram(view, this.model);
    this.startFolds = foldAtStart(this.model);
    this.chosen = {
      sel: -1,
      folded: new Set(this.startFolds),
      /** @type {Reach | null} */
      reach: null,
      only: false, // whether the graph leaves out what is not in reach
      anchor: -1, // where paths begin whose end is not chosen yet
      aside: asideAtStart(this.model),
      by: "family",
      /** @type {Set<number>} */
      classes: new Set(),
    };
    this.shown = new Shown(this);
    this.build();
    this.restore(ctx.state);
  }

  // --- building

  build() {
    const { view, ctx, model } = this;
    this.frame = createFrame(this.root, {
      title: view.title,
      what: "Program and graph",
      summary: view.summary,
    });
    this.frame.say.setAttribute("aria-label", "what is chosen");
    this.rows = createProgramRows(this);
    this.graph = createGraph({
      model,
      ctx,
      hooks: {
        select: (id) => this.select(id, { from: "graph" }),
        hover: (id) => this.hover(id),
        toggle: (g, deep) => this.toggle(g, deep),
        describe: (id) => describe(this, id),
        tip: (id) => tip(this, id),
        rank: (g) => this.shown.firstOf(g),
        moved: () => this.ready && ctx.changed(),
      },
    });
    this.details = createDetails({
      model,
      totals: this.totals,
      go: (id) => {
        ctx.places.remember();
        this.go(id);
      },
      toggle: (g) => this.toggle(g),
    });
    this.finder = createFinder(this);
    this.tools = createTools(this);
    this.strip = createStrip(this);
    this.legend = createLegend(this);
    this.panes = {
      program: h("div", { class: "ir-pane pane-rows", "data-pane": "program" }, this.rows.el),
      graph: h("div", { class: "ir-pane pane-graph", "data-pane": "graph" }, this.strip.el, this.graph.el),
      details: h("div", { class: "ir-pane pane-details", "data-pane": "details" }, this.details.el),
    };
    this.tabs = createTabs({
      label: "what to show",
      className: "narrow",
      items: TABS,
      selected: "graph",
      onSelect: (id, byReader) => this.showTab(id, byReader),
    });
    this.frame.bar.append(
      placeButtons(ctx, (by) => this.revisit(by)),
      this.tools.el,
    );
    this.frame.settle();
    this.frame.body.append(
      this.finder.search.el,
      this.tabs.el,
      h("div", { class: "parts ir" }, Object.values(this.panes)),
    );
    this.frame.foot.append(
      this.legend.el,
      h(
        "span",
        { class: "keys" },
        [
          ["↑↓", "move"],
          ["g", "program or graph"],
          ["n", "neighbors"],
          ["/", "find"],
          ["?", "keys"],
        ].map(([k, what]) => h("span", null, h("kbd", null, k), ` ${what}`)),
      ),
    );
    this.keys = keyBindings(this);
    this.unbind = bindKeys(this.root, this.keys);
  }

  /** @param {number} row */
  idOfRow(row) {
    const node = this.program.nodeOfRow.get(row);
    if (node !== undefined) return node;
    const group = this.program.groupOfRow.get(row);
    return group === undefined ? -1 : this.model.count + group;
  }

  /** @param {number} id */
  rowOf(id) {
    if (id < 0) return -1;
    return id < this.model.count
      ? (this.program.shownOf[this.model.row(id)] ?? -1)
      : (this.program.groupRow.get(id - this.model.count) ?? -1);
  }

  // --- folding and layout

  /**
   * Lays the graph out again; `keep` stays where it is on the screen, and so does everything that did not change.
   */
  draw({ keep = -1, fresh = false } = {}) {
    const { reach, aside, folded } = this.chosen;
    const part = this.shown.part();
    const spec = specOf(this.model, {
      folded,
      aside: aside && reach?.kind !== "near",
      part,
      note: this.shown.coloring.note,
      measure: this.graph.measure,
    });
    const kind = part ? `${reach.kind} ${reach.root} ${reach.radius ?? reach.other}` : "whole";
    this.layout =
      fresh || !this.layout || this.layoutKind !== kind ? layout(spec) : relayout(this.layout, spec);
    const fit = this.layoutKind !== kind || (fresh && this.graph.atFit);
    this.layoutKind = kind;
    const label = part ? `graph around ${this.model.label(reach.root)}` : `graph of ${this.view.title}`;
    this.graph.show(this.layout, { keep, label });
    if (fit) this.graph.fit();
    this.mark();
  }

  foldedInRows() {
    const folded = new Set([...this.chosen.folded].filter((g) => !this.program.groupRow.has(g)));
    for (const [g, row] of this.program.groupRow) if (this.rows.folded.has(row)) folded.add(g);
    const changed = [...this.model.groups.keys()].filter((g) => folded.has(g) !== this.chosen.folded.has(g));
    this.chosen.folded = folded;
    if (changed.length) this.draw({ keep: this.model.count + changed[0] });
    this.ctx.changed();
  }

  setFolded(folded, { keep = -1 } = {}) {
    this.chosen.folded = folded;
    const lists = this.program.lists.filter((row) => this.rows.folded.has(row));
    this.rows.setFolded([
      ...[...folded].map((g) => this.program.groupRow.get(g)).filter((row) => row !== undefined),
      ...lists,
    ]);
    this.draw({ keep });
    if (this.ready) this.ctx.changed();
  }

  /**
   * Folds or opens a group; `deep`: with everything in it.
   * @param {number} g
   */
  toggle(g, deep = false) {
    if (!this.model.groups[g]) return;
    const folded = new Set(this.chosen.folded),
      fold = !folded.has(g);
    for (const group of deep ? below(this.model, g) : [g]) {
      if (fold) folded.add(group);
      else folded.delete(group);
    }
    this.setFolded(folded, { keep: this.model.count + g });
    this.frame.announce(`${this.model.groups[g].label}: ${folded.has(g) ? "folded" : "open"}`);
    if (this.chosen.sel === this.model.count + g) this.details.show(this.chosen.sel, folded.has(g));
  }

  /** @param {boolean} fold */
  foldAll(fold) {
    const { groups } = this.model;
    const all = this.startFolds.size
      ? this.startFolds
      : new Set([...groups.keys()].filter((g) => groups[g].parent >= 0 || groups[g].kind !== 0));
    this.setFolded(new Set(fold ? all : []));
    this.graph.fit();
  }

  /**
   * Opens one level of groups more, or folds the innermost.
   * @param {boolean} fold
   */
  foldLevel(fold) {
    const { folded, sel } = this.chosen;
    this.setFolded((fold ? levelAbove : nextLevel)(this.model, folded), { keep: this.shownId(sel) });
    if (sel < 0) this.graph.fit();
  }

  // --- choosing

  /**
   * What stands in the graph for a node or group: itself, the folded group around it, or what reads it where it is left out.
   * @param {number} id
   */
  shownId(id) {
    if (id < 0) return -1;
    if (id >= this.model.count) {
      for (let g = id - this.model.count; g >= 0; g = this.model.groups[g].parent)
        if (this.layout.boxes[g]) return this.model.count + g;
      return -1;
    }
    const rep = this.layout.rep[id];
    if (rep >= 0) return rep;
    const user = this.model.users[id][0];
    return user === undefined ? -1 : this.layout.rep[user];
  }

  /**
   * Chooses an expression or group. `from`: where the reader did it, which then is not moved.
   * @param {number} id
   */
  select(id, { from = "", quiet = false } = {}) {
    this.chosen.sel = id;
    const row = this.rowOf(id);
    if (from !== "rows") {
      if (row >= 0) this.rows.select(row, { quiet: true });
      else this.rows.select(-1, { quiet: true });
    }
    this.mark();
    if (from !== "graph") this.graph.reveal(this.shownId(id));
    this.details.show(id, this.chosen.folded.has(id - this.model.count));
    this.say();
    this.tools.update();
    this.strip.update();
    if (quiet) return;
    // Along the arrows in the graph, the list's own active option is what is read.
    if (from !== "keys") this.frame.announce(this.frame.say.textContent);
    this.ctx.changed();
  }

  say() {
    const { sel, reach } = this.chosen,
      { count } = this.model;
    const of = reach && reach.kind !== "near" ? sayReach(this) : null;
    fill(
      this.frame.say,
      of ?? (sel < 0 ? sayAll(this) : sel < count ? sayNode(this, sel) : sayGroup(this, sel - count)),
    );
  }

  /** Chooses `id` wherever it is: opens what is folded around it. */
  go(id) {
    this.open(id);
    this.select(id);
    if (this.tabs.el.offsetHeight && this.tabs.selected === "program") this.rows.scrollTo(this.rowOf(id));
  }

  /** @param {number} id */
  open(id) {
    const folded = new Set(this.chosen.folded),
      before = folded.size;
    const { groups, group, count } = this.model;
    for (let g = id < count ? group[id] : (groups[id - count]?.parent ?? -1); g >= 0; g = groups[g].parent)
      folded.delete(g);
    if (folded.size !== before) this.setFolded(folded, { keep: this.shownId(id) });
    this.rows.reveal(this.rowOf(id));
  }

  mark() {
    const { sel } = this.chosen,
      { model } = this,
      node = sel >= 0 && sel < model.count;
    const rowsOf = (ids) => ids.map((i) => this.rowOf(i)).filter((r) => r >= 0);
    this.rows.mark("now", sel >= 0 ? [this.rowOf(sel)].filter((r) => r >= 0) : []);
    this.rows.mark("operand", node ? rowsOf(model.operands[sel]) : []);
    this.rows.mark("user", node ? rowsOf(model.users[sel]) : []);
    this.rows.light(node ? [sel] : []);
    this.graph.setState({
      selected: this.shownId(sel),
      matches: [...new Set(this.finder.nodes.map((i) => this.shownId(i)))],
    });
  }

  hover(id, from = "graph") {
    const row = this.rowOf(id);
    this.rows.mark("hover", row >= 0 ? [row] : []);
    const lit = [id, this.chosen.sel].filter((i) => i >= 0 && i < this.model.count);
    if (this.lit !== lit.join()) this.rows.light(lit);
    this.lit = lit.join();
    this.graph.setState({ hovered: from === "graph" ? id : this.shownId(id) });
  }

  // --- what is shown

  /**
   * @param {string} id
   * @param {boolean} byReader
   */
  showTab(id, byReader) {
    for (const [name, pane] of Object.entries(this.panes)) pane.toggleAttribute("data-off", name !== id);
    if (byReader) this.ctx.changed();
  }

  help() {
    showHelp(this.frame, this.keys, [
      h(
        "p",
        null,
        "In the graph, arrows follow edges: ↑ to an operand, ↓ to a user, ← → to a neighbor. Drag to move; press the graph once, and the wheel zooms. Shift with a press on ▸ opens everything inside.",
      ),
    ]);
  }

  /** What this place is called: the chosen node or group. */
  placeName() {
    const { sel } = this.chosen;
    const row = this.rowOf(sel);
    return row >= 0 ? shortened(this.rows.text(row)) : this.view.title;
  }

  /**
   * Back to where the last jump began, or forward again.
   * @param {number} by
   */
  revisit(by) {
    const { places } = this.ctx;
    if (!(by < 0 ? places.back() : places.forward())) return false;
    this.frame.announce(`${by < 0 ? "Back" : "Forward"} to ${this.placeName()}.`);
    return true;
  }

  share(mark = false) {
    showLink(this.frame, this.ctx, { name: this.placeName(), mark });
  }

  save() {
    showSave(this.frame, this);
  }

  /** @param {State} state */
  restore(state) {
    this.ready = false;
    readState(this, state);
    this.ready = true;
  }

  destroy() {
    this.unbind();
    this.graph.destroy();
    this.rows.destroy();
    this.frame.destroy();
  }
}
