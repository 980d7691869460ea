// An IR view as a graph: operands and users by number, groups made sound, equal neighbours gathered into runs.

import { soundParents } from "./levels.js";
/** @import { Edge, IRView } from "../generated/ir.js" */

const RUNS_ABOVE = 60; // a smaller graph is clearer without them
const DEEPEST = 24; // levels of groups inside groups that are drawn
export const EMPTY = -1; // the kind of a group that is not drawn
export const RUN = 3; // the kind of a group that is made here: the same block several times in a row
const NAMED = 24; // modules in a row that are seen one by one, since they have names

export const KIND_NAMES = ["function", "block", "branch", "repeated blocks"];

/**
 * The graph of `view`. Nodes and groups are numbers; everything else is asked of the model.
 * @param {IRView} view
 */
export function createModel(view) {
  const { nodes } = view;
  const count = nodes.length;
  const edges = inOrder(view.edges);
  const operands = Array.from({ length: count }, () => []),
    users = Array.from({ length: count }, () => []);
  for (const [from, to] of edges) {
    operands[to].push(from);
    if (users[from].at(-1) !== to) users[from].push(to);
  }
  const groups = soundGroups(view),
    within = shallow(groups);
  const group = Int32Array.from(nodes, (n) => (n.group >= 0 ? within[n.group] : -1));
  const aside = findAside(count, edges, operands);
  if (count - aside.reduce((n, a) => n + a, 0) > RUNS_ABOVE) addRuns(groups, group, operands);
  drawIn(groups, group, operands, users, aside);
  const nodeOfRow = new Int32Array(view.rows.length).fill(-1);
  view.rows.forEach((row, i) => {
    if (row.node >= 0 && row.node < count) nodeOfRow[i] = row.node;
  });
  const placed = new Map((view.devices ?? []).map(({ node, device }) => [node, device]));
  const timed = new Map((view.times ?? []).map(({ node, ns }) => [node, ns]));
  const statistics = new Map((view.values ?? []).map((values) => [values.node, values]));
  return {
    view,
    count,
    groups,
    group,
    operands,
    users,
    aside,
    nodeOfRow,
    edges: Int32Array.from(edges.flatMap(([from, to]) => [from, to])),
    families: view.families,
    /** @param {number} i */
    label: (i) => nodes[i].label,
    /** @param {number} i */
    type: (i) => nodes[i].type,
    short: (i) => nodes[i].short,
    attributes: (i) => nodes[i].attributes,
    /** @param {number} i */
    detail: (i) => nodes[i].detail,
    /** @param {number} i */
    family: (i) => nodes[i].family,
    /** @param {number} i */
    row: (i) => nodes[i].row,
    /** @param {number} i */
    uses: (i) => nodes[i].uses,
    params: (i) => nodes[i].params,
    flops: (i) => nodes[i].flops,
    bytes: (i) => nodes[i].bytes,
    /**
     * The measured nanoseconds of the kernel in which the node costs most.
     * @param {number} i
     */
    time: (i) => timed.get(i) ?? 0,
    /** The devices that occur. */
    devices: [...new Set(placed.values())],
    /** @param {number} i */
    device: (i) => placed.get(i) ?? "",
    /**
     * Statistics of a constant's or a parameter's elements.
     * @param {number} i
     */
    values: (i) => statistics.get(i),
    /** @param {number} i */
    imported: (i) => nodes[i].imported,
    isImported: nodes.some(({ imported }) => imported),
    /**
     * The name that the program gives the node's value: the first name token of its row that means it.
     * @param {number} i
     */
    name(i) {
      return view.rows[nodes[i].row]?.tokens.find(({ kind, ref }) => kind === 2 && ref === i)?.text ?? "";
    },
  };
}

/**
 * [from, to] in the order of `to`, then of the operands.
 * @param {Edge[]} edges
 */
function inOrder(edges) {
  return [...edges]
    .sort((a, b) => a.target - b.target || a.operand - b.operand)
    .map(({ source, target }) => [source, target]);
}

/** @param {IRView} view */
function soundGroups({ groups }) {
  const list = groups.map(({ repeat, ...group }) => ({ ...group, key: repeat, times: 1 }));
  const parents = soundParents(list.map((g) => g.parent));
  list.forEach((g, i) => (g.parent = parents[i]));
  return list;
}

/** For each group the one that stands for it: itself, or, where groups nest deeper than a drawing can show, the last one that it shows. The rest become empty. */
function shallow(groups) {
  const depth = new Int32Array(groups.length),
    within = new Int32Array(groups.length).fill(-2);
  for (let start = 0; start < groups.length; start++) {
    const walk = [];
    for (let g = start; g >= 0 && within[g] === -2; g = groups[g].parent) walk.push(g);
    for (const g of walk.reverse()) {
      const p = groups[g].parent;
      depth[g] = p < 0 ? 1 : depth[p] + 1;
      within[g] = depth[g] > DEEPEST ? within[p] : g;
    }
  }
  groups.forEach((g, i) => {
    if (within[i] !== i) Object.assign(g, { parent: -1, first: -1, last: -1, kind: EMPTY, key: "" });
  });
  return within;
}

/**
 * Values that nothing computes and that are only ever a later operand: weights and the like, which a large drawing leaves out.
 * @param {number} count
 * @param {number[][]} edges
 */
function findAside(count, edges, operands) {
  const aside = Uint8Array.from({ length: count }, (_, i) => (operands[i].length ? 0 : 1));
  const used = new Uint8Array(count);
  for (const [from, to] of edges) {
    used[from] = 1;
    if (operands[to][0] === from) aside[from] = 0;
  }
  return aside.map((a, i) => (a && used[i] ? 1 : 0));
}

/**
 * What nothing computes stands with what uses it: in the innermost group that holds all its users. But the input of a first block stays outside it.
 * @param {Int32Array<ArrayBuffer>} group
 * @param {Uint8Array<ArrayBuffer>} aside
 */
function drawIn(groups, group, operands, users, aside) {
  /** @param {number} g */
  const path = (g) => (g < 0 ? [] : [...path(groups[g].parent), g]);
  const fed = fedGroups(groups, group, operands);
  for (let i = 0; i < group.length; i++) {
    if (operands[i].length || !users[i].length) continue;
    const common = path(group[users[i][0]]);
    for (const t of users[i]) {
      const other = new Set(path(group[t]));
      while (common.length && !other.has(common.at(-1))) common.pop();
    }
    const first = (g) => (groups[g].kind === 1 || groups[g].kind === RUN) && !fed.has(g);
    while (!aside[i] && common.length && first(common.at(-1))) common.pop();
    group[i] = common.at(-1) ?? -1;
  }
}

/**
 * The groups into which a computed value goes.
 * @param {Int32Array<ArrayBuffer>} group
 */
function fedGroups(groups, group, operands) {
  const fed = new Set();
  for (let t = 0; t < group.length; t++) {
    for (const u of operands[t]) {
      if (!operands[u].length) continue;
      const own = new Set();
      for (let g = group[u]; g >= 0; g = groups[g].parent) own.add(g);
      for (let g = group[t]; g >= 0 && !own.has(g); g = groups[g].parent) fed.add(g);
    }
  }
  return fed;
}

/**
 * Where blocks with the same key follow each other, a group around them, so that "the same block, five times" is one thing to see and to fold.
 * @param {Int32Array<ArrayBuffer>} group
 */
function addRuns(groups, group, operands) {
  const last = new Map(); // parent → the run in progress
  const seen = new Set(),
    complete = [];
  for (let i = 0; i < group.length; i++) {
    if (!operands[i].length) continue;
    let item = -1;
    for (let g = group[i]; ; g = groups[g].parent) {
      meet(g, item);
      if (g < 0) break;
      item = g;
    }
  }
  for (const { parent, members } of [...complete, ...last.values()]) {
    if (members.length < 2 || (groups[members[0]].module && members.length <= NAMED)) continue;
    members.sort((a, b) => groups[a].first - groups[b].first);
    const id =
      groups.push({
        ...groups[members[0]],
        // Twelve modules `layer.0`, `layer.1`, … are `layer` × 12.
        label: groups[members[0]].module
          ? groups[members[0]].label.replace(/\.\d+$/, "")
          : groups[members[0]].label,
        module: "",
        kind: RUN,
        times: members.length,
        last: groups[members.at(-1)].last,
        parent,
      }) - 1;
    for (const g of members) groups[g].parent = id;
  }

  /**
   * @param {number} g
   * @param {number} parent
   */
  function meet(parent, g) {
    const run = last.get(parent);
    if (g >= 0 && (run?.current === g || seen.has(g))) return;
    if (g >= 0) seen.add(g);
    const key = g >= 0 && groups[g].kind === 1 ? groups[g].key : "";
    if (run && key && run.key === key) {
      run.members.push(g);
      run.current = g;
      return;
    }
    if (run) complete.push(run);
    last.set(parent, { parent, key, members: key ? [g] : [], current: g });
  }
}
