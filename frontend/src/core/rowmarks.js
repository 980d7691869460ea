// What is marked in rows: classes, lit names, and what a search draws into them. Marks outlast their rows: a row that comes
// into the window again has them.
import { clearLetters } from "./letters.js";

/**
 * `mounted` has the rows in the page, `anchor(row)` the shown row that stands for one.
 * @param {{ inner: HTMLElement, mounted: Map<number, HTMLElement>, anchor: (row: number) => number }} options
 */
export function createRowMarks({ inner, mounted, anchor }) {
  /** @type {Map<string, { asked: number[], shown: Set<number> }>} */
  const marks = new Map();
  /** What is done to a row once it is drawn. @type {((row: number, node: HTMLElement) => unknown) | null} */
  let dressing = null;
  /** What the lit tokens name. @type {Set<number>} */
  let lit = new Set();

  /** @param {readonly number[]} asked */
  const shownOf = (asked) => new Set(asked.map(anchor).filter((row) => row >= 0));

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
      const asked = [...list];
      const next = shownOf(asked);
      const before = marks.get(name)?.shown ?? new Set();
      marks.set(name, { asked, shown: next });
      for (const row of before) if (!next.has(row)) mounted.get(row)?.classList.remove(`is-${name}`);
      for (const row of next) mounted.get(row)?.classList.add(`is-${name}`);
    },
    /**
     * The rows that have a mark, or the folded blocks that hold them.
     * @param {string} name
     * @returns {Iterable<number>}
     */
    shown: (name) => marks.get(name)?.shown ?? [],
    /** Other rows are shown: some marks are on others now. */
    replace() {
      for (const entry of marks.values()) entry.shown = shownOf(entry.asked);
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
