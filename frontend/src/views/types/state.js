// The state of an inference after any step: the recorded changes applied in order, from checkpoints.
import { causeChain } from "../../core/steps.js";
/** @import { Appears, Moved, Popped, Queued, Requeued, Typed, TypesView, Unified } from "../../generated/types.js" */

export const UNSEEN = -1;
export const REL = { fresh: 0, queued: 1, running: 2, waiting: 3, done: 4, refused: 5 };
const CHECKPOINTS = 64;

/**
 * @param {number} vars
 * @param {number} rels
 */
function empty(vars, rels) {
  return {
    step: -1,
    seen: new Uint8Array(vars),
    /** The variable that leads each one's class, and the forest that the unions grew (roots name themselves). */
    lead: Int32Array.from({ length: vars }, (_, i) => i),
    parent: Int32Array.from({ length: vars }, (_, i) => i),
    /** The members of a class as a ring: the next one, round to the first. */
    next: Int32Array.from({ length: vars }, (_, i) => i),
    /** Of a class's leader: what is known of its type (0 nothing, 1 a part, 2 all), and its two spellings. */
    known: new Uint8Array(vars),
    short: Array(vars).fill(""),
    full: Array(vars).fill(""),
    /** Of a variable: the step that made its type known, or -1. */
    since: new Int32Array(vars).fill(-1),
    rel: new Int8Array(rels).fill(UNSEEN),
    queue: [],
  };
}

function copy(state) {
  const out = { ...state, queue: [...state.queue] };
  for (const [key, value] of Object.entries(state))
    if (ArrayBuffer.isView(value) || Array.isArray(value)) out[key] = /** @type {any[]} */ (value).slice();
  return out;
}

function unite(state, a, b) {
  const keep = state.lead[a];
  const gone = state.lead[b];
  if (keep === gone) return;
  state.parent[gone] = keep;
  for (const v of membersOf(state, gone)) state.lead[v] = keep;
  [state.next[keep], state.next[gone]] = [state.next[gone], state.next[keep]];
  const better = state.known[gone] > state.known[keep] ? gone : keep;
  learn(state, keep, state.short[better], state.full[better], state.known[better]);
}

/**
 * The variables of `v`'s class, itself first.
 * @param {number} v
 */
export function membersOf(state, v) {
  const out = [v];
  for (let at = state.next[v]; at !== v; at = state.next[at]) out.push(at);
  return out;
}

function learn(state, variable, short, full, known) {
  const lead = state.lead[variable];
  state.short[lead] = short;
  state.full[lead] = full;
  state.known[lead] = known;
  if (known !== 2) return;
  for (const v of membersOf(state, lead)) if (state.since[v] < 0) state.since[v] = state.step;
}

/** @type {Record<string, (state: any, change: any) => void>} */
const APPLY = {
  v: (state, { variable }) => {
    state.seen[variable] = 1;
  },
  t: (state, { variable, short, full, known }) => learn(state, variable, short, full, known),
  u: (state, { first, second }) => unite(state, first, second),
  r: (state, { relation, status }) => {
    state.rel[relation] = status;
  },
  q: (state, { relation: rel }) => {
    if (!state.queue.includes(rel)) state.queue.push(rel);
  },
  f: (state, { relation: rel }) => {
    const at = state.queue.indexOf(rel);
    if (at >= 0) state.queue.splice(at, 1);
    state.queue.unshift(rel);
  },
  p: (state, { relation: rel }) => {
    const at = state.queue.indexOf(rel);
    if (at >= 0) state.queue.splice(at, 1);
  },
};

/**
 * `seek(step)` returns the state after `step`; the object is reused, so read it before the next seek.
 * @param {TypesView} view
 */
export function createReplay(view) {
  const { steps } = view;
  const every = Math.max(16, Math.ceil(steps.length / CHECKPOINTS));
  const checkpoints = [empty(view.variables.length, view.relations.length)];
  let state = copy(checkpoints[0]);

  /** @param {number} target */
  function forward(target) {
    while (state.step < target) {
      state.step += 1;
      for (const change of steps[state.step].changes) APPLY[change.tag]?.(state, change);
      const at = (state.step + 1) / every;
      if (Number.isInteger(at) && at === checkpoints.length) checkpoints.push(copy(state));
    }
  }

  return {
    /** @param {number} step */
    seek(step) {
      const target = Math.max(-1, Math.min(steps.length - 1, step));
      const at = Math.min(checkpoints.length - 1, Math.floor((target + 1) / every));
      if (target < state.step || checkpoints[at].step > state.step) state = copy(checkpoints[at]);
      forward(target);
      return state;
    },
  };
}

/** The classes of more than one variable, leaders first, in the order of their first members. */
export function classes(state) {
  const { lead, seen } = state;
  const sizes = new Int32Array(lead.length);
  for (let v = 0; v < lead.length; v++) if (seen[v]) sizes[lead[v]] += 1;
  /** @type {Map<number, number[]>} */
  const groups = new Map();
  for (let v = 0; v < lead.length; v++) {
    if (!seen[v] || sizes[lead[v]] < 2) continue;
    const members = groups.get(lead[v]);
    if (members) members.push(v);
    else groups.set(lead[v], [v]);
  }
  return [...groups].map(([first, members]) => [first, ...members.filter((v) => v !== first)]);
}

/**
 * Name → variable, for the names that belong to one variable only, with what it is the type of as a second name.
 * @param {TypesView} view
 */
export function uniqueNames(view) {
  const names = new Map();
  /**
   * @param {string} name
   * @param {number} v
   */
  const add = (name, v) => names.set(name, names.has(name) && names.get(name) !== v ? -1 : v);
  view.variables.forEach(({ name, what }, v) => {
    add(name, v);
    if (what !== name) add(what, v);
  });
  return names;
}

/**
 * For each relation the steps that did something to it.
 * @param {TypesView} view
 */
export function stepsOf(view) {
  const out = view.relations.map(() => []);
  view.steps.forEach(({ changes }, step) => {
    for (const rel of touched(changes).rels) out[rel].push(step);
  });
  return out;
}

/**
 * For each variable the relations that mention it.
 * @param {TypesView} view
 */
export function relationsOf(view) {
  const out = view.variables.map(() => []);
  view.relations.forEach(({ variables: vars }, rel) => {
    for (const v of new Set(vars)) out[v]?.push(rel);
  });
  return out;
}

/**
 * The state after the last step; its `since` says when each variable became known.
 * @param {TypesView} view
 */
export const finalState = (view) => createReplay(view).seek(view.steps.length - 1);

/** The variables and relations that a step's changes name. */
export function touched(changes) {
  const vars = new Set();
  const rels = new Set();
  for (const change of changes) {
    if (change.tag === "v" || change.tag === "t") vars.add(change.variable);
    else if (change.tag === "u") vars.add(change.first).add(change.second);
    else rels.add(change.relation);
  }
  return { vars, rels };
}

/**
 * Why a step could happen: it, and the steps it rests on, back to the program.
 * @param {TypesView} view
 * @param {number} step
 */
export const becauseChain = (view, step, limit = 40) =>
  causeChain((at) => view.steps[at]?.because ?? [], step, limit);
