// The tree of post-dominators as lines of a list: the result on top, below each node those that it post-dominates.
/** @import { FusionModel } from "./model.js" */

/**
 * `[{ node, depth, parent }]`, `parent` the index of the parent's line. The largest branch below a node goes on at the
 * node's depth, after the others, so that a chain is a column and the deepest line is at about log₂ of the nodes.
 * @param {FusionModel} model
 */
export function treeLines(model, variant) {
  const { items } = model;
  const inTree = new Set(items.map(({ node }) => node));
  const { above, children } = variant;
  const weight = new Map();
  // A dominator stands after what it dominates, so that nodes in their order give the sums.
  for (const node of [...inTree].sort((a, b) => a - b)) {
    weight.set(node, (weight.get(node) ?? 0) + 1);
    const up = above[node];
    if (inTree.has(up)) weight.set(up, (weight.get(up) ?? 0) + weight.get(node));
  }
  const roots = [...inTree].filter((node) => !inTree.has(above[node])).sort((a, b) => b - a);
  const lines = [];
  const open = roots.map((node) => ({ node, depth: 0, parent: -1 })).reverse();
  while (open.length) {
    const line = open.pop();
    const at = lines.push(line) - 1;
    const below = children[line.node]
      .filter((node) => inTree.has(node))
      .sort((a, b) => weight.get(b) - weight.get(a) || b - a);
    // The last on the stack comes first: the light ones, then the heavy one at this depth.
    below.forEach((node, i) => open.push({ node, depth: line.depth + (i === 0 ? 0 : 1), parent: at }));
  }
  return lines;
}

/** The lines to show: all of a small tree, else those around the node and its target, `{ from, to }`. */
export function treeWindow(lines, wanted, most = 60) {
  if (lines.length <= most) return { from: 0, to: lines.length };
  const at = wanted.map((node) => lines.findIndex((line) => line.node === node)).filter((line) => line >= 0);
  const middle = at.length ? Math.round(at.reduce((a, b) => a + b, 0) / at.length) : 0;
  const from = Math.max(0, Math.min(lines.length - most, middle - (most >> 1)));
  return { from, to: from + most };
}
