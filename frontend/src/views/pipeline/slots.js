// The graph of a pipeline: one place for each expression and whatever became of it, through all stages, so that nodes stay where they are while
// passes come and go. The places are those of one layered layout of the union of all stages.
import { layout } from "../../graph/layout.js";
import { COMPUTED } from "./marks.js";
/** @import { PipelineModel } from "./model.js" */

const CHARACTER = 7.4;
const HEIGHT = 26;
const WIDEST = 168;
/** More parameters than these are weights, and leave the picture. */
const PARAMETERS = 8;

/** @param {string} label */
export const short = (label) => (label.length > 22 ? `${label.slice(0, 21)}…` : label);
/** @param {string} label */
const widthOf = (label) => Math.min(WIDEST, Math.max(44, 26 + CHARACTER * short(label).length));

/** By the stages of a model, the items of each graph that was asked for. @type {WeakMap<object, Map<number, number[]>>} */
const GRAPHS = new WeakMap();

/**
 * The items of a stage that are in its graph; those of a stage that changed nothing are the ones before it.
 * @param {PipelineModel} model
 * @param {number} stage
 */
export function graphItems({ items, stages }, stage) {
  let at = stage;
  while (at > 0 && stages[at].same) at = stages[at].before;
  /** @type {Map<number, number[]>} */
  const graphs = GRAPHS.get(stages) ?? GRAPHS.set(stages, new Map()).get(stages);
  if (!graphs.has(at)) {
    const used = new Set();
    const own = [];
    items.forEach((item, i) => {
      if (item.stage !== at || !item.part) return;
      own.push(i);
      for (const operand of item.operands) used.add(operand);
    });
    // A parameter that no operator reads is not drawn. Of many parameters only the first, the data, is: the others are weights.
    const given = own.filter((i) => items[i].part !== COMPUTED && used.has(i));
    const kept = new Set(given.length > PARAMETERS ? given.slice(0, 1) : given);
    graphs.set(
      at,
      own.filter((i) => items[i].part === COMPUTED || kept.has(i)),
    );
  }
  return graphs.get(at);
}

/**
 * `{ slot: Int32Array (by item, -1), count, label: by slot }`. An expression takes the place of what it came from, if that is still free.
 * @param {PipelineModel} model
 */
export function assignSlots(model) {
  const { items, stages } = model;
  const slot = new Int32Array(items.length).fill(-1);
  const labels = [];
  const made = new Map(); // by what a new expression is and beside what it stands: places that another pipeline made for its like
  /** @param {string} label */
  const fresh = (label) => labels.push(label) - 1;
  stages.forEach((stage, s) => {
    if (stage.same) return;
    const taken = new Set();
    const own = graphItems(model, s);
    /** @param {number} at */
    const take = (i, at) => {
      slot[i] = at;
      taken.add(at);
    };
    const old = (i, fits) =>
      items[i].from.find((source) => slot[source] >= 0 && !taken.has(slot[source]) && fits(source));
    for (const fits of [(i, source) => items[source].label === items[i].label, () => true]) {
      for (const i of own) {
        if (slot[i] >= 0) continue;
        const source = old(i, (other) => fits(i, other));
        if (source !== undefined) take(i, slot[source]);
      }
    }
    for (const i of own) {
      if (slot[i] >= 0) continue;
      const key = `${items[i].label} ${items[i].from.map((source) => slot[source])} ${items[i].operands.map((operand) => slot[operand])}`;
      const known = (made.get(key) ?? []).find((at) => !taken.has(at));
      if (known !== undefined) take(i, known);
      else {
        take(i, fresh(items[i].label));
        made.set(key, [...(made.get(key) ?? []), slot[i]]);
      }
    }
  });
  return { slot, count: labels.length, label: labels };
}

/**
 * The places: `{ slot, x (centre), y (top), width, height, left, paths: Map("from to" → points), bounds }`.
 * @param {PipelineModel} model
 */
export function createPlaces(model) {
  const { items, stages } = model;
  const { slot, count } = assignSlots(model);
  const width = new Float32Array(count).fill(44);
  const seen = new Set();
  const edges = [];
  stages.forEach((stage, s) => {
    if (stage.same) return;
    for (const i of graphItems(model, s)) {
      width[slot[i]] = Math.max(width[slot[i]], widthOf(items[i].label));
      for (const operand of items[i].operands) {
        const key = `${slot[operand]} ${slot[i]}`;
        if (slot[operand] < 0 || slot[operand] === slot[i] || seen.has(key)) continue;
        seen.add(key);
        edges.push([slot[operand], slot[i]]);
      }
    }
  });
  // Slots by their first appearance, but what a later pass put between two others stands between them: that is for the layers to find.
  edges.sort((a, b) => a[1] - b[1]);
  const drawn = layout({ count, edges: edges.flat(), width, height: new Float32Array(count).fill(HEIGHT) });
  const paths = new Map();
  for (const { source, to, points } of drawn.paths) paths.set(`${source} ${to}`, points);
  for (const { source, to, x, y, tx, ty } of drawn.stubs)
    if (!paths.has(`${source} ${to}`)) paths.set(`${source} ${to}`, [x, y, tx, ty]);
  return {
    slot,
    count,
    x: drawn.x,
    y: drawn.y,
    width,
    height: HEIGHT,
    paths,
    bounds: { x: drawn.left, w: drawn.width, h: drawn.height },
  };
}
