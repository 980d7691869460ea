// Which rows are shown and where: folding, filtering and heights, apart from any drawing.

export const KIND = 0, DEPTH = 1, TOKENS = 2, NODE = 3, END = 4;

const PARAMETER = 2;
const MANY = 12;

/**
 * The rows with long runs of parameters made into blocks: the first one opens a block that holds the others.
 * Returns the rows and the heads of those blocks, which start out folded.
 */
export function foldParameters(rows, many = MANY) {
  const out = [...rows];
  const heads = [];
  for (let row = 0; row < rows.length; row++) {
    const from = row;
    while (rows[row]?.[KIND] === PARAMETER && rows[row + 1]?.[KIND] === PARAMETER) row++;
    if (row - from + 1 < many) continue;
    out[from] = Object.assign([...rows[from]], { [END]: row });
    heads.push(from);
  }
  return { rows: out, heads };
}

/** The text of a row, without its indentation. */
export function rowText(row, strings) {
  let text = "";
  for (let i = 1; i < row[TOKENS].length; i += 3) text += strings[row[TOKENS][i]];
  return text;
}

/** The rows that are shown, in order: not inside a folded block, and kept by `keep(row)` when given. */
export function visibleRows(rows, folded, keep = null) {
  const out = [];
  for (let row = 0; row < rows.length; row++) {
    if (!keep || keep(row)) out.push(row);
    // A folded block shows its first line only; while filtering, blocks are open.
    if (!keep && folded.has(row) && rows[row][END] > row) row = rows[row][END];
  }
  return out;
}

/** Offsets of the shown rows: `y[i]` is the top of the i-th, `y[n]` the total height. */
export function offsets(visible, heightOf) {
  const y = new Float64Array(visible.length + 1);
  for (let i = 0; i < visible.length; i++) y[i + 1] = y[i] + heightOf(visible[i]);
  return y;
}

/** The index of the last offset that is at most `value` (and a row). */
export function indexAt(y, value) {
  let low = 0;
  let high = y.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (y[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/** For every row, the innermost row whose block holds it, or -1. */
export function enclosing(rows) {
  const parent = new Int32Array(rows.length).fill(-1);
  const open = [];
  rows.forEach((row, i) => {
    while (open.length && rows[open.at(-1)][END] < i) open.pop();
    parent[i] = open.length ? open.at(-1) : -1;
    if (row[END] > i) open.push(i);
  });
  return parent;
}
