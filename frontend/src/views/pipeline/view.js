// The pipeline explorer: the program before and after each pass, row beside row; a film strip of the passes; one expression
// followed through all of them.
import { fill, h, text } from "../../core/dom.js";
import { LATER } from "../../core/later.js";
import { Explorer, NARROW } from "../../core/explorer.js";
import { mountForms } from "../../core/forms.js";
import { sentence, sentenceText } from "../../core/sentence.js";
import { addStyle } from "../../core/style.js";
import { mountCompare } from "../compare/view.js";
import { ON_ROWS, PANES, createAside, drawAside } from "./aside.js";
import { legendOfMarks, nextChange } from "./changes.js";
import { checkPipeline } from "./check.js";
import { createChoices } from "./choices.js";
import { createFinder } from "./find.js";
import { following } from "./follow.js";
import { inside } from "./inside.js";
import { bindings } from "./keys.js";
import { KEPT } from "./marks.js";
import { createModel } from "./model.js";
import { move } from "./moves.js";
import { drawChanges } from "./panes.js";
import { plain, sourceLink } from "./rewrites.js";
import { restore, tokenOf } from "./state.js";
import { changesInWords, createStrip } from "./strip.js";
import { buildRows, showColumns } from "./table.js";
import css from "./style.css";
/** @import { PipelineView } from "../../generated/pipeline.js" */
/** @import { Context, Mount, KeyEvent, State } from "../../core/types.js" */

addStyle(css);

/** Below this width the lanes leave their room to the two programs, unless asked for. */
const ROOMY = 860;
/** More rows than these begin with what is unchanged folded away. */
const MANY = 40;
/** @type {[string[], string][]} */
const KEYS = [
  [["←", "→"], "pass"],
  [["n"], "change"],
  [["r"], "rewrite"],
  [["Enter"], "follow"],
  [["c"], "only changes"],
  [["u"], "fold"],
  [["/"], "find"],
  [["?"], "keys"],
];

/**
 * @param {HTMLElement} root
 * @param {PipelineView} view
 * @param {Context} ctx
 */
export function mountPipeline(root, view, ctx) {
  checkPipeline(view);
  /** @type {Mount} */
  const mount = (stage, own, context) => new PipelineExplorer(stage, own, context).begin();
  const { ends } = view;
  if (!ends) return mount(root, view, ctx);
  return mountForms(root, ctx, {
    label: "the passes, or what they lead to",
    key: "ends",
    forms: [
      { id: "0", label: "pass by pass", mount: (stage, own) => mount(stage, view, own) },
      { id: "1", label: "the final programs", mount: (stage, own) => mountCompare(stage, ends, own) },
    ],
  });
}

/** @extends {Explorer<PipelineView>} */
export class PipelineExplorer extends Explorer {
  /** By pipeline, the life of the expression that is followed. @type {any[]} */
  lives = LATER;
  /** By pipeline, what it is called in each stage; null where none is followed. @type {string[][] | null} */
  names = LATER;
  clicked = following.clicked;
  followRow = following.followRow;
  chosen = following.chosen;
  followItem = following.followItem;
  setFollow = following.setFollow;
  rowsOfKin = following.rowsOfKin;
  mark = following.mark;
  markPointed = following.markPointed;
  hovered = following.hovered;
  point = following.point;
  picked = following.picked;
  drawGraph = following.drawGraph;
  moment = following.moment;
  rowOfKin = following.rowOfKin;
  stepRewrite = inside.stepRewrite;
  goRewrite = inside.goRewrite;
  rewriteRows = inside.rewriteRows;
  /** @type {ReturnType<typeof createStrip>} */
  strip = LATER;
  /** @type {ReturnType<typeof createChoices>} */
  choices = LATER;
  /** @type {HTMLDivElement} */
  holder = LATER;
  /** @type {{ [k: string]: HTMLElement; }} */
  panes = LATER;
  /** @type {import("../../core/types.js").Tabs} */
  paneTabs = LATER;
  /** @type {import("../../core/types.js").Tabs} */
  tabs = LATER;
  /** @type {any} */
  graph = LATER;
  /** @type {HTMLDivElement} */
  body = LATER;
  /** @type {HTMLSpanElement} */
  changes = LATER;
  /** @type {ReturnType<typeof import("./align.js").stretches>} */
  blocks = LATER;
  /** @type {ReturnType<typeof import("./uses.js").usesOf>} */
  uses = LATER;
  /** @type {null | ReturnType<typeof import("./uses.js").createLanes>} */
  lanesDrawn = LATER;
  /** @type {boolean} */
  roomy = LATER;

  /**
   * @param {HTMLElement} root
   * @param {PipelineView} view
   * @param {Context} ctx
   */
  constructor(root, view, ctx) {
    super(root, view, ctx);
    this.model = createModel(view);
    this.pipe = 0;
    this.at = this.model.start;
    this.only = false;
    this.tight = this.tightAtFirst = this.model.stages.some(({ pairs }) => pairs.length > MANY);
    this.follow = -1;
    this.kin = new Set();
    this.pointed = -1;
    this.rewrite = -1;
    this.lanes = null;
  }

  get list() {
    return this.model.pipelines[this.pipe].list;
  }

  get stage() {
    return this.model.stages[this.list[this.at]];
  }

  // --- building -------------------------------------------------------------------------------------

  build() {
    const { ctx, model } = this;
    this.frameOf("Pipeline, pass by pass", Math.max(...model.pipelines.map(({ list }) => list.length)));
    this.strip = createStrip(model, (pipe, at) => {
      this.transport.stop();
      this.goTo(pipe, at);
    });
    this.choices = createChoices(this);
    this.shell.bar.append(
      this.transport.el,
      this.counter,
      h("span", { class: "filler" }),
      this.choices.el,
      this.tools(),
    );
    this.shell.bar.after(this.strip.el);
    this.finder = createFinder(this);
    this.search = this.finder.search;
    this.holder = h("div", { class: "holder" });
    const aside = createAside(model, {
      onPane: () => {
        this.drawPanes();
        ctx.changed();
      },
      onTab: () => {
        this.place();
        ctx.changed();
      },
      onPick: (item) => this.picked(item),
      onHover: (item) => this.point(item, -1),
    });
    this.panes = aside.panes;
    this.paneTabs = aside.tabs;
    this.tabs = aside.narrowTabs;
    this.graph = aside.graph;
    this.body = h("div", { class: "parts pipeline-body" }, this.holder, aside.el);
    this.shell.body.append(this.search.el, this.tabs.el, this.body);
    this.changes = h("span", {
      class: "legend changes-here",
      role: "group",
      "aria-label": "what this pass changed: go to the next",
    });
    this.shell.foot.append(this.changes, this.hints(KEYS));
    this.listen(bindings(this));
    this.measure();
    this.holder.addEventListener("click", (event) => this.clicked(event));
  }

  opening() {
    return "the first pass that changed the program";
  }

  columns() {
    showColumns(this);
  }

  lanesOn() {
    return this.lanes ?? this.roomy;
  }

  measure() {
    this.narrow = this.root.clientWidth <= NARROW;
    this.roomy = this.root.clientWidth >= ROOMY;
  }

  // --- state ----------------------------------------------------------------------------------------

  token() {
    return tokenOf(this);
  }

  /** @param {State} state */
  restore(state) {
    restore(this, state);
  }

  // --- passes ---------------------------------------------------------------------------------------

  /**
   * @param {string} name
   * @param {KeyEvent} event
   */
  move(name, event) {
    return move(this, name, event);
  }

  /**
   * @param {number} pipe
   * @param {number} at
   */
  goTo(pipe, at) {
    this.pipe = pipe;
    this.at = Math.max(0, Math.min(this.list.length - 1, at));
    this.show();
    this.shell.announce(
      `${this.at} of ${this.list.length - 1}: ${this.stage.name}, ${changesInWords(this.stage)}. ${sentenceText(this.stage.say)}`,
    );
    this.ctx.changed();
  }

  /** Draws the stage that is shown: its sentence, its rows, where it stands in the strip. */
  show() {
    const { stage } = this;
    this.pointed = -1;
    this.rewrite = -1;
    buildRows(this);
    this.bring();
    const source = stage.source && sourceLink(this.model.tree, stage.source);
    const told = h(
      "small",
      null,
      plain(stage.what),
      stage.what && source && " ",
      source,
      stage.ms !== null && ` took ${Number(stage.ms.toPrecision(2))} ms`,
    );
    fill(this.shell.say, sentence(stage.say), told.childNodes.length > 0 && told);
    text(this.counter, `${this.at} / ${this.list.length - 1}`);
    this.choices.show();
    drawChanges(this.changes, stage, (mark) => this.nextChange(1, mark));
    this.drawStrip();
    this.mark();
    this.drawPanes();
    // These read the layout: once, after everything has been drawn.
    this.strip.look();
    this.graph.look(
      [...(this.follow >= 0 ? [...this.kin] : this.graph.firstChange())].filter((i) => this.inSight(i)),
    );
  }

  /** Brings the first row that is about what is followed, or that changed, into the window. */
  bring() {
    const { stage } = this;
    const kept = this.rowsOfKin();
    const first = kept.length ? kept[0] : stage.pairs.findIndex(({ mark }) => mark !== KEPT);
    if (first < 0 || stage.before < 0) return;
    this.rows.reveal(first);
    this.rows.scrollTo(first);
  }

  /** Whether an expression is of a stage whose graph is drawn. */
  inSight(item) {
    const { shown, before } = this.stage;
    const { stages, items } = this.model;
    return [shown, before].some((at) => at >= 0 && stages[at].items === items[item].stage);
  }

  /** @param {boolean} on */
  setLanes(on) {
    this.lanes = on;
    this.columns();
    this.mark();
    this.ctx.changed();
  }

  /** @param {boolean} on */
  setOnly(on) {
    this.only = on;
    this.choices.show();
    this.drawStrip();
    this.strip.look();
    this.shell.announce(on ? "Only the passes that changed something." : "All passes.");
    this.ctx.changed();
  }

  /** @param {boolean} on */
  setTight(on) {
    this.tight = on;
    this.choices.show();
    this.rows.setFolded(on ? this.blocks.map(([from]) => from) : []);
    if (this.rows.selected >= 0) this.rows.scrollTo(this.rows.selected);
    this.ctx.changed();
  }

  /** The same position in the other pipeline, or its last. */
  otherPipeline() {
    const pipe = (this.pipe + 1) % this.model.pipelines.length;
    this.transport.stop();
    this.goTo(pipe, Math.min(this.at, this.model.pipelines[pipe].list.length - 1));
  }

  /**
   * The next row that changed, or with `mark` one that changed so.
   * @param {number} by
   */
  nextChange(by, mark = -1) {
    nextChange(this, by, mark);
  }

  /**
   * Brings a row into the window and selects it.
   * @param {number} row
   */
  visit(row, focus = true) {
    if (row < 0) return;
    if (this.narrow && !ON_ROWS.some(({ id }) => id === this.tabs.selected)) {
      this.tabs.select("after");
      this.place();
    }
    this.rows.reveal(row);
    this.rows.select(row, { focus, byReader: true });
  }

  // --- what is shown around -------------------------------------------------------------------------

  drawStrip() {
    this.strip.draw({
      pipe: this.pipe,
      at: this.at,
      names: this.names,
      only: this.only,
    });
  }

  drawPanes() {
    drawAside(this);
  }

  /** On a phone, what the chosen tab shows; elsewhere everything is there. */
  place() {
    const on = this.tabs.selected;
    this.body.dataset.on = on;
    if (this.narrow && PANES.some(({ id }) => id === on)) {
      this.paneTabs.select(on);
      this.drawPanes();
    }
    this.columns();
    this.mark();
  }

  resized() {
    const { narrow, roomy } = this;
    this.measure();
    if (narrow !== this.narrow || roomy !== this.roomy) this.place();
    this.lanesDrawn.moved();
    this.lanesDrawn.draw(this.kin);
  }

  // --- keyboard -------------------------------------------------------------------------------------

  leave() {
    if (this.revisit(-1)) return undefined;
    if (this.follow >= 0) this.followItem(-1);
    else if (this.rows.selected >= 0) {
      this.rows.select(-1, { quiet: true });
      this.ctx.changed();
    } else return false;
    this.focus();
  }

  help() {
    super.help([h("p", { class: "heading second" }, "The marks"), legendOfMarks()]);
  }

  destroy() {
    this.graph.destroy();
    super.destroy();
  }
}
