// From the model and what is folded to the input of the layout; and what is folded at the start.

import { NOTE } from "../../graph/items.js";
import { estimate, shortened } from "../../graph/measure.js";
import { EMPTY, RUN } from "../../graph/model.js";
import { widthFor } from "../../graph/shapes.js";

const CARD = 34, // of a folded group beside its name: the triangle and the border
  TIMES = 34, // "× 12"
  LEAST = 40; // the least width of a node
const NOTE_SIZE = 0.9; // of the second line, as a share of the first
const FOLD_ABOVE = 40,
  FOLD_FUNCTIONS_ABOVE = 400,
  ASIDE_ABOVE = 24;
const FEW = 6, // items: where folding everything leaves too few,
  ENOUGH = 70, // how many opening may then give,
  GLANCE = 16; // and how many else

/**
 * The groups that a first frame folds: all blocks of a large graph, and then level by level those are open whose content is still seen at one
 * glance; then the functions after the first, where much is left.
 */
export function foldAtStart(model) {
  const folded = new Set();
  if (drawn(model) <= FOLD_ABOVE) return folded;
  model.groups.forEach((g, id) => (g.kind === 1 || g.kind === 3) && folded.add(id));
  for (let shown = shownItems(model, folded); ;) {
    const less = nextLevel(model, folded),
      more = shownItems(model, less);
    if (less.size === folded.size || more > (shown < FEW ? ENOUGH : GLANCE)) break;
    folded.clear();
    for (const g of less) folded.add(g);
    shown = more;
  }
  const left = shownNodes(model, folded);
  const functions = [...model.groups.keys()].filter(
    (g) => model.groups[g].kind === 0 && model.groups[g].parent < 0,
  );
  if (left > FOLD_FUNCTIONS_ABOVE) for (const g of functions.slice(1)) folded.add(g);
  return folded;
}

/**
 * What stays folded when each folded group that is seen is opened, and in a run of equal blocks also the first.
 * @param {Set<number>} folded
 */
export function nextLevel(model, folded) {
  const { groups } = model,
    next = new Set(folded);
  const first = new Map();
  for (const g of folded) {
    const parent = groups[g].parent,
      other = first.get(parent);
    if (other === undefined || groups[g].first < groups[other].first) first.set(parent, g);
  }
  for (const g of folded) {
    let outer = groups[g].parent;
    while (outer >= 0 && !folded.has(outer)) outer = groups[outer].parent;
    if (outer >= 0) continue;
    next.delete(g);
    if (groups[g].kind === RUN) next.delete(first.get(g));
  }
  return next;
}

/**
 * What is folded when the innermost open blocks are folded as well.
 * @param {Set<number>} folded
 */
export function levelAbove(model, folded) {
  const { groups } = model,
    next = new Set(folded);
  const outside = new Set(); // groups with an open block inside
  const isOpen = (g) =>
    (groups[g].kind === 1 || groups[g].kind === RUN || groups[g].parent >= 0) && !folded.has(g);
  groups.forEach((g, id) => {
    if (isOpen(id) && g.kind !== EMPTY) for (let p = g.parent; p >= 0; p = groups[p].parent) outside.add(p);
  });
  groups.forEach((g, id) => {
    if (g.kind !== EMPTY && isOpen(id) && !outside.has(id)) next.add(id);
  });
  return next;
}

/**
 * The group and everything in it that folds.
 * @param {number} group
 */
export function below(model, group) {
  const { groups } = model;
  const inside = new Set([group]);
  // An outer group may come after those in it, so look until nothing is added.
  for (let size = 0; size !== inside.size;) {
    size = inside.size;
    groups.forEach((g, id) => inside.has(g.parent) && inside.add(id));
  }
  return inside;
}

/** How many computed nodes and folded groups a drawing shows. */
function shownItems(model, folded) {
  const items = new Set();
  for (let i = 0; i < model.count; i++) {
    if (!model.operands[i].length) continue;
    let at = i;
    for (let g = model.group[i]; g >= 0; g = model.groups[g].parent) if (folded.has(g)) at = model.count + g;
    items.add(at);
  }
  return items.size;
}

const drawn = (model) => model.aside.reduce((n, a) => n + (a ? 0 : 1), 0);

function shownNodes(model, folded) {
  let n = 0;
  for (let i = 0; i < model.count; i++) {
    let inside = false;
    for (let g = model.group[i]; g >= 0 && !inside; g = model.groups[g].parent) inside = folded.has(g);
    if (!inside && !model.aside[i]) n++;
  }
  return n;
}

/** Whether weights and the like are left out of the drawing at the start. */
export const asideAtStart = (model) => model.count > ASIDE_ABOVE;

/**
 * The input of `layout`. `part`: only these nodes, without groups; `aside`: leave weights out. `note(id)` is the second line of an item,
 * `measure` the width of a text.
 */
export function specOf(
  model,
  { folded, aside, part = null, note = (/** @type {number} */ _id) => "", measure = estimate },
) {
  const { count, groups } = model;
  const top = [...groups.keys()].filter((g) => groups[g].parent < 0 && groups[g].kind >= 0);
  // A program of one function needs no frame around it.
  const alone =
    top.length === 1 && groups[top[0]].kind === 0 && !folded.has(top[0]) && model.group.every((g) => g >= 0)
      ? top[0]
      : -2;
  /** @param {number} id */
  const noteWidth = (id) => (note(id) ? measure(note(id), "ui") * NOTE_SIZE : 0);
  const inside = part ? () => -1 : (g) => (g === alone ? -1 : g);
  return {
    count,
    edges: model.edges,
    width: Float32Array.from({ length: count }, (_, i) => {
      const text = Math.max(measure(shortened(model.label(i))), noteWidth(i));
      return Math.max(LEAST, widthFor(model.families[model.family(i)]?.shape, text));
    }),
    height: Float32Array.from({ length: count }, (_, i) => 28 + (note(i) ? NOTE : 0)),
    group: Int32Array.from(model.group, (g) => inside(g)),
    parents: Int32Array.from(groups, (g) => inside(g.parent)),
    folded: Uint8Array.from(groups, (_, id) => (!part && folded.has(id) ? 1 : 0)),
    hidden: Uint8Array.from({ length: count }, (_, i) =>
      (part && !part.has(i)) || (aside && model.aside[i]) ? 1 : 0,
    ),
    foldedWidth: Float32Array.from(
      groups,
      (g, id) =>
        Math.max(measure(shortened(g.label), "ui"), noteWidth(count + id)) + CARD + (g.times > 1 ? TIMES : 0),
    ),
    foldedHeight: Float32Array.from(
      groups,
      (g, id) => (g.times > 1 ? 36 : 30) + (note(count + id) ? NOTE : 0),
    ),
  };
}

/** Sums over each group and everything in it: nodes, parameters (what is there, or is read there, each once), operations, bytes. */
export function groupTotals(model) {
  const totals = model.groups.map(() => ({ nodes: 0, calls: 0, params: 0, flops: 0, bytes: 0, time: 0 }));
  const counted = model.groups.map(() => new Set());
  /** @param {number} i */
  const leaf = (i) => model.operands[i].length === 0;
  for (let i = 0; i < model.count; i++) {
    for (let g = model.group[i]; g >= 0; g = model.groups[g].parent) {
      const t = totals[g];
      t.nodes++;
      if (model.operands[i].length) t.calls++;
      for (const weight of leaf(i) ? [i] : model.operands[i]) {
        if (!leaf(weight) || counted[g].has(weight)) continue;
        counted[g].add(weight);
        t.params += model.params(weight);
      }
      t.flops += model.flops(i);
      t.bytes += model.bytes(i);
      t.time += model.time(i);
    }
  }
  return totals;
}
