// What the pipeline view knows: the stages, their rows side by side, and where every expression came from.
import { rowText } from "../../core/rowmodel.js";
import { KEPT, MARKS, MOVED, REMOVED, REWRITTEN } from "./marks.js";
/** @import { Aligned, PipelineView, Stage } from "../../generated/pipeline.js" */

/** @typedef {ReturnType<typeof createModel>} PipelineModel */

const NAME = 2;
const LET = 4;

/** @param {Aligned[]} align */
const marked = (align) => align.map(({ before, after, fate }) => ({ before, after, mark: fate }));

/**
 * The rows of a stage and of the one before it side by side: `[{ before, after, mark }]`.
 * @param {Stage} stage
 */
function pairsOf(stage) {
  const { align, first, last } = stage;
  if (align.length) return marked(align);
  // The first stage, and one that changed nothing: each row beside itself.
  return Array.from({ length: last - first + 1 }, (_, i) => ({
    before: first + i,
    after: first + i,
    mark: KEPT,
  }));
}

/**
 * `rowsOf(rows, side)`: the indices of the pairs that have one of these rows of the programs, on one side or on any.
 * @param {{ before: number; after: number; mark: number; }[]} pairs
 */
function lookupOf(pairs) {
  const at = { before: new Map(), after: new Map() };
  pairs.forEach(({ before, after }, i) => {
    at.before.set(before, i);
    at.after.set(after, i);
  });
  return (/** @type {number[]} */ rows, /** @type {"before" | "after" | null} */ side = null) => {
    const sides = side ? [at[side]] : [at.before, at.after];
    const hits = rows.filter((row) => row >= 0).flatMap((row) => sides.map((map) => map.get(row)));
    return [...new Set(hits.filter((i) => i !== undefined))].sort((a, b) => a - b);
  };
}

/** @param {{ before: number; after: number; mark: number; }[]} pairs */
function countsOf(pairs) {
  const counts = MARKS.map(() => 0);
  for (const { mark } of pairs) counts[mark] += 1;
  // A row that moved is there twice.
  counts[MOVED] = Math.ceil(counts[MOVED] / 2);
  return counts;
}

/**
 * @param {Stage} stage
 * @param {number} index
 */
function stageOf(stage, index) {
  const pairs = pairsOf(stage);
  return {
    ...stage,
    index,
    shown: index,
    items: index,
    pairs,
    rowsOf: lookupOf(pairs),
    counts: countsOf(pairs),
    titles: null,
  };
}

/** The name of a program that goes through passes. */
const GIVEN = "as given";

/** All that `next` leads to from `from`, with those it starts at. */
function reach(from, next) {
  const found = new Set(from);
  for (const item of found) for (const other of next(item)) found.add(other);
  return found;
}

/** The position that is shown first: the first pass that changed a row, or else anything. */
function startOf(list) {
  const changed = [
    ({ counts }) => counts.some((n, mark) => mark !== KEPT && n > 0),
    ({ before, same }) => before >= 0 && !same,
  ].map((test) => list.findIndex(test));
  return changed.find((at) => at > 0) ?? Math.min(1, list.length - 1);
}

/** @param {import("../../generated/pipeline.js").PipelineView} view */
export function createModel(view) {
  const { rows } = view;
  const items = view.items.map(({ came_from: from, ...item }) => ({ ...item, from }));
  const into = items.map(() => []);
  const onRow = rows.map(() => []);
  items.forEach((item, i) => {
    for (const other of item.from) into[other].push(i);
    onRow[item.row]?.push(i);
  });
  const stages = view.stages.map((stage, i) => stageOf(stage, i));
  for (const stage of stages) if (stage.same && stage.before >= 0) stage.items = stages[stage.before].items;
  // Versions of a program stand side by side under their names; a pass has a program before it and one after.
  if (stages[0] && stages[0].name !== GIVEN)
    for (const stage of stages) if (stage.before >= 0) stage.titles = [stages[stage.before].name, stage.name];
  const pipelines = view.pipelines.map(({ name, stages: list }) => ({ name, list }));
  // Stages that changed nothing share their rows with the one before: what stands on a row counts once.
  const firstOf = (list) => list.filter((i) => items[i].stage === items[list[0]].stage);
  const cost = rows.map((_, row) =>
    firstOf(onRow[row]).reduce(
      (sum, i) => ({ flops: sum.flops + items[i].flops, bytes: sum.bytes + items[i].bytes }),
      { flops: 0, bytes: 0 },
    ),
  );

  /**
   * The expression that a row is about: the first that it names and that stands on it; of a `let`, what is bound to the name.
   * @param {number} row
   */
  function main(row) {
    if (!rows[row] || !onRow[row].length) return -1;
    const named = new Set(rows[row].tokens.map(({ ref }) => ref).filter((ref) => items[ref]?.row === row));
    const [first, second] = named;
    return (rows[row].kind === LET ? second : first) ?? first ?? onRow[row].at(-1);
  }

  /** "%3 nn.relu", or what else it is called there: a name of its own is the printed one, since two `%x` may be told apart by a number. */
  function title(i) {
    const { row, label } = items[i];
    const name =
      row < 0 ? "" : nameIn(row, i) || (rows[row].kind === LET && main(row) === i ? nameIn(row) : "");
    return !name ? label : label.startsWith("%") ? name : `${name} ${label}`;
  }

  /**
   * The first local name of a row, or the one that stands for `item`.
   * @param {number} row
   */
  function nameIn(row, item = -1) {
    return rows[row].tokens.find(({ kind, ref }) => kind === NAME && (item < 0 || ref === item))?.text ?? "";
  }

  /** What an expression came from, what it became, and what became of its first ancestors in the other pipeline. */
  function kin(i) {
    const up = reach([i], (item) => items[item].from);
    const down = reach([i], (item) => into[item]);
    const all = new Set([...up, ...down]);
    const own = new Set(
      pipelines.filter(({ list }) => list.includes(items[i].stage)).flatMap(({ list }) => list),
    );
    if (pipelines.some(({ list }) => list.some((stage) => !own.has(stage)))) {
      for (const other of reach(up, (item) => into[item])) if (!own.has(items[other].stage)) all.add(other);
    }
    return all;
  }

  /** Those of `all` (from `kin`) that a stage holds, main expressions of their rows first. */
  function inStage(all, stage) {
    for (let at = stage; at >= 0; at = stages[at].before) {
      const found = [...all].filter((i) => items[i].stage === at).sort((a, b) => a - b);
      if (found.length || !stages[at].same) return found;
    }
    return [];
  }

  /**
   * The life of an expression in a pipeline: `[{ stage, items, mark }]`; mark null at the first stage where it is, in the program as given.
   * Where it became nothing there is a last entry with no items. Those that are what `like` is come first.
   */
  function history(all, list, like) {
    const other = (i) => (items[i].label === items[like].label ? 0 : 1);
    const out = [];
    for (const stage of list) {
      const here = inStage(all, stage).sort((a, b) => other(a) - other(b));
      if (!here.length) {
        if (out.length && out.at(-1).items.length) out.push({ stage, items: [], mark: REMOVED });
        continue;
      }
      out.push({ stage, items: here, mark: stages[stage].before < 0 ? null : markOf(stage, here) });
    }
    return out;
  }

  /** What it is called at each stage of a pipeline, from its history; "" where it is not. */
  function names(life, list) {
    const at = new Map(life.map((moment) => [moment.stage, [...new Set(moment.items.map(title))]]));
    return list.map((stage) => {
      const [first = "", ...more] = at.get(stage) ?? [];
      return more.length ? `${first} + ${more.length}` : first;
    });
  }

  function markOf(stage, here) {
    if (stages[stage].same) return KEPT;
    const marks = new Set(here.map((i) => items[i].mark));
    if (marks.has(REWRITTEN) || marks.size > 1) return REWRITTEN;
    const mark = items[here[0]].mark;
    const rowsHere = new Set(here.map((i) => items[i].row));
    return mark === KEPT &&
      stages[stage].pairs.some((pair) => pair.mark === MOVED && rowsHere.has(pair.after))
      ? MOVED
      : mark;
  }

  /** The first expression of the program as given from which one came, or itself. */
  function root(i) {
    let at = i;
    while (items[at].from.length) [at] = items[at].from;
    return at;
  }

  return {
    view,
    items,
    into,
    onRow,
    tree: view.tree,
    /** Whether the second expression is the first, or came from it, or both came from one. */
    related: (a, b) =>
      a >= 0 &&
      b >= 0 &&
      Boolean(items[a] && items[b]) &&
      (a === b || items[b].from.includes(a) || (items[a].label === items[b].label && root(a) === root(b))),
    stages,
    pipelines,
    cost,
    main,
    title,
    kin,
    inStage,
    history,
    names,
    /** @param {number} row */
    text: (row) => (row < 0 ? "" : rowText(rows[row])),
    costly: cost.some(({ flops, bytes }) => flops > 0 || bytes > 0),
    /** The position in the first pipeline that is shown first. */
    start: startOf(pipelines[0].list.map((stage) => stages[stage])),
  };
}
