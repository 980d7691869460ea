// Which rows are shown and where: folding, filtering and heights, apart from any drawing.

/** @import { Row } from "../generated/common.js" */
/** @import { Keep } from "./types.js" */

const PARAMETER = 2;
const MANY = 12;

/**
 * The rows with long runs of parameters made into blocks: the first one opens a block that holds the others.
 * Returns the rows and the heads of those blocks, which start out folded.
 * @param {readonly Row[]} rows
 */
export function foldParameters(rows, many = MANY) {
  const out = [...rows];
  const heads = [];
  for (let row = 0; row < rows.length; row++) {
    const from = row;
    while (rows[row]?.kind === PARAMETER && rows[row + 1]?.kind === PARAMETER) row++;
    if (row - from + 1 < many) continue;
    out[from] = { ...rows[from], end: row };
    heads.push(from);
  }
  return { rows: out, heads };
}

/**
 * The text of a row, without its indentation.
 * @param {Pick<Row, "tokens">} row
 */
export const rowText = (row) => row.tokens.map(({ text }) => text).join("");

/**
 * The rows that are shown, in order: not inside a folded block, and kept by `keep(row)` when given.
 * @param {readonly Row[]} rows
 * @param {ReadonlySet<number>} folded
 * @param {Keep} keep
 */
export function visibleRows(rows, folded, keep = null) {
  const out = [];
  for (let row = 0; row < rows.length; row++) {
    if (!keep || keep(row)) out.push(row);
    // A folded block shows its first line only; while filtering, blocks are open.
    if (!keep && folded.has(row) && rows[row].end > row) row = rows[row].end;
  }
  return out;
}

/**
 * Offsets of the shown rows: `y[i]` is the top of the i-th, `y[n]` the total height.
 * @param {readonly number[]} visible
 * @param {(row: number) => number} heightOf
 */
export function offsets(visible, heightOf) {
  const y = new Float64Array(visible.length + 1);
  for (let i = 0; i < visible.length; i++) y[i + 1] = y[i] + heightOf(visible[i]);
  return y;
}

/**
 * The index of the last offset that is at most `value` (and a row).
 * @param {Float64Array} y
 * @param {number} value
 */
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

/**
 * For every row, the innermost row whose block holds it, or -1.
 * @param {readonly Row[]} rows
 */
export function enclosing(rows) {
  const parent = new Int32Array(rows.length).fill(-1);
  /** @type {number[]} */
  const open = [];
  rows.forEach((row, i) => {
    while (open.length && rows[open[open.length - 1]].end < i) open.pop();
    parent[i] = open.at(-1) ?? -1;
    if (row.end > i) open.push(i);
  });
  return parent;
}
