// The pipeline explorer: the program before and after each pass, row beside row; a film strip of the passes; one expression
// followed through all of them.
import { fill, h, text } from "../../core/dom.js";
import { LATER } from "../../core/later.js";
import { Explorer, NARROW } from "../../core/explorer.js";
import { integer } from "../../core/links.js";
import { createRows } from "../../core/rows.js";
import { sentence, sentenceText } from "../../core/sentence.js";
import { addStyle } from "../../core/style.js";
import { alignedView, stretches } from "./align.js";
import { ON_ROWS, PANES, TABS, createAside } from "./aside.js";
import { checkPipeline } from "./check.js";
import { markOld, noteOf, pipelineColumns } from "./columns.js";
import { createFinder } from "./find.js";
import { following } from "./follow.js";
import { inside } from "./inside.js";
import { bindings } from "./keys.js";
import { KEPT, MARKS, MOVED, wordOf } from "./marks.js";
import { createModel } from "./model.js";
import { drawChanges, drawHistory, drawTotals } from "./panes.js";
import { drawRewrites, plain, sourceLink } from "./rewrites.js";
import { changesInWords, createStrip } from "./strip.js";
import { createLanes, usesColumn, usesOf } from "./uses.js";
import css from "./style.css";
/** @import { PipelineView } from "../../generated/pipeline.js" */
/** @import { Context, KeyEvent, State } from "../../core/types.js" */

addStyle(css);

/** Below this width the lanes leave their room to the two programs, unless asked for. */
const ROOMY = 860;
const LINE = 27;
/** More rows than these begin with what is unchanged folded away. */
const MANY = 40;
/** @type {[string[], string][]} */
const KEYS = [
  [["←", "→"], "pass"],
  [["n"], "change"],
  [["r"], "rewrite"],
  [["f"], "follow"],
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
  return new PipelineExplorer(root, view, ctx).begin();
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
  light = following.light;
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
  /** @type {HTMLButtonElement} */
  onlyButton = LATER;
  /** @type {HTMLButtonElement} */
  tightButton = LATER;
  /** @type {HTMLButtonElement} */
  lanesButton = LATER;
  /** @type {any} */
  endsButton = LATER;
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
  /** @type {ReturnType<typeof stretches>} */
  blocks = LATER;
  /** @type {any} */
  paired = LATER;
  /** @type {ReturnType<typeof usesOf>} */
  uses = LATER;
  /** @type {null | ReturnType<typeof createLanes>} */
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
    this.comparing = false;
    this.lanes = null;
  }

  get list() {
    return this.model.pipelines[this.pipe].list;
  }

  get stage() {
    return this.comparing ? this.model.ends : this.model.stages[this.list[this.at]];
  }

  // --- building -------------------------------------------------------------------------------------

  build() {
    const { ctx, model } = this;
    this.frameOf("Pipeline, pass by pass", Math.max(...model.pipelines.map(({ list }) => list.length)));
    this.strip = createStrip(model, (pipe, at) => {
      this.transport.stop();
      this.goTo(pipe, at);
    });
    /** @param {string} text */
    const long = (text) => h("span", { class: "wordy" }, text);
    this.onlyButton = this.button(
      [long("only"), "changes"],
      "only the passes that changed something (c)",
      () => this.setOnly(!this.only),
      null,
    );
    this.tightButton = this.button(
      ["fold", long("unchanged")],
      "fold what is unchanged (u)",
      () => this.setTight(!this.tight),
      null,
    );
    this.lanesButton = this.button(
      "uses",
      "lanes: who uses what (l)",
      () => this.setLanes(!this.lanesOn()),
      null,
    );
    this.lanesButton.classList.add("lanes");
    this.endsButton =
      model.ends &&
      this.button(
        [long("compare"), "ends"],
        "the end programs side by side (e)",
        () => this.compare(!this.comparing),
        null,
      );
    const choices = h(
      "span",
      { class: "group choices" },
      this.onlyButton,
      this.tightButton,
      this.lanesButton,
      this.endsButton,
    );
    this.shell.bar.append(
      this.transport.el,
      this.counter,
      h("span", { class: "filler" }),
      choices,
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
    this.body = h("div", { class: "pipeline-body" }, this.holder, aside.el);
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

  /** The rows of the stage that is shown, drawn anew. */
  buildRows() {
    const { model, stage, view } = this;
    const inside = this.rows?.el.contains(this.active);
    this.rows?.destroy();
    let rows = null;
    this.blocks = stretches(stage.pairs, ({ after }) => model.text(after).trim().length < 2);
    this.paired = stage.pairs
      .map((_, i) => i)
      .filter((i) => stage.pairs[i].before >= 0 && stage.pairs[i].after >= 0);
    const aligned = alignedView(view, stage.pairs, this.blocks);
    const blocks = new Map(this.blocks);
    const before = stage.before >= 0 ? model.stages[stage.before].name : "";
    this.uses = usesOf(model, stage);
    this.lanesDrawn = null;
    this.rows = rows = createRows({
      view: aligned,
      label: `${view.title}: ${before ? `before and after ${stage.name}` : stage.name}`,
      title:
        stage.titles?.[0] ??
        (before ? `before${before === "as given" ? "" : `: after ${before}`}` : stage.name),
      note: (_, hidden) => noteOf(hidden),
      columns: pipelineColumns(
        model,
        stage,
        (i) => (rows?.folded.has(i) ? blocks.get(i) - i : 0),
        usesColumn(model, this.uses, (row) => this.visit(row)),
      ),
      hooks: {
        select: (row, byReader) => byReader && this.chosen(row),
        hover: (hit) => this.hovered(hit),
        activate: (i) => this.followRow(i),
        layout: () => this.redrawn(),
      },
    });
    rows.el.classList.add("pipeline-grid");
    rows.el.classList.toggle("first", stage.before < 0);
    this.lanesDrawn = createLanes(this.uses, rows, LINE);
    // Before the columns: with them the rows are drawn, once.
    rows.setFolded(this.tight ? [...blocks.keys()] : []);
    this.columns();
    MARKS.forEach(({ id }, mark) =>
      rows.mark(
        id,
        stage.pairs.map((_, i) => i).filter((i) => stage.pairs[i].mark === mark),
      ),
    );
    rows.mark(
      "void",
      stage.pairs.map((_, i) => i).filter((i) => stage.pairs[i].before < 0),
    );
    rows.mark(
      "ended",
      stage.pairs.map((_, i) => i).filter((i) => stage.pairs[i].after < 0),
    );
    fill(this.holder, rows.el);
    if (this.search.state().query) this.search.run();
    if (inside) this.focus();
  }

  /** Rows were drawn, perhaps others than before: what marks single tokens of them is marked again. */
  redrawn() {
    if (!this.paired) return;
    for (const i of this.paired)
      markOld(this.model, this.stage.pairs[i], this.rows.node(i)?.querySelector(".cell.code"));
    this.lanesDrawn?.draw(this.kin);
    if (this.follow >= 0 || this.pointed >= 0) this.light();
  }

  columns() {
    const cost = this.model.costly ? ["flops", "bytes"] : [];
    const first = this.stage.before < 0;
    const lanes = this.lanesOn() ? ["uses"] : [];
    if (!this.narrow)
      this.rows.setColumns(first ? [...lanes, ...cost] : ["mark", "after", ...lanes, ...cost]);
    else
      this.rows.setColumns(
        {
          before: first ? [] : ["mark"],
          after: ["mark", "after"],
          uses: ["after", "uses"],
          cost: ["after", ...cost],
        }[this.tabs.selected] ?? ["mark", "after"],
      );
    this.lanesButton.setAttribute("aria-pressed", String(this.lanesOn()));
    this.lanesDrawn.moved();
    this.lanesDrawn.draw(this.kin);
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
    const { only, ...found } = this.searched();
    const tab = this.tabs.selected;
    return {
      stage: this.at,
      pipe: this.pipe || "",
      row: this.selected(),
      follow: this.follow >= 0 ? this.follow : "",
      ends: this.comparing ? 1 : "",
      rw: this.rewrite >= 0 ? this.rewrite + 1 : "",
      lanes: this.lanes === null ? "" : Number(this.lanes),
      pane: this.paneTabs.selected === PANES[0].id ? "" : this.paneTabs.selected,
      only: this.only ? 1 : "",
      fold: this.tight === this.tightAtFirst ? "" : Number(this.tight),
      tab: this.narrow && tab !== "after" ? tab : "",
      ...found,
      rows: only ? "only" : "",
    };
  }

  /** @param {State} state */
  restore(state) {
    const pipe = integer(state.pipe, 0);
    this.only = state.only === "1";
    this.tight = state.fold ? state.fold === "1" : this.tightAtFirst;
    this.tabs.select(TABS.some(({ id }) => id === state.tab) ? state.tab : "after");
    this.lanes = state.lanes ? state.lanes === "1" : null;
    this.comparing = state.ends === "1" && this.model.ends !== null;
    const follow = integer(state.follow, -1);
    this.paneTabs.select(PANES.some(({ id }) => id === state.pane) ? state.pane : PANES[0].id);
    this.setFollow(this.model.items[follow] ? follow : -1);
    const [to, at] = [this.model.pipelines[pipe] ? pipe : 0, integer(state.stage, this.model.start)];
    this.pipe = to;
    this.at = Math.max(0, Math.min(this.list.length - 1, at));
    this.show();
    const rewrite = integer(state.rw, 0) - 1;
    if (this.stage.rewrites[rewrite]) this.goRewrite(rewrite, true);
    this.finder.restore({ ...state, only: state.rows === "only" ? "1" : "" });
    const row = integer(state.row, -1);
    if (this.stage.pairs[row]) {
      this.rows.reveal(row);
      this.rows.select(row, { quiet: true });
    }
    this.place();
  }

  // --- passes ---------------------------------------------------------------------------------------

  /**
   * Moves along this pipeline; past what changed nothing where the reader asked for changes only.
   * @param {string} name
   * @param {KeyEvent} event
   */
  move(name, event) {
    const onStrip = Boolean(event?.target.closest?.(".shot"));
    const by = name === "back" || name === "last" ? -1 : 1;
    const from = { first: 0, last: this.list.length - 1, back: this.at - 1, forward: this.at + 1 }[name];
    const keep = (at) => !this.only || !this.model.stages[this.list[at]].same;
    if (this.comparing) return this.leaveEnds(name);
    let to = from;
    while (to >= 0 && to < this.list.length && !keep(to)) to += by;
    if (to < 0 || to >= this.list.length || to === this.at) return false;
    this.goTo(this.pipe, to);
    if (onStrip) this.strip.focus(this.pipe, to);
    return true;
  }

  /**
   * From the end programs, a step back leads to the last pass.
   * @param {string} name
   */
  leaveEnds(name) {
    if (name === "forward" || name === "last") return false;
    this.goTo(this.pipe, name === "first" ? 0 : this.list.length - 1);
    return true;
  }

  /**
   * @param {number} pipe
   * @param {number} at
   */
  goTo(pipe, at) {
    this.comparing = false;
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
    this.buildRows();
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
    text(this.counter, this.comparing ? "ends" : `${this.at} / ${this.list.length - 1}`);
    this.endsButton?.setAttribute("aria-pressed", String(this.comparing));
    this.onlyButton.setAttribute("aria-pressed", String(this.only));
    this.tightButton.setAttribute("aria-pressed", String(this.tight));
    drawChanges(this.changes, stage, (mark) => this.nextChange(1, mark));
    const kept = this.rowsOfKin();
    const first = kept.length ? kept[0] : stage.pairs.findIndex(({ mark }) => mark !== KEPT);
    if (first >= 0 && stage.before >= 0) {
      this.rows.reveal(first);
      this.rows.scrollTo(first);
    }
    this.drawStrip();
    this.mark();
    this.drawPanes();
    this.graph.look(
      [...(this.follow >= 0 ? [...this.kin] : this.graph.firstChange())].filter((i) => this.inSight(i)),
    );
  }

  /** Whether an expression is of a stage whose graph is drawn. */
  inSight(item) {
    const { shown, before } = this.stage;
    const { stages, items } = this.model;
    return [shown, before].some((at) => at >= 0 && stages[at].items === items[item].stage);
  }

  /**
   * The end programs of the two pipelines side by side, or back to the passes.
   * @param {boolean} on
   */
  compare(on) {
    if (!this.model.ends || on === this.comparing) return;
    this.transport.stop();
    if (!on) return this.goTo(this.pipe, this.at);
    this.past.push({ pipe: this.pipe, at: this.at, row: this.rows.selected });
    this.comparing = true;
    if (this.paneTabs.selected === PANES[0].id) this.paneTabs.select("totals");
    this.show();
    this.shell.announce(sentenceText(this.stage.say));
    this.ctx.changed();
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
    this.onlyButton.setAttribute("aria-pressed", String(on));
    this.drawStrip();
    this.shell.announce(on ? "Only the passes that changed something." : "All passes.");
    this.ctx.changed();
  }

  /** @param {boolean} on */
  setTight(on) {
    this.tight = on;
    this.tightButton.setAttribute("aria-pressed", String(on));
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
   * The next row that changed, or with `mark` one that changed so; neighbours that changed alike count as one.
   * @param {number} by
   */
  nextChange(by, mark = -1) {
    const { pairs } = this.stage;
    /** @param {number} i */
    const wanted = (i) => (mark < 0 ? pairs[i].mark !== KEPT : pairs[i].mark === mark);
    const starts = pairs
      .map((_, i) => i)
      .filter((i) => wanted(i) && !(i > 0 && wanted(i - 1) && pairs[i - 1].mark === pairs[i].mark));
    if (!starts.length) return;
    const from = this.rows.selected;
    const to =
      by > 0
        ? (starts.find((i) => i > from) ?? starts[0])
        : (starts.findLast((i) => from < 0 || i < from) ?? starts.at(-1));
    this.visit(to);
    this.shell.announce(
      `${wordOf(this.stage, pairs[to].mark)}: ${this.model.text(pairs[to].after >= 0 ? pairs[to].after : pairs[to].before)}`,
    );
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
      ends: this.comparing,
    });
  }

  drawPanes() {
    const { model, pipe, at } = this;
    const { rewrites, told } = this.stage;
    this.paneTabs.button("rewrites").textContent = rewrites.length
      ? `Rewrites ${told.toLocaleString("en")}`
      : "Rewrites";
    if (!this.panes.rewrites.hidden)
      drawRewrites(this.panes.rewrites, {
        stage: this.stage,
        tree: model.tree,
        at: this.rewrite,
        onGo: (to) => this.goRewrite(to),
      });
    const stop = () => {
      this.followItem(-1);
      this.focus();
    };
    drawHistory(model, this.panes.history, {
      lives: this.lives,
      stage: this.stage.index,
      follow: this.follow,
      onStop: stop,
      onGo: (stage, item) =>
        this.moment(
          stage,
          item,
          this.list.includes(stage) ? pipe : model.pipelines.findIndex(({ list }) => list.includes(stage)),
        ),
    });
    drawTotals(model, this.panes.totals, { pipe, at, onGo: (p, i) => this.goTo(p, i) });
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
    if (this.past.length) {
      const { pipe, at, row } = this.past.pop();
      this.goTo(pipe, at);
      if (row >= 0) this.rows.select(row, { quiet: true });
    } else if (this.follow >= 0) this.followItem(-1);
    else if (this.rows.selected >= 0) {
      this.rows.select(-1, { quiet: true });
      this.ctx.changed();
    } else return false;
    this.focus();
  }

  help() {
    const marks = h(
      "dl",
      null,
      MARKS.filter(({ sign }) => sign).map(({ id, sign, word }) => [
        h("dt", null, h("span", { class: `sign s-${id}` }, sign)),
        h(
          "dd",
          null,
          word,
          id === MARKS[MOVED].id && ": the same row, elsewhere; it is there twice, once on each side",
        ),
      ]),
    );
    super.help([h("p", { class: "heading second" }, "The marks"), marks]);
  }

  destroy() {
    this.graph.destroy();
    super.destroy();
  }
}
