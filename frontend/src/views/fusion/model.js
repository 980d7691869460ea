// The fusion view as the drawing needs it: nodes and their users, the groups after any step of any variant, the nodes on
// the paths from a node to its post-dominator, and the differences between variants.
import { END, REFUSED, MERGED, TINTS } from "./marks.js";
import { groupLanes } from "./groups.js";
import { FAR, LANES, layoutLanes } from "./lanes.js";
/** @import { FusionNode, FusionStep, FusionView, Variant } from "../../generated/fusion.js" */

/** @typedef {ReturnType<typeof createModel>} FusionModel */
/** A view of one function. @typedef {import("../../generated/fusion.js").FusionView & Pick<import("../../generated/fusion.js").FusedFunction, "nodes" | "variants">} FunctionView */

const PARAMETER = 2;
/** Lanes that there is room for beside the kernels, and how many steps are looked at to know how many are needed. */
const GROUP_LANES = 4;
const LOOKS = 60;

/** @param {FunctionView} view */
export function createModel(view) {
  const { nodes } = view;
  const { allOn, faces } = facesOf(view, nodes);
  const face = (n) => faces[n] ?? -1;
  const drawn = (n) => n >= 0 && faces[n] === n;
  const onRow = allOn.map((list) => list.filter(drawn));
  const items = onRow.flatMap((list, row) => list.map((node) => ({ node, row })));
  const place = new Int32Array(nodes.length).fill(-1);
  items.forEach(({ node }, at) => {
    place[node] = at;
  });
  const users = nodes.map(() => []);
  for (const { node, row } of items)
    users[node] = [...new Set(allOn[row].flatMap((n) => nodes[n].uses).map(face))].filter(
      (user) => user >= 0 && user !== node,
    );
  const sources = nodes.map(() => []);
  users.forEach((list, n) => {
    for (const user of list) sources[user].push(n);
  });
  const patterns = new Map(view.patterns.map((pattern) => [pattern.number, pattern]));
  const title = (n) =>
    nodes[n].name && nodes[n].name !== nodes[n].label ? `${nodes[n].name} ${nodes[n].label}` : nodes[n].label;
  const variants = view.variants.map(() => null);
  const model = {
    view,
    nodes,
    users,
    sources,
    drawn,
    face,
    onRow,
    allOn,
    items,
    place,
    patterns,
    title,
    lanes: layoutLanes(items, (n) => users[n], { lanes: LANES, far: FAR }),
    /** @param {number} index */
    variant: (index) => (variants[index] ??= createVariant(model, view.variants[index], index)),
    /** The node that a sentence calls so, where only one is called so. */
    named: uniqueTitles(nodes, title),
    /**
     * @param {number} node
     * @param {number} target
     */
    way: (node, target) => way(model, node, target),
  };
  return model;
}

/**
 * Several nodes may have one row (a variable, and what it is bound to): one of them stands for all, `faces[n]`. It is one
 * that computes, else one that is asked about; -1 for what is not drawn: parameters, and what has no row.
 * @param {FunctionView} view
 * @param {FusionNode[]} nodes
 */
function facesOf(view, nodes) {
  const allOn = view.rows.map(() => []);
  nodes.forEach(({ row }, n) => {
    if (row >= 0 && view.rows[row].kind !== PARAMETER) allOn[row].push(n);
  });
  const asked = new Set(view.variants.flatMap(({ steps }) => steps.map(({ node }) => node)));
  const weight = (n) => (nodes[n].part ? 2 : asked.has(n) ? 1 : 0);
  const faces = new Int32Array(nodes.length).fill(-1);
  for (const list of allOn) {
    if (!list.length) continue;
    const chosen = list.reduce((best, n) => (weight(n) > weight(best) ? n : best));
    for (const n of list) faces[n] = chosen;
  }
  return { allOn, faces };
}

/** @param {FusionNode[]} nodes */
function uniqueTitles(nodes, title) {
  const found = new Map();
  nodes.forEach((_, n) => found.set(title(n), found.has(title(n)) ? -1 : n));
  return found;
}

/**
 * The nodes on the paths from `node` to `target`, both included, in the order of the rows.
 * @param {FusionModel} model
 * @param {number} node
 * @param {number} target
 */
function way({ nodes, face }, node, target) {
  if (node < 0) return [];
  const seen = new Set(target < 0 ? [node] : [node, target]);
  const open = target < 0 ? [] : [node];
  while (open.length) {
    for (const user of nodes[open.pop()].uses) {
      if (seen.has(user)) continue;
      seen.add(user);
      open.push(user);
    }
  }
  return [...new Set([...seen].map((n) => (face(n) < 0 && n === node ? n : face(n))))]
    .filter((n) => n >= 0)
    .sort((a, b) => nodes[a].row - nodes[b].row || a - b);
}

/**
 * @param {FusionModel} model
 * @param {Variant} data
 * @param {number} index
 */
function createVariant(model, data, index) {
  const { nodes, drawn } = model;
  const pattern = nodes.map((node) => node.pattern);
  for (const other of data.patterns) pattern[other.node] = other.pattern;
  const kernels = data.kernels.map(({ name, nodes: members, read, written, flops, result }) => ({
    name,
    members,
    read,
    written,
    flops,
    result,
    alone: members.reduce((sum, n) => sum + nodes[n].read + nodes[n].written, 0),
    launches: members.filter((n) => nodes[n].part).length,
  }));
  const kernelOf = new Int32Array(nodes.length).fill(-1);
  kernels.forEach(({ members }, k) => {
    for (const n of members) kernelOf[n] = k;
  });
  const stepsOf = nodes.map(() => []);
  data.steps.forEach(({ node }, step) => {
    if (node >= 0) stepsOf[node].push(step);
  });
  // Among those that are drawn: the first on the way up that stands in another row.
  const above = nodes.map((_, n) => {
    let at = drawn(n) ? data.dominators[n] : -1;
    while (at >= 0 && (model.face(at) < 0 || model.face(at) === n)) at = data.dominators[at];
    return at < 0 ? -1 : model.face(at);
  });
  const children = nodes.map(() => []);
  above.forEach((at, n) => {
    if (at >= 0) children[at].push(n);
  });
  const variant = {
    index,
    name: data.name,
    say: data.say,
    steps: data.steps,
    launches: data.launches,
    bytes: data.bytes,
    above,
    pattern,
    kernels,
    kernelOf,
    stepsOf,
    children,
    changed: new Set(data.patterns.map(({ node }) => node)),
    groups: createGroups(nodes, data.steps),
  };
  variant.tint = tints(model, variant);
  variant.lanes = lanesNeeded(model, variant);
  return variant;
}

/**
 * How many lanes the groups whose rows are not together take, as far as a look at some of the steps tells.
 * @param {FusionModel} model
 */
function lanesNeeded(model, { steps, groups }) {
  const every = Math.max(1, Math.floor(steps.length / LOOKS));
  let most = 0;
  steps.forEach((_, step) => {
    if (step % every > 0 && step < steps.length - 1) return;
    for (const lane of groupLanes(model, groups.seek(step), GROUP_LANES).values())
      most = Math.max(most, lane + 1);
  });
  return most;
}

/**
 * The groups after a step: `seek(step)` gives `{ root, members, version }`, the representative of each node, the nodes of each
 * group, and a number that differs where these do.
 * @param {FusionNode[]} nodes
 * @param {FusionStep[]} steps
 */
export function createGroups(nodes, steps) {
  let root = null;
  let members = null;
  let at = -1;
  /** How often the groups have changed. */
  let version = 0;

  function reset() {
    version++;
    root = nodes.map((_, n) => n);
    members = nodes.map((_, n) => [n]);
    at = -1;
  }
  /** @param {FusionStep} step */
  function merge({ mark, node, target, merged }) {
    if (mark !== MERGED) return;
    version++;
    const into = root[target];
    for (const n of [node, ...merged]) {
      const from = n < 0 ? into : root[n];
      if (from === into) continue;
      for (const member of members[from]) root[member] = into;
      members[into].push(...members[from]);
      members[from] = [];
    }
  }
  return {
    /** @param {number} step */
    seek(step) {
      if (root === null || step < at) reset();
      while (at < step) merge(steps[++at]);
      return { root, members, version };
    },
  };
}

/**
 * A tint for every node as the representative of its group: those beside each other among the rows differ, at first and at the end.
 * @param {FusionModel} model
 */
function tints({ nodes, items }, { kernels, kernelOf }) {
  const shown = items.map(({ node }) => node).filter((node) => kernelOf[node] >= 0);
  const tint = new Int8Array(nodes.length).fill(-1);
  /**
   * @param {number} first
   * @param {Set<number>} taken
   */
  const pick = (first, taken) => {
    for (let i = 0; i < TINTS; i++) if (!taken.has((first + i) % TINTS)) return (first + i) % TINTS;
    return first % TINTS;
  };
  const beside = kernels.map(() => new Set());
  shown.forEach((node, i) => {
    const [a, b] = [kernelOf[node], kernelOf[shown[i - 1]]];
    if (i === 0 || a === b) return;
    beside[a].add(b);
    beside[b].add(a);
  });
  const ofKernel = new Int8Array(kernels.length).fill(-1);
  let next = 0;
  for (const node of shown) {
    const k = kernelOf[node];
    if (ofKernel[k] >= 0) continue;
    ofKernel[k] = pick(next, new Set([...beside[k]].map((other) => ofKernel[other])));
    next = ofKernel[k] + 1;
    tint[kernels[k].result] = ofKernel[k];
  }
  // While they are groups of their own, the other operators have other tints than what they come into.
  const alone = shown.filter((node) => nodes[node].part);
  alone.forEach((node, i) => {
    if (tint[node] < 0)
      tint[node] = pick(
        next++,
        new Set([
          ofKernel[kernelOf[node]],
          ...[alone[i - 1], alone[i + 1]].filter((n) => n !== undefined).map((n) => tint[n]),
        ]),
      );
  });
  for (const { node } of items) if (tint[node] < 0) tint[node] = 0;
  return tint;
}

/** The step that tells the story in the first frame: the first refusal after something was merged, else the last merge, else the end. */
export function startOf(variant) {
  const { steps } = variant;
  const merged = steps.findIndex(({ mark }) => mark === MERGED);
  const refused =
    merged < 0 ? -1 : steps.findIndex(({ mark, target }, i) => i > merged && mark === REFUSED && target >= 0);
  return refused >= 0
    ? refused
    : merged >= 0
      ? steps.findLastIndex(({ mark }) => mark === MERGED)
      : steps.length - 1;
}

/**
 * The step of `to` where the cursor best goes from `step` of `from`: the same question, one about the same operator, or what was decided last before it.
 * @param {number} step
 */
export function sameStep(from, step, to) {
  const { mark, phase, node } = from.steps[step];
  if (node < 0) return mark === END ? to.steps.length - 1 : 0;
  const same = to.stepsOf[node];
  if (same.length) return same.find((at) => to.steps[at].phase === phase) ?? same[0];
  // Nothing was asked about this operator: stay with the decisions before it.
  const before = from.steps
    .slice(0, step)
    .findLast((entry) => entry.node >= 0 && to.stepsOf[entry.node].length > 0);
  return before ? to.stepsOf[before.node][0] : to.steps.length - 1;
}

/** The kernels that `to` has and `from` has not, and the other way round, by their operators. */
export function difference(from, to) {
  const key = (kernel) => kernel.members.join(" ");
  const [a, b] = [from, to].map((variant) => new Map(variant.kernels.map((kernel) => [key(kernel), kernel])));
  return {
    gone: [...a].filter(([k]) => !b.has(k)).map(([, kernel]) => kernel),
    fresh: [...b].filter(([k]) => !a.has(k)).map(([, kernel]) => kernel),
  };
}
