// Marks letters of what is drawn already, across the elements that it is made of, and takes the marks away again.
import { h } from "./dom.js";
import { occurrences } from "./rank.js";
/** @import { Condition } from "./query.js" */

/** What of a cell is not part of the text that is searched. */
const ASIDE = ".twist, .folded-note, .sr";

/** @param {Element} cell */
function textNodes(cell) {
  /** @type {Text[]} */
  const out = [];
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (!node.parentElement?.closest(ASIDE)) out.push(/** @type {Text} */ (node));
  return out;
}

/**
 * Puts the letters in `ranges`, [start, end] in the text of `cell`, into `mark` elements; links and listeners stay.
 * @param {Element} cell
 * @param {readonly (readonly [number, number])[]} ranges
 */
export function markLetters(cell, ranges) {
  if (!ranges.length) return;
  const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
  let at = 0;
  for (const node of textNodes(cell)) {
    const end = at + node.data.length;
    let rest = node;
    let from = at;
    for (const [start, stop] of sorted) {
      if (stop <= from || start >= end) continue;
      if (rest.parentElement?.localName === "mark") break;
      if (start > from) {
        rest = rest.splitText(start - from);
        from = start;
      }
      const part = rest;
      const length = Math.min(stop, end) - from;
      const more = length < part.data.length ? part.splitText(length) : null;
      const mark = h("mark", { class: "letters" });
      part.replaceWith(mark);
      mark.append(part);
      from += length;
      if (!more) break;
      rest = more;
    }
    at = end;
  }
}

/** @param {Element} root */
export function clearLetters(root) {
  for (const mark of root.querySelectorAll("mark.letters")) {
    const { parentElement } = mark;
    mark.replaceWith(...mark.childNodes);
    parentElement?.normalize();
  }
}

/**
 * Where a word, in small letters, stands in the text of `cell`.
 * @param {Element} cell
 * @param {string} word
 * @returns {[number, number][]}
 */
export const occurrencesIn = (cell, word) => occurrences(textOf(cell).toLowerCase(), word);

/**
 * Where the word or the expression of a condition stands in the text of `cell`.
 * @param {Element} cell
 * @param {Condition} condition
 * @returns {[number, number][]}
 */
export function lettersIn(cell, { word, regex }) {
  return regex ? regex.ranges(textOf(cell)) : occurrencesIn(cell, word);
}

/** @param {Element} cell */
const textOf = (cell) =>
  textNodes(cell)
    .map(({ data }) => data)
    .join("");
