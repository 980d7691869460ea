// What each row shows of its group after a step: its tint, and which part of the kernel's column it draws.

import { spanLanes } from "./lanes.js";
import { TINTS } from "./marks.js";
/** @import { FusionModel } from "./model.js" */
/** @import { FusionNode } from "../../generated/fusion.js" */

/** What a row of a group draws: its name, its numbers, the start of a later piece, or only its tint. */
export const FIRST = 1,
  SECOND = 2,
  AGAIN = 3,
  INNER = 4;

/**
 * What a row shows of its group: `root` is the group, or -1 for none; `part` one of the above; `lower` and `upper` the rows of
 * the group's next and previous piece, or -1, where this row ends or begins one.
 * @typedef {{ root: number, part: number, size: number, tint: number, lower: number, upper: number }} Entry
 */

const FIELDS = /** @type {const} */ (["root", "part", "size", "tint", "lower", "upper"]);
/** Where a field has no value. */
const NONE = { root: -1, part: 0, size: 0, tint: -1, lower: -1, upper: -1 };

/**
 * The entries of all rows; `update` brings them in line with a step, and says which rows differ from before.
 * @param {FusionModel} model
 */
export function createRowGroups(model) {
  const { onRow, nodes } = model;
  /** @type {Entry[]} */
  const entries = onRow.map(() => ({ ...NONE }));
  const next = /** @type {Record<keyof Entry, Int32Array>} */ (
    Object.fromEntries(FIELDS.map((field) => [field, new Int32Array(onRow.length)]))
  );
  const drawn = Int32Array.from(onRow.keys()).filter((row) => onRow[row].length > 0);
  const node = drawn.map((row) => onRow[row].at(-1));
  const lastRow = new Int32Array(nodes.length);
  const counts = new Int8Array(nodes.length);
  let known = "";

  /** Fills `next`. */
  function look(variant, { root, members }) {
    for (const field of FIELDS) next[field].fill(NONE[field]);
    lastRow.fill(-1);
    counts.fill(-1);
    const shown = [];
    let above = -1;
    let aboveRow = -1;
    drawn.forEach((row, i) => {
      const r = root[node[i]];
      if (counts[r] < 0) counts[r] = Number(members[r].some((n) => nodes[n].part));
      if (!counts[r]) {
        above = -1;
        return;
      }
      next.root[row] = r;
      next.size[row] = members[r].length;
      next.tint[row] = variant.tint[r];
      const seen = lastRow[r];
      if (seen < 0) next.part[row] = FIRST;
      else if (above !== r) {
        next.part[row] = AGAIN;
        next.upper[row] = seen;
        next.lower[seen] = row;
      } else next.part[row] = next.part[aboveRow] === FIRST ? SECOND : INNER;
      lastRow[r] = row;
      above = r;
      aboveRow = row;
      shown.push(row);
    });
    tellApart(shown, next);
  }

  /** @returns {number[]} the rows whose entries changed */
  function update(variant, groups) {
    const asked = `${variant.index} ${groups.version}`;
    if (known === asked) return [];
    known = asked;
    look(variant, groups);
    return entries.flatMap((entry, row) => {
      if (FIELDS.every((field) => entry[field] === next[field][row])) return [];
      for (const field of FIELDS) entry[field] = next[field][row];
      return [row];
    });
  }

  return { entries, update };
}

/** While groups form, a single operator may stand beside a group of its own tint: it takes another one. */
function tellApart(shown, { root, size, tint }) {
  shown.forEach((row, i) => {
    if (size[row] > 1) return;
    const near = [shown[i - 1], shown[i + 1]]
      .filter((other) => other !== undefined && root[other] !== root[row])
      .map((other) => tint[other]);
    if (!near.includes(tint[row])) return;
    for (let by = 1; by < TINTS; by++) {
      const other = (tint[row] + by) % TINTS;
      if (near.includes(other)) continue;
      tint[row] = other;
      return;
    }
  });
}

/**
 * A lane for each group whose rows are not together, as far as there are `most`: `Map(root → lane)`.
 * @param {FusionModel} model
 * @param {{ root: number[], members: number[][] }} groups
 * @param {number} most
 * @returns {Map<number, number>}
 */
export function groupLanes({ items, nodes }, { root, members }, most) {
  const spans = new Map();
  items.forEach(({ node, row }, at) => {
    const r = root[node];
    if (members[r].length < 2) return;
    const span = spans.get(r);
    if (span) Object.assign(span, { last: at, end: row, count: span.count + 1 });
    else spans.set(r, { first: at, last: at, start: row, end: row, count: 1 });
  });
  const apart = [...spans].filter(
    ([r, { first, last, count }]) => last - first + 1 > count && members[r].some((n) => nodes[n].part),
  );
  const lanes = spanLanes(
    apart.map(([, { start, end }]) => [start, end]),
    most,
  );
  return new Map(
    apart.map(([r], i) => /** @type {[number, number]} */ ([r, lanes[i]])).filter(([, lane]) => lane >= 0),
  );
}

/** The kernel that a group is, where it is whole; null while some of its operators are still elsewhere. */
export function wholeKernel(variant, members, drawn) {
  const kernel = variant.kernels[variant.kernelOf[members.find((n) => variant.kernelOf[n] >= 0)] ?? -1];
  if (!kernel) return null;
  const inside = new Set(members);
  return kernel.members.every((n) => inside.has(n) || !drawn(n)) ? kernel : null;
}

/**
 * What a group is called so far.
 * @param {FusionNode[]} nodes
 */
export const groupName = (nodes, members) =>
  [...members]
    .sort((a, b) => a - b)
    .map((n) => nodes[n].part)
    .filter(Boolean)
    .join("·");

/**
 * Draws rows anew, and marks them with the tints of their groups.
 * @param {import("../../core/types.js").Rows} rows
 * @param {readonly Entry[]} entries
 * @param {Iterable<number>} changed
 */
export function paint(rows, entries, changed) {
  for (const row of changed) {
    const { tint, part } = entries[row];
    for (let k = 0; k < TINTS; k++) rows.toggleMark(`k${k}`, row, k === tint);
    rows.toggleMark("piece", row, part === FIRST || part === AGAIN);
    rows.update(row);
  }
}
