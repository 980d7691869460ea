// The source view: on the left the nodes of the imported model, on the right the Relay program; what is chosen on one
// side is marked on the other.
import { fill, h, text } from "../../core/dom.js";
import { LATER } from "../../core/later.js";
import { Explorer } from "../../core/explorer.js";
import { both, commonKeys, key, playKey, rowKeys, stepKeys } from "../../core/keys.js";
import { createLegend } from "../../core/legend.js";
import { formatList, integer, parseList } from "../../core/links.js";
import { sentence, sentenceText } from "../../core/sentence.js";
import { addStyle } from "../../core/style.js";
import { checkSource } from "./check.js";
import { createDetails, UNLINKED } from "./details.js";
import { createFinder } from "./find.js";
import { MARKS, NOTHING } from "./marks.js";
import { createModel, hasWeights } from "./model.js";
import { buildRows } from "./table.js";
import css from "./style.css";
/** @import { createRows } from "../../core/rows.js" */
/** @import { SourceView } from "../../generated/source_map.js" */
/** @import { Context, State } from "../../core/types.js" */

addStyle(css);

const TABS = [
  { id: "nodes", label: "Nodes" },
  { id: "program", label: "Relay" },
  { id: "details", label: "Details" },
];
/** @type {[string[], string][]} */
const KEYS = [
  [["←", "→"], "node"],
  [["↑", "↓"], "line"],
  [["[", "]"], "switch sides"],
  [["l"], "next linked line"],
  [["n"], "no expression"],
  [["/"], "find"],
  [["?"], "keys"],
];

/**
 * @param {HTMLElement} root
 * @param {SourceView} view
 * @param {Context} ctx
 */
export function mountSource(root, view, ctx) {
  checkSource(view);
  return new SourceExplorer(root, view, ctx).begin();
}

/** @extends {Explorer<SourceView>} */
export class SourceExplorer extends Explorer {
  /** The Relay program; `rows` are the nodes. @type {ReturnType<typeof createRows>} */
  program = LATER;
  /** @type {ReturnType<Explorer['partTabs']>} */
  tabs = LATER;
  /** @type {ReturnType<typeof createDetails>} */
  details = LATER;
  /** @type {HTMLElement} */
  pane = LATER;
  /** Which of the lines linked with the choice was shown last. */
  at = -1;

  /**
   * @param {HTMLElement} root
   * @param {SourceView} view
   * @param {Context} ctx
   */
  constructor(root, view, ctx) {
    super(root, view, ctx);
    this.model = createModel(view);
    this.nodes = this.model.nodes.map(({ fate, row, say }) => ({ mark: fate, row, say }));
  }

  get marks() {
    return MARKS;
  }

  get steps() {
    return this.nodes;
  }

  // --- building -------------------------------------------------------------------------------------

  build() {
    const { view, model } = this;
    this.frameOf("The model's nodes and the Relay program");
    this.details = createDetails(model, {
      node: (node) => this.jump(node),
      line: (row) => this.visit(row + view.split),
    });
    buildRows(this);
    this.finder = createFinder(this);
    this.search = this.finder.search;
    const kinds = this.nodes.map(({ mark }) => mark);
    this.timeline = this.timelineOf({
      kinds,
      label: "node",
      valueText: (step) => `node ${step + 1} of ${this.count}: ${sentenceText(this.nodes[step]?.say)}`,
    });
    this.shell.bar.append(
      this.transport.el,
      h("span", { class: "grow" }, this.timeline.el),
      this.counter,
      this.tools(),
    );
    this.pane = h("section", { class: "map-details details", tabindex: 0, "aria-label": "details" });
    this.tabs = this.partTabs(TABS, { redraw: () => this.shown() });
    this.body = h(
      "div",
      { class: "parts map-body", "data-on": "nodes" },
      h("div", { class: "map-side map-nodes" }, this.rows.el),
      h("div", { class: "map-side map-program" }, this.program.el),
      this.pane,
    );
    this.shell.body.append(this.search.el, this.tabs.el, this.body);
    this.shell.foot.append(
      createLegend({ marks: MARKS, kinds, onMark: (mark) => this.nextMark(mark) }),
      this.hints(KEYS),
    );
    this.listen([
      ...stepKeys(this, {
        next: "next node",
        previous: "previous node",
        ends: "first and last node",
        pages: "jump back or forward by 5% of the nodes",
      }),
      playKey(this),
      rowKeys((by) => this.along(by), "move along the nodes, or along the program"),
      key(["[", "]"], "go to the nodes, to the program", (event) => this.toSide(event.key === "]")),
      both(["l", "L"], "next and previous line linked to the selection", (by) => this.linked(by)),
      both(["n", "N"], "next and previous node without an expression", (by) => this.nextMark(NOTHING, by)),
      ...commonKeys(this, { fold: () => this.fold() }),
    ]);
  }

  // --- state ----------------------------------------------------------------------------------------

  token() {
    const { program, tabs } = this;
    return {
      node: this.step >= 0 ? this.step + 1 : "",
      module: this.step < 0 && this.rows.selected >= 0 ? this.rows.selected : "",
      line: program.selected >= 0 ? program.selected : "",
      tab: tabs.selected === "nodes" ? "" : tabs.selected,
      ...this.searched(),
      fold: this.foldedNow(),
    };
  }

  /** What is folded in the node list, if it is not what was folded at first. */
  foldedNow() {
    const now = [...this.rows.folded].sort((a, b) => a - b);
    const first = [...this.model.folded].sort((a, b) => a - b);
    return now.join() === first.join() ? "" : formatList(now) || "none";
  }

  /** @param {State} state */
  restore(state) {
    const { model } = this;
    this.rows.setFolded(state.fold === "none" ? [] : state.fold ? parseList(state.fold) : model.folded);
    this.tabs.select(TABS.some(({ id }) => id === state.tab) ? state.tab : "nodes");
    this.finder.restore(state);
    const line = integer(state.line, -1);
    const module = integer(state.module, -1);
    const node = integer(state.node, 0) - 1;
    if (model.program.rows[line]) this.visit(line + this.view.split, true);
    else if (model.moduleAt.has(module)) this.visit(module, true);
    else if (model.nodes[node]) this.go(node, true);
    else this.clear();
  }

  // --- choosing -------------------------------------------------------------------------------------

  /**
   * Chooses a node.
   * @param {number} step
   */
  go(step, quiet = false) {
    const { model } = this;
    if (step < 0 || !model.nodes[step]) return this.clear();
    this.step = step;
    const { row, rows, say } = model.nodes[step];
    this.rows.reveal(row);
    this.rows.select(row, { quiet: true });
    this.program.select(-1, { quiet: true });
    this.timeline.setStep(step);
    text(this.counter, `${step + 1} / ${this.count}`);
    fill(this.shell.say, sentence(say));
    fill(this.pane, this.details.nodeFacts(step));
    this.marked(rows.length > 0);
    this.told(`Node ${step + 1} of ${this.count}.`, quiet);
    return undefined;
  }

  /**
   * A reader's choice in the node list: a node or the heading of a module.
   * @param {number} row
   */
  choseNode(row, quiet = false) {
    const { model } = this;
    const node = model.nodeAt.get(row);
    if (node !== undefined) return this.go(node, quiet);
    const module = model.moduleAt.get(row);
    if (!module) return this.clear();
    this.step = -1;
    this.program.select(-1, { quiet: true });
    const nodes = model.nodesAt(row);
    const lines = model.rowsFrom(nodes);
    const nothing = nodes.filter((at) => model.nodes[at].fate === NOTHING).length;
    text(this.counter, `– / ${this.count}`);
    fill(
      this.shell.say,
      hasWeights(module, model.nodes)
        ? `The ${plural(nodes.length, "weight")} appear in ${plural(lines.length, "line")} of the program.`
        : [
            "The module ",
            h("code", null, module.path),
            `: ${plural(nodes.length, "node")} became ${plural(lines.length, "line")} of the program.`,
          ],
      nothing > 0 &&
        h(
          "small",
          null,
          `${nothing.toLocaleString("en")} of them ${nothing === 1 ? "has" : "have"} no expression.`,
        ),
    );
    fill(this.pane, this.details.moduleFacts(row));
    this.marked(true);
    this.told("", quiet);
    return undefined;
  }

  /**
   * A reader's choice in the program.
   * @param {number} row
   */
  choseLine(row, quiet = false) {
    const { model } = this;
    const nodes = model.nodesOf[row] ?? [];
    this.step = -1;
    this.rows.select(-1, { quiet: true });
    text(this.counter, `– / ${this.count}`);
    const names = nodes.slice(0, 3).map((node) => model.nodes[node]);
    fill(
      this.shell.say,
      nodes.length
        ? [
            "This line came from ",
            names.map(({ op, name }, i) => [i > 0 && ", ", h("code", null, `${op} ${name}`.trim())]),
            nodes.length > 3 && ` and ${plural(nodes.length - 3, "more node")}`,
            ".",
            h("small", null, names[0].path && ["Its module is ", h("code", null, names[0].path), "."]),
          ]
        : UNLINKED,
    );
    fill(this.pane, this.details.lineFacts(row));
    this.marked(true);
    this.told("", quiet);
  }

  clear() {
    this.step = -1;
    this.rows.select(-1, { quiet: true });
    this.program.select(-1, { quiet: true });
    text(this.counter, `– / ${this.count}`);
    fill(
      this.shell.say,
      this.view.summary,
      h(
        "small",
        null,
        "Choose a node to mark the lines that it became, or a line to mark the nodes that it came from.",
      ),
    );
    fill(this.pane, this.details.noFacts());
    this.marked();
    if (this.ready) this.ctx.changed();
  }

  /**
   * @param {string} before
   * @param {boolean} quiet
   */
  told(before, quiet) {
    if (quiet || !this.ready) return;
    this.shell.announce(`${before} ${this.shell.say.textContent}`);
    this.ctx.changed();
  }

  /**
   * Marks the rows on the other side that are linked with the choice; with `show`, scrolls to the first of them.
   * @param {boolean} show
   */
  marked(show = false) {
    const { rows, program } = this;
    const { lines, list } = this.links();
    program.mark("now", program.selected >= 0 ? [program.selected] : []);
    rows.mark("now", rows.selected >= 0 ? [rows.selected] : []);
    program.mark("same", lines);
    rows.mark("same", list);
    this.at = 0;
    if (!show) return;
    if (lines.length) program.scrollTo(lines[0]);
    if (list.length) rows.scrollTo(list[0]);
  }

  /** The rows on the other side that are linked with the choice: lines of the program, or rows of the node list. */
  links() {
    const { model, rows, program } = this;
    const nodes = program.selected >= 0 ? model.nodesOf[program.selected] : [];
    return {
      lines: rows.selected >= 0 ? model.rowsFrom(model.nodesAt(rows.selected)) : [],
      list: nodes.map((node) => model.nodes[node].row),
    };
  }

  /** Scrolls to the choice, or to what is linked with it, in the list that a tab has shown: hidden, it could not scroll. */
  shown() {
    const { rows, program } = this;
    const { lines, list } = this.links();
    const row = rows.selected >= 0 ? rows.selected : list[0];
    const line = program.selected >= 0 ? program.selected : lines[0];
    if (row !== undefined) rows.scrollTo(row, true);
    if (line !== undefined) program.scrollTo(line, true);
  }

  /**
   * Linked highlighting under the pointer.
   * @param {readonly number[]} lines
   * @param {readonly number[]} nodes
   */
  point(lines, nodes) {
    this.program.mark("linked", lines);
    this.rows.mark(
      "linked",
      nodes.map((node) => this.model.nodes[node].row),
    );
  }

  /** The selected row, counted over both lists; -1 where there is none. */
  chosen() {
    return this.program.selected >= 0 ? this.program.selected + this.view.split : this.rows.selected;
  }

  /**
   * Scrolls to a row, counted over both lists, and chooses it.
   * @param {number} row
   */
  visit(row, quiet = false) {
    const { split } = this.view;
    const [rows, at] = row < split ? [this.rows, row] : [this.program, row - split];
    if (!quiet && this.narrow) this.tabs.select(row < split ? "nodes" : "program");
    rows.reveal(at);
    rows.select(at, { quiet: true });
    if (row < split) this.choseNode(at, quiet);
    else this.choseLine(at, quiet);
  }

  // --- keyboard -------------------------------------------------------------------------------------

  /** The side on which keys act: the one with the focus, else the one with the choice. */
  current() {
    if (this.active?.closest?.(".map-program")) return this.program;
    if (this.active?.closest?.(".map-nodes")) return this.rows;
    return this.program.selected >= 0 ? this.program : this.rows;
  }

  /** @param {number} by */
  along(by) {
    const rows = this.current();
    rows.move(by, Math.max(0, rows.selected));
  }

  /**
   * Moves to the other side: to the first row there that is linked with the choice.
   * @param {boolean} program
   */
  toSide(program) {
    const { model, rows } = this;
    const to = program
      ? (rows.selected >= 0 ? model.rowsFrom(model.nodesAt(rows.selected)) : [])[0]
      : model.nodes[model.nodesOf[this.program.selected]?.[0] ?? -1]?.row;
    const side = program ? this.program : rows;
    if (this.narrow) this.tabs.select(program ? "program" : "nodes");
    if (to !== undefined) side.reveal(to);
    side.select(to ?? Math.max(0, side.selected), { focus: true, byReader: true });
    if (this.narrow) this.shown();
  }

  /**
   * Scrolls to the next row of the other side that is linked with the choice.
   * @param {number} by
   */
  linked(by) {
    const { rows, program } = this;
    const links = this.links();
    const [side, list] = program.selected >= 0 ? [rows, links.list] : [program, links.lines];
    if (!list.length) return false;
    this.at = (this.at + by + list.length) % list.length;
    if (this.narrow) this.tabs.select(side === program ? "program" : "nodes");
    side.reveal(list[this.at]);
    side.scrollTo(list[this.at], true);
    return undefined;
  }

  fold() {
    const rows = this.current();
    if (rows.selected >= 0) rows.toggle(rows.selected);
  }

  leave() {
    if (this.revisit(-1)) return undefined;
    if (this.chosen() >= 0) {
      this.clear();
      this.focus();
    } else return false;
    return undefined;
  }

  resized() {
    this.turned();
  }

  destroy() {
    this.program.destroy();
    super.destroy();
  }
}

/**
 * @param {number} count
 * @param {string} noun
 */
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
