// A stage as rows: the program before in the first column, what it became beside it.
import { KEPT } from "./marks.js";
/** @import { PipelineView } from "../../generated/pipeline.js" */
/** @import { Token } from "../../generated/common.js" */

const FEWEST = 4;
const MOST_TOKENS = 240;
const LOCAL = 2;

/** Runs of kept rows that can fold, without the row next to a change: `[[first, last], …]`. `blank(pair)`: not to stand for a run. */
export function stretches(pairs, blank = (/** @type {any} */ _pair) => false) {
  const out = [];
  for (let i = 0; i < pairs.length; i++) {
    if (pairs[i].mark !== KEPT) continue;
    let last = i;
    while (pairs[last + 1]?.mark === KEPT) last += 1;
    const to = last === pairs.length - 1 ? last : last - 1;
    let from = i === 0 ? 0 : i + 1;
    while (from < to && blank(pairs[from])) from += 1;
    // A stage without any change is not folded away: there would be nothing left to read.
    if (to - from + 1 >= FEWEST && last - i + 1 < pairs.length) out.push([from, to]);
    i = last;
  }
  return out;
}

/**
 * The view that `createRows` draws: one row for each pair, with the program before; runs of kept rows are its blocks.
 * @param {PipelineView} view
 */
export function alignedView(view, pairs, blocks = stretches(pairs)) {
  const { rows } = view;
  const ends = new Map(blocks);
  const out = pairs.map(({ before, after }, i) => {
    const own = rows[before >= 0 ? before : after];
    return { ...own, tokens: before >= 0 ? own.tokens : [], node: -1, end: ends.get(i) ?? -1 };
  });
  return { reference: /** @type {any} */ (view).reference, rows: out };
}

/**
 * The tokens of a row: `[{ kind, text, ref }]`.
 * @param {PipelineView} view
 * @param {number} row
 */
export const tokensOf = (view, row) => view.rows[row].tokens;

/**
 * Which tokens of two rows are only in one of them: `[changed in the first, changed in the second]`, a list of booleans each.
 * Two local names are the same where `same(ref, ref)` says that one came from the other, whatever their numbers.
 * @param {Token[]} left
 * @param {Token[]} right
 */
export function differing(left, right, same) {
  /**
   * @param {Token} a
   * @param {Token} b
   */
  const equal = (a, b) =>
    a.kind === b.kind && (a.text === b.text || (a.kind === LOCAL && same(a.ref, b.ref)));
  const [n, m] = [left.length, right.length];
  const changed = [left.map(() => true), right.map(() => true)];
  if (n > MOST_TOKENS || m > MOST_TOKENS) return changed;
  // The longest common subsequence, from the end.
  const best = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
  for (let i = n - 1; i >= 0; i--)
    for (let j = m - 1; j >= 0; j--)
      best[i][j] = equal(left[i], right[j])
        ? best[i + 1][j + 1] + 1
        : Math.max(best[i + 1][j], best[i][j + 1]);
  for (let i = 0, j = 0; i < n && j < m;) {
    if (equal(left[i], right[j])) {
      changed[0][i++] = false;
      changed[1][j++] = false;
    } else if (best[i + 1][j] >= best[i][j + 1]) i += 1;
    else j += 1;
  }
  return changed;
}
