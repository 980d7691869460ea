// Names that are longer than there is room for.
import { fill, h } from "./dom.js";
/** @import { Child } from "./types.js" */

const LONG = 40;
/** Letters of a name in a sentence: with more, the sentence would be about the name. */
const IN_SENTENCE = 60;

/**
 * A text of at most `most` letters: its beginning and, since names of one kind differ at their end, its end.
 * @param {string} text
 */
export function shortened(text, most = LONG) {
  const letters = [...text];
  if (letters.length <= most) return text;
  const end = Math.floor((most - 1) / 3);
  return `${letters.slice(0, most - 1 - end).join("")}…${letters.slice(-end).join("")}`;
}

/**
 * A name in a sentence: where it is long, its beginning and end, with a button that shows the whole.
 * @param {Child} node the element that holds only the name
 * @param {string} name
 * @returns {Child}
 */
export function withRoom(node, name) {
  if ([...name].length <= IN_SENTENCE || !(node instanceof HTMLElement)) return node;
  let whole = false;
  const more = h(
    "button",
    {
      class: "whole-name",
      type: "button",
      onclick: () => {
        whole = !whole;
        draw();
      },
    },
    "…",
  );
  function draw() {
    fill(/** @type {HTMLElement} */ (node), whole ? name : shortened(name, IN_SENTENCE));
    more.setAttribute("aria-expanded", String(whole));
    more.setAttribute("aria-label", whole ? "shorten the name" : "the whole name");
    more.title = whole ? "shorten the name" : name;
  }
  draw();
  return [node, more];
}
