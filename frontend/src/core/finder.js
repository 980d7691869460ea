// The search of an explorer: what it finds, which rows it keeps, and how a reader walks through what was found.
import { clearLetters, lettersIn, markLetters } from "./letters.js";
import { Lookup } from "./lookup.js";
import { RANKS, lettersOf } from "./rank.js";
import { createSearch } from "./search.js";
/** @import { Row } from "../generated/common.js" */
/** @import { Hit, RowScope } from "./lookup.js" */
/** @import { Condition } from "./query.js" */
/** @import { Child, Hits, Keep, Query, Rows, State } from "./types.js" */

/**
 * @typedef {object} FinderOptions
 * @property {readonly RowScope[]} scopes the first is the one that is looked in at the start
 * @property {string} placeholder
 * @property {string} [onlyLabel]
 * @property {boolean} [narrows] whether the explorer can show only what was found
 * @property {Child[]} [extra]
 * @property {number} [many] from this many rows on, the search is there without being asked for
 */

/** A grid of the explorer, the first line that is one of its rows, and the scope that it is, if any. @typedef {{ rows: Rows, first: number, count: number, scope?: string }} Grid */

const NOT_BESIDE = new Set(["is", "pattern", "attr", "op"]);

/**
 * The search of `explorer`. `hits` are the lines that were found, the best first, `matches` the same in the order of the
 * program; `keep` says which lines are shown, null all. A line is a row of the program, unless a view says otherwise.
 */
export class Finder extends Lookup {
  /**
   * @param {any} explorer
   * @param {FinderOptions} options
   */
  constructor(explorer, { scopes, many = Infinity, ...texts }) {
    super(() => explorer.view.rows, scopes);
    this.explorer = explorer;
    /** @type {readonly Condition[]} */
    this.conditions = [];
    /** @type {Hit[]} */
    this.hits = [];
    /** @type {number[]} */
    this.matches = [];
    /** The lines that a pattern describes beside its matches. @type {number[]} */
    this.parts = [];
    /** How many more there are where only letters inside a word answer. */
    this.weaker = 0;
    /** The hit that was visited last, or -1. */
    this.at = -1;
    /** @type {Keep} */
    this.keep = null;
    this.always = explorer.view.rows.length >= many;
    this.search = createSearch({
      ...texts,
      scopes,
      fields: this.fields,
      onChange: (query) => this.filter(query),
      onMove: (by) => this.move(by),
      onPick: (index) => this.pick(index),
      list: () => this.listed(),
    });
    this.search.el.hidden = !this.always;
  }

  // --- what a view's finder may say otherwise --------------------------------------------------------

  /** @returns {readonly Grid[]} */
  grids() {
    return [{ rows: this.explorer.rows, first: 0, count: Infinity }];
  }

  /** The line that is selected, or -1. */
  get from() {
    return this.explorer.rows.selected;
  }

  /** @param {number} line */
  visit(line) {
    const { rows } = this.explorer;
    rows.reveal(line);
    rows.select(line, { byReader: true });
  }

  // --- finding --------------------------------------------------------------------------------------

  /**
   * Searches for the text of the search box; returns what was found.
   * @param {Query} query
   * @returns {Hits}
   */
  filter(query) {
    const { conditions, hits, weaker, problem } = this.find(query.query, query.scope);
    Object.assign(this, { conditions, hits, weaker });
    this.matches = hits.map(({ line }) => line).sort((a, b) => a - b);
    this.parts = this.partsOf(hits, conditions);
    this.at = -1;
    const matching = new Set(this.matches);
    this.keep = query.only && conditions.length ? (line) => matching.has(line) : null;
    this.show(query);
    if (this.explorer.ready) this.explorer.ctx.changed();
    return { count: this.hitCount(query), problem };
  }

  /**
   * Return the number of hits.
   * @param {Query} _query
   */
  hitCount(_query) {
    return this.hits.length;
  }

  /**
   * Shows the rows that are kept, marks those that match and their letters, and dims the steps that are left out.
   * @param {Query} query
   */
  show({ only, scope }) {
    const found = new Set([...this.matches, ...this.parts]);
    for (const { rows, first, count, scope: own } of this.grids()) {
      if (!rows) continue;
      const { keep } = this;
      const other = own !== undefined && scope !== "all" && scope !== own;
      this.narrow(rows, keep && !other ? (row) => keep(row + first) : null);
      const inside = (/** @type {number[]} */ lines) =>
        lines.filter((line) => line >= first && line < first + count).map((line) => line - first);
      rows.mark("match", only ? [] : inside(this.matches));
      rows.mark("match-part", inside(this.parts));
      rows.dress(found.size ? (row, node) => found.has(row + first) && this.dress(row + first, node) : null);
    }
    this.explorer.keepSteps?.();
  }

  /**
   * Shows only the rows of a grid that are kept.
   * @param {Rows} rows
   * @param {Keep} keep
   */
  narrow(rows, keep) {
    rows.filter(keep);
  }

  /**
   * Marks the letters that were found in a row of the page.
   * @param {number} line
   * @param {HTMLElement} node
   */
  dress(line, node) {
    const [row] = this.rowsAt(line);
    this.dressRow(row, node.querySelector(".cell.code"));
    for (const cell of node.querySelectorAll(".cell:not(.code)"))
      for (const condition of this.conditions)
        if (!NOT_BESIDE.has(condition.field)) markLetters(cell, lettersIn(cell, condition));
  }

  /**
   * @param {Row | undefined} row
   * @param {Element | null} cell
   * @param {number} [before] letters in the cell that stand before the row's
   */
  dressRow(row, cell, before = 0) {
    if (!row || !cell) return;
    clearLetters(cell);
    const letters = this.conditions.flatMap((condition) => lettersOf(row, condition));
    markLetters(
      cell,
      letters.map(([from, to]) => /** @type {[number, number]} */ ([from + before, to + before])),
    );
  }

  // --- walking --------------------------------------------------------------------------------------

  /**
   * To the next hit, or the one before, around the end; the first is the best one.
   * @param {number} by
   */
  move(by) {
    const { hits, from } = this;
    if (!hits.length) return;
    const here = hits[this.at]?.line === from ? this.at : hits.findIndex(({ line }) => line === from);
    const start = here >= 0 ? here : this.at;
    this.pick(start < 0 ? (by > 0 ? 0 : hits.length - 1) : (start + by + hits.length) % hits.length);
  }

  /**
   * Visits a hit.
   * @param {number} index
   */
  pick(index) {
    const hit = this.hits[index];
    if (!hit) return;
    // The first hit leads away from where the reader was; from then on the search itself leads back and forth.
    if (this.at < 0) this.explorer.ctx.places.remember();
    this.at = index;
    this.visit(hit.line);
    this.search.tell(index);
  }

  /** The hits as the search box lists them: `{ at, weaker, entries }`. */
  listed() {
    return {
      at: this.at,
      weaker: this.weaker,
      entries: this.hits.map(({ line, rank }) => ({ ...this.describe(line), group: RANKS[rank] })),
    };
  }

  // --- state ----------------------------------------------------------------------------------------

  /** @param {State} state */
  restore(state) {
    this.search.set({ query: state.q, scope: state.in ?? this.scopes[0].id, only: state.only === "1" });
    if (!state.q && state.only !== "1") this.search.el.hidden = !this.always;
  }

  close() {
    this.search.close();
    this.search.el.hidden = !this.always;
  }
}
