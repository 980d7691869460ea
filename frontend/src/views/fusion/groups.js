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
 * The rows' groups: `{ root, part, size, tint, lower, upper, piece }` for each row. `root` is the group, or -1 for none;
 * `part` one of the above; `lower` and `upper` the rows of the group's next and previous piece, or -1, where this row
 * ends or begins one; `piece` whether the row begins one.
 * @param {FusionModel} model
 */
export function rowGroups(model, variant, { root, members }) {
  const { onRow, nodes } = model;
  const counts = (r) => members[r].some((n) => nodes[n].part);
  const known = new Map();
  const out = onRow.map(() => ({ root: -1, part: 0, size: 0, tint: -1, lower: -1, upper: -1, piece: false }));
  const lastRow = new Map();
  let above = -1;
  let aboveRow = -1;
  onRow.forEach((list, row) => {
    if (!list.length) return;
    const r = root[list.at(-1)];
    if (!known.has(r)) known.set(r, counts(r));
    const entry = out[row];
    if (!known.get(r)) {
      above = -1;
      return;
    }
    Object.assign(entry, { root: r, size: members[r].length, tint: variant.tint[r] });
    const seen = lastRow.get(r);
    if (seen === undefined) entry.part = FIRST;
    else if (above !== r) entry.part = AGAIN;
    else entry.part = out[aboveRow].part === FIRST ? SECOND : INNER;
    entry.piece = seen === undefined || above !== r;
    if (entry.part === AGAIN) {
      entry.upper = seen;
      out[seen].lower = row;
    }
    lastRow.set(r, row);
    above = r;
    aboveRow = row;
  });
  tellApart(out.filter(({ root }) => root >= 0));
  return out;
}

/** While groups form, a single operator may stand beside a group of its own tint: it takes another one. */
function tellApart(entries) {
  entries.forEach((entry, i) => {
    const near = [entries[i - 1], entries[i + 1]]
      .filter((other) => other && other.root !== entry.root)
      .map(({ tint }) => tint);
    if (entry.size > 1 || !near.includes(entry.tint)) return;
    for (let by = 1; by < TINTS; by++) {
      const other = (entry.tint + by) % TINTS;
      if (near.includes(other)) continue;
      entry.tint = other;
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

/** Marks the rows with the tints of their groups, and draws those anew that differ from `before`; all where it is null. */
export function paint(rows, entries, before) {
  const byTint = Array.from({ length: TINTS }, () => []);
  const pieces = [];
  entries.forEach((entry, row) => {
    if (entry.tint >= 0) byTint[entry.tint].push(row);
    if (entry.piece) pieces.push(row);
    if (!before || !alike(entry, before[row])) rows.update(row);
  });
  byTint.forEach((list, k) => rows.mark(`k${k}`, list));
  rows.mark("piece", pieces);
}

/** Whether two entries of rowGroups are drawn alike. */
const alike = (a, b) =>
  a.root === b.root &&
  a.tint === b.tint &&
  a.part === b.part &&
  a.size === b.size &&
  a.lower === b.lower &&
  a.upper === b.upper;
