// The search of an explorer: what it finds, which rows it keeps, and how a reader walks through what was found.
import { importedText } from "./imported.js";
import { rowText } from "./rowmodel.js";
import { createSearch } from "./search.js";
/** @import { Child, Keep, Query, Scope, State } from "./types.js" */

/**
 * Where a search looks, and whether a row has there what is wanted, given in small letters.
 * @typedef {Scope & { has(row: number, wanted: string): boolean }} RowScope
 */

/**
 * @typedef {object} FinderOptions
 * @property {readonly (Scope | RowScope)[]} scopes the first is the one that is looked in at the start
 * @property {string} placeholder
 * @property {string} [onlyLabel]
 * @property {Child[]} [extra]
 * @property {number} [many] from this many rows on, the search is there without being asked for
 */

/**
 * Whether one of `texts` has what is wanted.
 * @param {readonly string[]} texts
 * @param {string} wanted
 */
export const some = (texts, wanted) => texts.some((text) => text.toLowerCase().includes(wanted));

/**
 * The text of every row, and of the node that it was imported from, in small letters.
 * @param {{ rows: readonly import("../generated/common.js").Row[] }} view
 */
export const rowTexts = (view) => view.rows.map(rowWords);

/**
 * @param {import("../generated/common.js").Row} row
 */
export const rowWords = (row) => `${rowText(row)} ${importedText(row.imported)}`.trim().toLowerCase();

/**
 * Of `count` rows those where `wanted` is found in a scope, in order; in the first scope, where there is no such.
 * @param {readonly RowScope[]} scopes
 * @param {number} count
 * @param {string} wanted
 * @param {string} scope
 */
export function matching(scopes, count, wanted, scope) {
  const { has } = scopes.find(({ id }) => id === scope) ?? scopes[0];
  return Array.from({ length: count }, (_, row) => row).filter((row) => has(row, wanted));
}

/** The search of `explorer`: `matches` are the rows that were found, `keep` says which rows are shown, null all. */
export class Finder {
  /**
   * @param {any} explorer
   * @param {FinderOptions} options
   */
  constructor(explorer, { scopes, many = Infinity, ...texts }) {
    this.explorer = explorer;
    this.scopes = scopes;
    /** @type {number[]} */
    this.matches = [];
    /** @type {Keep} */
    this.keep = null;
    this.always = explorer.view.rows.length >= many;
    this.search = createSearch({
      ...texts,
      scopes,
      onChange: (query) => this.filter(query),
      onMove: (by) => this.move(by),
    });
    this.search.el.hidden = !this.always;
  }

  /**
   * The rows where `wanted`, in small letters, is found, in order.
   * @param {string} wanted
   * @param {string} scope
   * @returns {number[]}
   */
  match(wanted, scope) {
    return matching(/** @type {RowScope[]} */ (this.scopes), this.rowCount, wanted, scope);
  }

  /**
   * Searches for the text of the search box; returns the number of hits.
   * @param {Query} query
   */
  filter(query) {
    const wanted = query.query.toLowerCase();
    this.matches = wanted ? this.match(wanted, query.scope) : [];
    const matching = new Set(this.matches);
    this.keep = query.only && wanted ? (row) => matching.has(row) : null;
    this.show(query);
    if (this.explorer.ready) this.explorer.ctx.changed();
    return this.matches.length;
  }

  /**
   * Shows the rows that are kept, marks those that match, and dims the steps that are left out.
   * @param {Query} query
   */
  show({ only }) {
    const { rows } = this.explorer;
    rows.filter(this.keep);
    rows.mark("match", only ? [] : this.matches);
    this.explorer.keepSteps();
  }

  /** How many rows are looked at. */
  get rowCount() {
    return this.explorer.view.rows.length;
  }

  /** The row from which the next match is looked for. */
  get from() {
    return this.explorer.rows.selected;
  }

  /**
   * To the next match, or the one before, around the end.
   * @param {number} by
   */
  move(by) {
    const { matches, from } = this;
    if (!matches.length) return;
    const next = by > 0 ? matches.find((row) => row > from) : matches.findLast((row) => row < from);
    this.visit(next ?? matches[by > 0 ? 0 : matches.length - 1]);
  }

  /** @param {number} row */
  visit(row) {
    const { rows } = this.explorer;
    rows.reveal(row);
    rows.select(row, { byReader: true });
  }

  /** @param {State} state */
  restore(state) {
    this.search.set({ query: state.q, scope: state.in ?? "all", only: state.only === "1" });
    if (!state.q && state.only !== "1") this.search.el.hidden = !this.always;
  }

  close() {
    this.search.close();
    this.search.el.hidden = !this.always;
  }
}
