// What the source view knows: the two lists of rows, and which nodes and rows of the program belong together.

/** @import { Row } from "../../generated/common.js" */
/** @import { Module, SourceNode, SourceView } from "../../generated/source_map.js" */

/** Above this many rows, the modules of the node list are folded at the start. */
const MANY = 40;

/** @typedef {ReturnType<typeof createModel>} SourceModel */

/** @param {SourceView} view */
export function createModel(view) {
  const { split, nodes, modules } = view;
  /** @type {Row[]} */
  const list = view.rows.slice(0, split);
  const program = view.rows
    .slice(split)
    .map((row) => ({ ...row, imported: null, end: row.end >= 0 ? row.end - split : -1 }));
  /** @type {Map<number, number>} */
  const nodeAt = new Map(nodes.map(({ row }, node) => [row, node]));
  /** @type {Map<number, Module>} */
  const moduleAt = new Map(modules.map((module) => [module.row, module]));
  /** @type {number[][]} */
  const nodesOf = program.map(() => []);
  const rowsOf = nodes.map(({ rows }) => rows.map((row) => row - split));
  rowsOf.forEach((rows, node) => rows.forEach((row) => nodesOf[row].push(node)));
  // The nodes that a line computes, then the constants in it.
  for (const list of nodesOf) list.sort((a, b) => nodes[a].fate - nodes[b].fate || a - b);

  /**
   * The nodes that a row of the list stands for: one, or those of a module.
   * @param {number} row
   */
  function nodesAt(row) {
    const module = moduleAt.get(row);
    if (module) return Array.from({ length: module.last - module.first + 1 }, (_, i) => module.first + i);
    const node = nodeAt.get(row);
    return node === undefined ? [] : [node];
  }

  return {
    view,
    nodes,
    modules,
    nodeAt,
    moduleAt,
    nodesOf,
    rowsOf,
    nodesAt,
    list: { ...view, rows: list },
    program: { ...view, rows: program },
    /**
     * The rows of the program that came from any of `some` nodes, in order.
     * @param {readonly number[]} some
     */
    rowsFrom: (some) => [...new Set(some.flatMap((node) => rowsOf[node]))].sort((a, b) => a - b),
    folded: foldedAtStart(modules, list, nodes),
  };
}

/**
 * Whether a heading is that of the weights, which are no module.
 * @param {Module} module
 * @param {readonly Pick<SourceNode, "op">[]} nodes
 */
export const hasWeights = ({ first, last }, nodes) =>
  nodes[first].op === "weight" && nodes[last].op === "weight";

/**
 * The headings that are folded at the start: the weights, and below the outermost levels that leave few rows, all.
 * @param {readonly Module[]} modules
 * @param {readonly Row[]} list
 * @param {readonly Pick<SourceNode, "op">[]} nodes
 */
export function foldedAtStart(modules, list, nodes) {
  const weights = modules.filter((module) => hasWeights(module, nodes)).map(({ row }) => row);
  if (shown(list, new Set(weights)) <= MANY) return weights;
  const deepest = modules.reduce((most, { row }) => Math.max(most, list[row].depth), 0);
  for (let depth = deepest; depth > 0; depth--) {
    const deep = modules.filter(({ row }) => list[row].depth >= depth).map(({ row }) => row);
    const folded = [...weights, ...deep];
    if (shown(list, new Set(folded)) <= MANY) return folded;
  }
  return modules.map(({ row }) => row);
}

/**
 * @param {readonly Row[]} list
 * @param {ReadonlySet<number>} folded
 */
function shown(list, folded) {
  let count = 0;
  for (let row = 0; row < list.length; row++) {
    count += 1;
    if (folded.has(row)) row = list[row].end;
  }
  return count;
}
