// Names that are longer than there is room for.

const LONG = 40;

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
