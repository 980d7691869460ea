// How wide the graph's texts are: measured where there is a canvas, else estimated.

export const FONT = 12.5; // of labels at scale 1, pixels
export const LONGEST = 34; // letters of a label that have room; the rest is cut

const LETTER = { mono: 0.605, ui: 0.62 }; // the width of a letter, as a share of the font's size

/**
 * The fonts of labels: of nodes, and of groups.
 * @param {{ mono: string, ui: string }} families
 * @param {number} size
 */
export const fonts = ({ mono, ui }, size) => ({ mono: `${size}px ${mono}`, ui: `600 ${size}px ${ui}` });

/** @typedef {(text: string, font?: "mono" | "ui") => number} Measure */

/** @type {Measure} */
export const estimate = (text, font = "mono") => [...text].length * LETTER[font] * FONT;

/**
 * Measures with the fonts of the page; each text once.
 * @param {{ mono: string, ui: string }} families
 * @returns {Measure}
 */
export function createMeasure(families) {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return estimate;
  const byFont = fonts(families, FONT);
  /** @type {Record<"mono" | "ui", Map<string, number>>} */
  const widths = { mono: new Map(), ui: new Map() };
  return (text, font = "mono") => {
    let width = widths[font].get(text);
    if (width === undefined) {
      context.font = byFont[font];
      widths[font].set(text, (width = context.measureText(text).width));
    }
    return width;
  };
}

/**
 * The beginning of a label that has room, with an ellipsis where it is not all.
 * @param {string} text
 */
export function shortened(text) {
  if (text.length <= LONGEST) return text;
  const letters = [...text];
  return letters.length <= LONGEST ? text : `${letters.slice(0, LONGEST - 1).join("")}…`;
}
