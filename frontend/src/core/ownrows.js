// The rows of the program that a reader may edit: in some views they stand among others.
/** @import { Row } from "../generated/common.js" */

/** The kind of a row with a result. */
const RESULT = 5;

/** By view. @type {Record<string, (view: any) => Row[]>} */
const OWN = {
  /** The nodes of the model come first. */
  source: ({ rows, split }) => rows.slice(split),
  compare: ({ a }) => a.rows,
  /** The result is paired with the derivatives. */
  gradient({ rows }) {
    const last = rows.findLastIndex((/** @type {Row} */ { kind }) => kind === RESULT);
    return rows.map((/** @type {Row} */ row, /** @type {number} */ i) =>
      i === last ? { ...row, tokens: row.tokens.slice(1, 2) } : row,
    );
  },
};

/**
 * @param {any} view
 * @returns {Row[]}
 */
export const own = (view) => OWN[view.view]?.(view) ?? view.rows ?? [];
