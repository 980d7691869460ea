// From the model and what is folded to the input of the layout; and what is folded at the start.

import { padding } from "../../graph/shapes.js";

const LETTER = 7.9,
  NARROW = 9; // room for a label's letters, pixels: more than they need at scale 1, since from afar letters shrink less than boxes
const LONGEST = 30; // letters of a label that count
const FOLD_ABOVE = 80,
  FOLD_FUNCTIONS_ABOVE = 400,
  ASIDE_ABOVE = 24;
const FEW = 12,
  ENOUGH = 70; // nodes: where folding everything leaves too few, and how many opening may give

/** The groups that a first frame folds: repeated blocks where the graph is large, all but the first where that leaves little to see; then the other functions. */
export function foldAtStart(model) {
  const folded = new Set();
  if (drawn(model) <= FOLD_ABOVE) return folded;
  model.groups.forEach((g, id) => (g.kind === 1 || g.kind === 3) && folded.add(id));
  for (const open of openings(model)) {
    if (shownItems(model, folded) >= FEW) break;
    const less = new Set([...folded].filter((g) => !open.includes(g)));
    if (shownItems(model, less) > ENOUGH) continue;
    for (const g of open) folded.delete(g);
  }
  const left = shownNodes(model, folded);
  const functions = [...model.groups.keys()].filter(
    (g) => model.groups[g].kind === 0 && model.groups[g].parent < 0,
  );
  if (left > FOLD_FUNCTIONS_ABOVE) for (const g of functions.slice(1)) folded.add(g);
  return folded;
}

/** What may be opened at the start, best first: a run with its first block and all in it, a run with that block, a run, a block. */
function openings(model) {
  const { groups } = model,
    all = [...groups.keys()];
  const inside = (g) => all.filter((c) => groups[c].parent === g);
  const deep = (g) => [g, ...inside(g).flatMap(deep)];
  const first = (g) => inside(g).sort((a, b) => groups[a].first - groups[b].first)[0];
  const outer = all.filter(
    (g) => (groups[g].kind === 3 || groups[g].kind === 1) && !(groups[groups[g].parent]?.kind & 1),
  );
  const runs = outer
    .filter((g) => groups[g].kind === 3)
    .sort((a, b) => groups[b].times - groups[a].times || a - b);
  return [
    ...runs.flatMap((g) => [[g, ...deep(first(g))], [g, first(g)], [g]]),
    ...outer.filter((g) => groups[g].kind === 1).map((g) => deep(g)),
  ];
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
 * The nodes at most `radius` edges from `root`.
 */
export function neighbourhood(model, root, radius) {
  let ring = [root];
  const found = new Set(ring);
  for (let r = 0; r < radius; r++) {
    const next = [];
    for (const v of ring) {
      for (const u of [...model.operands[v], ...model.users[v]]) {
        if (found.has(u)) continue;
        found.add(u);
        next.push(u);
      }
    }
    ring = next;
  }
  return found;
}

/** The input of `layout`. `near`: only these nodes, without groups; `aside`: leave weights out. */
export function specOf(model, { folded, aside, near = null }) {
  const { count, groups } = model;
  const top = [...groups.keys()].filter((g) => groups[g].parent < 0 && groups[g].kind >= 0);
  // A program of one function needs no frame around it.
  const alone =
    top.length === 1 && groups[top[0]].kind === 0 && !folded.has(top[0]) && model.group.every((g) => g >= 0)
      ? top[0]
      : -2;
  const inside = near ? () => -1 : (g) => (g === alone ? -1 : g);
  return {
    count,
    edges: model.edges,
    width: Float32Array.from(
      { length: count },
      (_, i) =>
        Math.min(LONGEST, Math.max(2, model.label(i).length)) * LETTER +
        padding(model.families[model.family(i)]?.shape),
    ),
    height: new Float32Array(count).fill(28),
    group: Int32Array.from(model.group, (g) => inside(g)),
    parents: Int32Array.from(groups, (g) => inside(g.parent)),
    folded: Uint8Array.from(groups, (_, id) => (!near && folded.has(id) ? 1 : 0)),
    hidden: Uint8Array.from({ length: count }, (_, i) =>
      (near ? !near.has(i) : aside && model.aside[i]) ? 1 : 0,
    ),
    foldedWidth: Float32Array.from(
      groups,
      (g) => Math.min(LONGEST, g.label.length + 2) * NARROW + 22 + (g.times > 1 ? 38 : 0),
    ),
    foldedHeight: Float32Array.from(groups, (g) => (g.times > 1 ? 36 : 30)),
  };
}

/** Sums over each group and everything in it: nodes, parameters (what is there, or is read there, each once), operations, bytes. */
export function groupTotals(model) {
  const totals = model.groups.map(() => ({ nodes: 0, calls: 0, params: 0, flops: 0, bytes: 0 }));
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
    }
  }
  return totals;
}
