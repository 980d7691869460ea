// What a view must hold before it is drawn. A file can be cut short or edited; an index that points
// nowhere must end in a sentence, not in half a picture.

/** Damage in a view's data; its message says where. */
export class Damage extends Error {
  constructor(where) {
    super(`This view cannot be drawn: its data is damaged (${where}). Make it again with relay_explorer.`);
  }
}

export function need(condition, where) {
  if (!condition) throw new Damage(where);
}

export const isIndex = (value, count) => Number.isInteger(value) && value >= 0 && value < count;

/** Whether `value` is an index below `count`, or -1. */
export const isIndexOrNone = (value, count) => value === -1 || isIndex(value, count);

/** A list whose members all pass `test`. */
export const isListOf = (value, test) => Array.isArray(value) && value.every(test);

/** Checks what every view has: title, strings, rows. */
export function checkCommon(view) {
  const strings = view.strings?.length;
  need(typeof view.title === "string" && typeof view.summary === "string", "title or summary");
  need(isListOf(view.strings, (text) => typeof text === "string"), "strings");
  const rows = view.program?.rows;
  need(Array.isArray(rows), "program");
  rows.forEach((row, i) => {
    const [kind, depth, tokens, node, end] = Array.isArray(row) ? row : [];
    const fine = isIndex(kind, 10) && Number.isInteger(depth) && depth >= 0 && Number.isInteger(node) && Array.isArray(tokens) && tokens.length % 3 === 0;
    need(fine && isIndexOrNone(end, rows.length), `row ${i + 1}`);
    for (let t = 0; t < tokens.length; t += 3) need(isIndex(tokens[t], 10) && isIndex(tokens[t + 1], strings) && Number.isInteger(tokens[t + 2]), `row ${i + 1}`);
  });
}
