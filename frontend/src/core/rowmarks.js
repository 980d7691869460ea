// What is marked in rows: classes, lit names, and what a search draws into them. Marks outlast their rows: a row that comes
// into the window again has them.
import { clearLetters } from "./letters.js";

/**
 * `mounted` has the rows in the page, `anchor(row)` the shown row that stands for one.
 * @param {{ inner: HTMLElement, mounted: Map<number, HTMLElement>, anchor: (row: number) => number }} options
 */
export function createRowMarks({ inner, mounted, anchor }) {
  /** What was asked for, and how many of it each shown row stands for. @type {Map<string, { asked: Set<number>, shown: Map<number, number> }>} */
  const marks = new Map();
  /** What is done to a row once it is drawn. @type {((row: number, node: HTMLElement) => unknown) | null} */
  let dressing = null;
  /** What the lit tokens name. @type {Set<number>} */
  let lit = new Set();

  /** @param {Iterable<number>} asked */
  function countOf(asked) {
    /** @type {Map<number, number>} */
    const shown = new Map();
    for (const row of asked) {
      const at = anchor(row);
      if (at >= 0) shown.set(at, (shown.get(at) ?? 0) + 1);
    }
    return shown;
  }

  /** @param {string} name */
  function markOf(name) {
    const mark = marks.get(name) ?? { asked: new Set(), shown: new Map() };
    marks.set(name, mark);
    return mark;
  }

  /**
   * @param {string} name
   * @param {number} row
   * @param {boolean} on
   */
  function toggle(name, row, on) {
    const { asked, shown } = markOf(name);
    if (asked.has(row) === on) return;
    if (on) asked.add(row);
    else asked.delete(row);
    const at = anchor(row);
    if (at < 0) return;
    const count = (shown.get(at) ?? 0) + (on ? 1 : -1);
    if (count > 0) shown.set(at, count);
    else shown.delete(at);
    mounted.get(at)?.classList.toggle(`is-${name}`, count > 0);
  }

  /**
   * Lights the tokens below `node` that name one of `lit`.
   * @param {HTMLElement} node
   */
  function shine(node) {
    for (const token of /** @type {NodeListOf<HTMLElement>} */ (node.querySelectorAll("[data-ref]")))
      if (lit.has(Number(token.dataset.ref))) token.classList.add("is-lit");
  }

  return {
    /**
     * Puts the class `is-NAME` on the rows of `list`, or on the folded blocks that hold them.
     * @param {string} name
     * @param {Iterable<number>} list
     */
    mark(name, list) {
      const asked = new Set(list);
      const next = countOf(asked);
      const before = markOf(name).shown;
      marks.set(name, { asked, shown: next });
      for (const row of before.keys()) if (!next.has(row)) mounted.get(row)?.classList.remove(`is-${name}`);
      for (const row of next.keys()) mounted.get(row)?.classList.add(`is-${name}`);
    },
    /** Puts a mark on one row, or takes it away: of many marked rows, few change at a step. */
    toggle,
    /**
     * The rows that have a mark, or the folded blocks that hold them.
     * @param {string} name
     * @returns {Iterable<number>}
     */
    shown: (name) => markOf(name).shown.keys(),
    /** Other rows are shown: some marks are on others now. */
    replace() {
      for (const mark of marks.values()) mark.shown = countOf(mark.asked);
    },
    /**
     * Marks a row that was drawn anew.
     * @param {number} row
     * @param {HTMLElement} node
     */
    put(row, node) {
      for (const [name, { shown }] of marks) if (shown.has(row)) node.classList.add(`is-${name}`);
      if (lit.size) shine(node);
      dressing?.(row, node);
    },
    /**
     * The cells of a row were drawn anew.
     * @param {number} row
     * @param {HTMLElement} node
     */
    redress: (row, node) => dressing?.(row, node),
    /**
     * Has `draw(row, node)` called of every row that is drawn; null takes away what it marked. Says whether anything changed.
     * @param {((row: number, node: HTMLElement) => unknown) | null} draw
     */
    dress(draw) {
      if (dressing === null && draw === null) return false;
      dressing = draw;
      for (const [row, node] of mounted) {
        clearLetters(node);
        dressing?.(row, node);
      }
      return true;
    },
    /**
     * Lights every token that names one of `refs`.
     * @param {Iterable<number>} refs
     */
    light(refs) {
      const before = lit;
      lit = new Set(refs);
      if (before.size) for (const node of inner.querySelectorAll(".is-lit")) node.classList.remove("is-lit");
      if (lit.size) shine(inner);
    },
  };
}
