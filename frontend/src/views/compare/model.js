// The comparison as it is drawn: which rows and nodes correspond, and the lines of each form of the text.
import { differing, stretches } from "../pipeline/align.js";
import { FATES, KEPT, MOVED, REWRITTEN, TYPE_ONLY } from "./marks.js";
/** @import { CompareView } from "../../generated/compare.js" */
/** @import { Row, Token } from "../../generated/common.js" */

/** @typedef {"a" | "b"} SideName */
/** @typedef {"sides" | "a" | "b" | "both"} Form how the text is drawn */
/** One row of the text: a pair, and of which program it shows the row. @typedef {{ pair: number, side: SideName }} Line */

/** A token that only the unified form has: the sign before a row. */
const SIGN = 9;
/** The letters of the sign and of the space after it. */
export const SIGN_LETTERS = 2;

/** @type {(side: SideName) => SideName} */
export const otherSide = (side) => (side === "a" ? "b" : "a");

/** @param {CompareView} view */
export function createModel(view) {
  const { pairs, differences } = view;
  const sides = { a: view.a, b: view.b };
  /** Names in B are counted after those in A, so that no two names have the same number. */
  const offset = view.a.nodes.length;
  const partners = { a: view.partners, b: new Array(view.b.nodes.length).fill(-1) };
  view.partners.forEach((to, from) => {
    if (to >= 0) partners.b[to] = from;
  });
  const pairOf = { a: new Int32Array(view.a.rows.length), b: new Int32Array(view.b.rows.length) };
  pairs.forEach((pair, i) => {
    for (const side of /** @type {SideName[]} */ (["a", "b"]))
      if (pair[side] >= 0) pairOf[side][pair[side]] = i;
  });
  /** Of each pair, the difference that it is a part of, or -1. */
  const differenceOf = new Int32Array(pairs.length).fill(-1);
  differences.forEach(({ first, last }, d) => {
    for (let i = first; i >= 0 && i <= last; i++) differenceOf[i] = d;
  });
  pairs.forEach(({ fate, other }, i) => {
    if (fate === MOVED && differenceOf[i] < 0) differenceOf[i] = differenceOf[other];
  });

  /**
   * The row that a pair shows of a program, or null.
   * @param {number} pair
   * @param {SideName} side
   * @returns {Row | null}
   */
  const row = (pair, side) => (pairs[pair][side] >= 0 ? sides[side].rows[pairs[pair][side]] : null);

  /**
   * The tokens of a row, with names counted as the model counts them.
   * @param {number} pair
   * @param {SideName} side
   * @returns {Token[]}
   */
  function tokens(pair, side) {
    const own = row(pair, side)?.tokens ?? [];
    return side === "a"
      ? own
      : own.map((token) => (token.ref < 0 ? token : { ...token, ref: token.ref + offset }));
  }

  /** @param {number} ref */
  const sideOf = (ref) => /** @type {SideName} */ (ref < offset ? "a" : "b");
  /** @param {number} ref */
  const nodeOf = (ref) => (ref < offset ? ref : ref - offset);
  /**
   * @param {SideName} side
   * @param {number} node
   */
  const refOf = (side, node) => (node < 0 ? -1 : side === "a" ? node : node + offset);

  /**
   * A name and the one that corresponds to it.
   * @param {number} ref
   */
  function related(ref) {
    const side = sideOf(ref);
    const partner = partners[side][nodeOf(ref)] ?? -1;
    return partner < 0 ? [ref] : [ref, refOf(otherSide(side), partner)];
  }

  /**
   * The tokens that only one row of a pair has.
   * @param {number} pair
   */
  function changed(pair) {
    const same = (/** @type {number} */ x, /** @type {number} */ y) => x >= 0 && related(x).includes(y);
    return differing(tokens(pair, "a"), tokens(pair, "b"), same);
  }

  /**
   * The fate of a node: that of the row that defines it, else whether it has a partner.
   * @param {SideName} side
   * @param {number} node
   */
  function fateOf(side, node) {
    const { nodes, rows } = sides[side];
    const at = nodes[node].row;
    if (at >= 0 && rows[at].node === node) return pairs[pairOf[side][at]].fate;
    return partners[side][node] >= 0 ? KEPT : side === "a" ? 3 : 2;
  }

  /**
   * The lines of a form of the text.
   * @param {Form} form
   * @returns {Line[]}
   */
  function lines(form) {
    return pairs.flatMap((pair, i) => {
      const own = /** @type {SideName} */ (pair.a >= 0 ? "a" : "b");
      if (form !== "both") return [{ pair: i, side: form === "b" ? "b" : form === "a" ? "a" : own }];
      if (pair.fate === KEPT || pair.differs === TYPE_ONLY || pair.a < 0 || pair.b < 0)
        return [{ pair: i, side: own }];
      return [
        { pair: i, side: /** @type {SideName} */ ("a") },
        { pair: i, side: /** @type {SideName} */ ("b") },
      ];
    });
  }

  /**
   * What `createRows` draws, and the blocks of equal rows that can fold.
   * @param {Form} form
   */
  function program(form) {
    const shown = lines(form);
    const marks = shown.map(({ pair }) => ({ mark: pairs[pair].fate }));
    const blocks = stretches(marks);
    const ends = new Map(blocks);
    const rows = shown.map(({ pair, side }, i) => {
      const first = form === "sides" ? "a" : side;
      const own = row(pair, first) ?? row(pair, otherSide(first));
      const { fate, differs } = pairs[pair];
      const whole = fate === MOVED || (fate === REWRITTEN && differs === TYPE_ONLY);
      const sign = fate === KEPT ? "  " : `${whole ? FATES[fate].sign : side === "a" ? "−" : "+"} `;
      const text = row(pair, first) ? tokens(pair, first) : [];
      return {
        ...own,
        tokens: form === "both" ? [{ kind: SIGN, text: sign, ref: -1 }, ...text] : text,
        node: -1,
        end: ends.get(i) ?? -1,
      };
    });
    return { lines: shown, blocks, view: { reference: /** @type {any} */ (view).reference, rows } };
  }

  return {
    view,
    sides,
    pairs,
    differences,
    partners,
    pairOf,
    differenceOf,
    row,
    tokens,
    sideOf,
    nodeOf,
    refOf,
    related,
    changed,
    fateOf,
    program,
  };
}

/** @typedef {ReturnType<typeof createModel>} CompareModel */
