// The IR explorer: the program's rows and its graph side by side, and everything about the expression that the reader chose.

import { fill, h } from "../../core/dom.js";
import { LATER } from "../../core/later.js";
import { createFrame, showHelp, showLink } from "../../core/frame.js";
import { bindKeys } from "../../core/keys.js";
import { createRows } from "../../core/rows.js";
import { addStyle } from "../../core/style.js";
import { createTabs } from "../../core/tabs.js";
import { createGraph } from "../../graph/draw.js";
import { layout, relayout } from "../../graph/layout.js";
import { createModel } from "../../graph/model.js";
import { createLegend, createTools } from "./bar.js";
import { createDetails } from "./details.js";
import { createFinder } from "./find.js";
import { keyBindings } from "./keys.js";
import { deriveProgram, scopeLanes } from "./program.js";
import { asideAtStart, foldAtStart, groupTotals, neighbourhood, specOf } from "./spec.js";
import { readState, writeState } from "./state.js";
import { describe, sayAll, sayGroup, sayNode, tip } from "./words.js";
import css from "./style.css";
/** @import { IRView } from "../../generated/ir.js" */
/** @import { Context, State } from "../../core/types.js" */

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
  /** By group, the nodes in it. @type {number[][] | null} */
  members = null;
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
  /** @type {{ program: HTMLDivElement; graph: HTMLDivElement; details: HTMLDivElement; }} */
  panes = LATER;
  /** @type {ReturnType<typeof createTabs>} */
  tabs = LATER;
  /** @type {ReturnType<typeof keyBindings>} */
  keys = LATER;
  /** @type {ReturnType<typeof bindKeys>} */
  unbind = LATER;
  /** @type {ReturnType<typeof createRows>} */
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
      near: null,
      aside: asideAtStart(this.model),
      families: new Set(),
    };
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
    this.buildRows();
    this.graph = createGraph({
      model,
      ctx,
      hooks: {
        select: (id) => this.select(id, { from: "graph" }),
        hover: (id) => this.hover(id),
        toggle: (g) => this.toggle(g),
        describe: (id) => describe(this, id),
        tip: (id) => tip(this, id),
        rank: (g) => this.program.groupRow.get(g) ?? g,
        moved: () => this.ready && ctx.changed(),
      },
    });
    this.details = createDetails({
      model,
      totals: this.totals,
      go: (id) => this.go(id),
      toggle: (g) => this.toggle(g),
    });
    this.finder = createFinder(this);
    this.tools = createTools(this);
    this.legend = createLegend(this);
    this.panes = {
      program: h("div", { class: "ir-pane pane-rows" }, this.rows.el),
      graph: h("div", { class: "ir-pane pane-graph" }, this.graph.el),
      details: h("div", { class: "ir-pane pane-details" }, this.details.el),
    };
    this.tabs = createTabs({
      label: "what to show",
      className: "narrow",
      items: TABS,
      selected: "graph",
      onSelect: (id, byReader) => this.showTab(id, byReader),
    });
    this.frame.bar.append(this.tools.el);
    this.frame.body.append(
      this.finder.search.el,
      this.tabs.el,
      h("div", { class: "ir" }, Object.values(this.panes)),
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

  buildRows() {
    const { model, program } = this;
    const scopes = scopeLanes(this.view.scopes, program.shownOf, program.view.rows.length);
    const columns = [];
    if (scopes.lanes)
      columns.push({
        id: "scope",
        title: "let",
        width: `${Math.max(38, 8 * scopes.lanes + 6)}px`,
        /** @param {number} row */
        draw: (row, cell) => drawScope(scopes.rows[row], cell),
      });
    if (this.view.nodes.some((_, i) => model.uses(i) > 1))
      columns.push({
        id: "uses",
        title: "uses",
        width: "54px",
        /** @param {number} row */
        draw: (row, cell) => this.drawUses(row, cell),
      });
    this.rows = createRows({
      view: program.view,
      label: `program of ${this.view.title}`,
      columns,
      hooks: {
        select: (row, byReader) => byReader && this.select(this.idOfRow(row), { from: "rows" }),
        hover: (hit) => this.hover(hit ? (hit.ref >= 0 ? hit.ref : this.idOfRow(hit.row)) : -1, "rows"),
        fold: () => this.foldedInRows(),
        activate: (row) => this.toggle(program.groupOfRow.get(row)),
      },
    });
    this.rows.setColumns();
  }

  /** @param {number} row */
  drawUses(row, cell) {
    const node = this.program.nodeOfRow.get(row),
      uses = node === undefined ? 0 : this.model.uses(node);
    fill(
      cell,
      uses > 1
        ? [
            h("b", { "aria-hidden": "true", title: `used ${uses} times` }, `×${uses}`),
            h("span", { class: "sr" }, `used ${uses} times`),
          ]
        : null,
    );
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
    const { near, aside, folded } = this.chosen;
    const shown = near && neighbourhood(this.model, near.root, near.radius);
    const spec = specOf(this.model, { folded, aside: aside && !near, near: shown });
    const kind = near ? `near ${near.root} ${near.radius}` : "whole";
    this.layout =
      fresh || !this.layout || this.layoutKind !== kind ? layout(spec) : relayout(this.layout, spec);
    const fit = this.layoutKind !== kind;
    this.layoutKind = kind;
    const label = near ? `graph around ${this.model.label(near.root)}` : `graph of ${this.view.title}`;
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

  /** @param {number} g */
  toggle(g) {
    if (!this.model.groups[g]) return;
    const folded = new Set(this.chosen.folded);
    if (!folded.delete(g)) folded.add(g);
    this.setFolded(folded, { keep: this.model.count + g });
    this.frame.announce(`${this.model.groups[g].label}: ${folded.has(g) ? "folded" : "open"}`);
    if (this.chosen.sel === this.model.count + g) this.details.show(this.chosen.sel, folded.has(g));
  }

  /** @param {boolean} fold */
  foldAll(fold) {
    const all = this.startFolds.size
      ? this.startFolds
      : new Set(
          [...this.model.groups.keys()].filter(
            (g) => this.model.groups[g].parent >= 0 || this.model.groups[g].kind !== 0,
          ),
        );
    this.setFolded(new Set(fold ? all : []));
    this.graph.fit();
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
    const words =
      id < 0
        ? sayAll(this)
        : id < this.model.count
          ? sayNode(this, id)
          : sayGroup(this, id - this.model.count);
    fill(this.frame.say, words);
    this.tools.update();
    if (quiet) return;
    // Along the arrows in the graph, the list's own active option is what is read.
    if (from !== "keys") this.frame.announce(this.frame.say.textContent);
    this.ctx.changed();
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
      matches: [...new Set(this.finder.found.map((i) => this.shownId(i)))],
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

  /** @param {string | number} radius */
  setNear(radius) {
    const { sel, near } = this.chosen;
    const root = sel >= 0 && sel < this.model.count ? sel : near?.root;
    this.chosen.near = radius && root !== undefined ? { root, radius } : null;
    this.draw({ keep: this.chosen.sel });
    this.graph.reveal(this.shownId(this.chosen.sel));
    this.tools.update();
    if (this.ready) this.ctx.changed();
  }

  /** @param {boolean} aside */
  setAside(aside) {
    this.chosen.aside = aside;
    this.draw({ keep: this.shownId(this.chosen.sel) });
    this.tools.update();
    if (this.ready) this.ctx.changed();
  }

  /** @param {Set<number>} families */
  setFamilies(families) {
    this.chosen.families = families;
    const { model } = this;
    const has = (id) => families.has(model.family(id));
    this.graph.dim(
      families.size === 0
        ? () => false
        : (item) => {
            if (item.group < 0) return !has(item.id);
            return !item.frame && !this.membersOf(item.group).some(has);
          },
    );
    const rows = families.size
      ? [...this.program.nodeOfRow].filter(([, i]) => !has(i)).map(([row]) => row)
      : [];
    this.rows.mark(
      "faded",
      rows.filter((row) => this.rows.anchor(row) === row),
    );
    this.legend.update();
    if (this.ready) this.ctx.changed();
  }

  membersOf(group) {
    if (!this.members) {
      this.members = this.model.groups.map(() => []);
      for (let i = 0; i < this.model.count; i++)
        for (let g = this.model.group[i]; g >= 0; g = this.model.groups[g].parent) this.members[g].push(i);
    }
    return this.members[group];
  }

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
        "In the graph, arrows follow edges: ↑ to an operand, ↓ to a user, ← → to a neighbour. Drag to move; press the graph once, and the wheel zooms.",
      ),
    ]);
  }

  share() {
    showLink(this.frame, this.ctx);
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

function drawScope(lanes, cell) {
  fill(
    cell,
    lanes.map(([lane, part]) => h("i", { class: part, style: { left: `${4 + lane * 8}px` } })),
    lanes.some(([, part]) => part === "start") ? h("span", { class: "sr" }, "a let begins here") : null,
  );
}
