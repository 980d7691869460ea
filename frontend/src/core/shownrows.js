// Which rows of a program are shown and where each stands: folded blocks, a filter, heights; apart from the page.
import { enclosing, foldParameters, indexAt, offsets, rowText, visibleRows } from "./rowmodel.js";
/** @import { Row } from "../generated/common.js" */
/** @import { Keep } from "./types.js" */

export class ShownRows {
  /** The row of each shown row, in order. @type {readonly number[]} */
  visible = [];
  /** The place of each row in `visible`, or -1. */
  #indexOf = new Int32Array(0);
  /** The top of each shown row, and the height of all. */
  #y = new Float64Array(1);
  /** @type {Keep} */
  #keep = null;

  /**
   * @param {readonly Row[]} all
   * @param {boolean} foldLists whether long runs of parameters fold
   */
  constructor(all, foldLists) {
    const { rows, heads } = foldParameters(all, foldLists ? undefined : Infinity);
    this.rows = rows;
    this.heads = heads;
    this.parents = enclosing(rows);
    this.folded = new Set(heads);
    this.#indexOf = new Int32Array(rows.length);
  }

  /**
   * Finds what is shown, and puts it in its places.
   * @param {(row: number) => number} heightOf
   */
  place(heightOf) {
    this.visible = visibleRows(this.rows, this.folded, this.#keep);
    this.#indexOf = new Int32Array(this.rows.length).fill(-1);
    this.visible.forEach((row, i) => {
      this.#indexOf[row] = i;
    });
    this.#y = offsets(this.visible, heightOf);
  }

  get height() {
    return this.#y[this.visible.length];
  }

  /** Whether a search leaves rows out. */
  get filtered() {
    return this.#keep !== null;
  }

  /**
   * The place of a row among the shown ones, or -1.
   * @param {number} row
   */
  indexOf(row) {
    return this.#indexOf[row] ?? -1;
  }

  /** @param {number} index */
  topOf(index) {
    return this.#y[index];
  }

  /**
   * The index of the shown row at a height.
   * @param {number} px
   */
  at(px) {
    return indexAt(this.#y, px);
  }

  /**
   * `{ top, height }` of a shown row, or null.
   * @param {number} row
   */
  placeOf(row) {
    const i = this.indexOf(row);
    return i < 0 ? null : { top: this.#y[i], height: this.#y[i + 1] - this.#y[i] };
  }

  /**
   * The shown row that stands for `row`: itself, or the folded block around it; -1 when filtered away.
   * @param {number} row
   */
  anchor(row) {
    let at = row;
    while (at >= 0 && this.indexOf(at) < 0) at = this.parents[at];
    return at;
  }

  /** @param {number} row */
  opens(row) {
    return this.rows[row]?.end > row;
  }

  /** The width of the longest line, in characters. */
  longest() {
    return this.rows.reduce((most, row) => Math.max(most, 2 * row.depth + rowText(row).length), 0);
  }

  // --- what changes it; each says whether it did ----------------------------------------------------

  /** @param {Keep} predicate */
  filter(predicate) {
    if (this.#keep === null && predicate === null) return false;
    this.#keep = predicate;
    return true;
  }

  /**
   * Folds exactly these rows.
   * @param {readonly number[]} list
   */
  fold(list) {
    const next = list.filter((row) => this.opens(row));
    if (next.length === this.folded.size && next.every((row) => this.folded.has(row))) return false;
    this.folded.clear();
    next.forEach((row) => this.folded.add(row));
    return true;
  }

  /**
   * @param {number} row
   * @param {boolean} open
   */
  toggle(row, open) {
    if (!this.opens(row)) return false;
    if (open) this.folded.delete(row);
    else this.folded.add(row);
    return true;
  }

  /**
   * Opens the blocks around `row`.
   * @param {number} row
   */
  reveal(row) {
    let changed = false;
    for (let at = this.parents[row]; at >= 0; at = this.parents[at])
      changed = this.folded.delete(at) || changed;
    return changed;
  }

  /** Whether exactly the long runs of parameters are folded, as at the start. */
  asAtFirst() {
    return this.folded.size === this.heads.length && this.heads.every((row) => this.folded.has(row));
  }
}
