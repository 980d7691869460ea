// A recorded run, indexed: what every frame, cell and object was after any step. Nothing is replayed: names get
// their values once in a frame, so the state is looked up.
/** @import { EvaluationView } from "../../generated/evaluation.js" */

/** @typedef {ReturnType<typeof createRun>} RecordedRun */

export const MARK = {
  begin: 0,
  value: 1,
  call: 2,
  tail: 3,
  return: 4,
  choice: 5,
  closure: 6,
  cell: 7,
  failure: 8,
  end: 9,
  gap: 10,
};
/**
 * A value is an object, by its index, or a text.
 * @param {number} value
 */
export const isObject = (value) => typeof value === "number";

export const KIND = { tensor: 0, tuple: 1, data: 2, ref: 3, closure: 4 };

/**
 * The last entry of `list`, ordered by step, at or before `step`; its index, or -1.
 * @param {number} step
 */
export function lastAt(list, step) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle].step <= step) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Everything that the changes say, by what it is about.
 * @param {EvaluationView} view
 */
function collect(view) {
  /**
   * @template T
   * @param {() => T} make
   */
  const perFrame = (make) => view.frames.map(make);
  const run = {
    bound: perFrame(() => new Map()),
    captured: perFrame(() => new Map()),
    taken: perFrame(() => /** @type {{ step: number, row: number }[]} */ ([])),
    opened: perFrame(() => /** @type {{ step: number, objects: number[] }[]} */ ([])),
    written: new Map(),
    stacks: [],
    lines: view.rows.map(() => []),
    events: view.steps.map(() => ({ names: [], objects: [], matched: [] })),
  };
  let stack = null;
  const push = (frame, below) => ({ frame, below, height: (below?.height ?? 0) + 1 });
  view.steps.forEach(({ frame: here, changes }, step) => {
    const event = run.events[step];
    const bind =
      (into) =>
      ({ frame, name, value }) => {
        if (!into[frame].has(name)) into[frame].set(name, []);
        into[frame].get(name).push({ step, value });
        const row = view.names[name].row;
        if (row >= 0 && into === run.bound) run.lines[row].push({ step, frame, name, value });
        event.names.push({ frame, name, value });
      };
    /** @type {Record<string, (change: any) => void>} */
    const apply = {
      o: ({ object }) => event.objects.push(object),
      f: ({ frame }) => {
        stack = push(frame, stack);
      },
      g: ({ frame }) => {
        stack = push(frame, stack?.below ?? null);
      },
      r: ({ frame }) => {
        if (stack?.frame === frame) stack = stack.below;
      },
      x: () => {
        stack = null;
      },
      b: bind(run.bound),
      e: bind(run.captured),
      k: ({ frame, row }) => run.taken[frame].push({ step, row }),
      m: ({ objects }) => {
        event.matched = objects;
        if (here >= 0) run.opened[here].push({ step, objects });
      },
      w: ({ object, value }) => {
        if (!run.written.has(object)) run.written.set(object, []);
        run.written.get(object).push({ step, value });
      },
    };
    for (const change of changes) apply[change.tag]?.(change);
    run.stacks.push(stack);
  });
  return run;
}

/**
 * `createRun(view)`: questions about the run, each with the step it is asked at.
 * @param {EvaluationView} view
 */
export function createRun(view) {
  const run = collect(view);
  const { steps, frames, objects, names } = view;
  /** @param {number} step */
  const height = (step) => run.stacks[step]?.height ?? 0;

  /**
   * Frames of the stack, outermost first.
   * @param {number} step
   */
  function stack(step) {
    const out = [];
    for (let at = run.stacks[step]; at; at = at.below) out.push(at.frame);
    return out.reverse();
  }

  /**
   * The value of a name in a frame, or undefined where it has none yet.
   * @param {number} step
   */
  function value(frame, name, step) {
    for (const from of [run.bound, run.captured]) {
      const list = from[frame]?.get(name);
      const at = list ? lastAt(list, step) : -1;
      if (at >= 0) return list[at].value;
    }
    return undefined;
  }

  /**
   * What a frame knows: `[{ name, value, step, captured }]`, in the order in which it came to know it.
   * @param {number} step
   */
  function environment(frame, step) {
    const out = [];
    for (const [from, captured] of [
      [run.captured, true],
      [run.bound, false],
    ]) {
      for (const [name, list] of from[frame] ?? []) {
        const at = lastAt(list, step);
        if (at >= 0) out.push({ name, value: list[at].value, step: list[at].step, captured });
      }
    }
    return out.sort((a, b) => Number(b.captured) - Number(a.captured) || a.step - b.step || a.name - b.name);
  }

  /**
   * What a cell has held up to now, oldest first: `[{ value, step }]`.
   * @param {number} object
   * @param {number} step
   */
  function held(object, step) {
    const [first] = objects[object].parts;
    const list = run.written.get(object) ?? [];
    return [
      ...(first ? [{ value: first.value, step: objects[object].step }] : []),
      ...list.slice(0, lastAt(list, step) + 1),
    ];
  }

  /**
   * The parts of an object now: `[{ name, value, role }]`; of a cell, what it holds.
   * @param {number} step
   */
  function parts(object, step) {
    if (objects[object].kind === KIND.ref)
      return held(object, step)
        .slice(-1)
        .map((now) => ({ name: "", value: now.value, role: 0 }));
    return objects[object].parts;
  }

  /**
   * Objects that choices of waiting frames opened, and those of this very step.
   * @param {number} step
   */
  function opened(step) {
    const open = new Set();
    for (const frame of stack(step)) {
      const list = run.opened[frame];
      for (let at = lastAt(list, step); at >= 0; at--)
        for (const object of list[at].objects) open.add(object);
    }
    return { open, now: new Set(run.events[step].matched) };
  }

  /**
   * The row where a frame stands: under the cursor, waiting for a call, or where it was left; -1 if it is not told.
   * @param {number} step
   */
  function standsAt(frame, step) {
    const frames_ = stack(step);
    const at = frames_.indexOf(frame);
    if (at >= 0 && at < frames_.length - 1) return frames[frames_[at + 1]].call_row;
    const from = at < 0 ? Math.min(step, frames[frame].left) : step;
    const last = find(from + 1, -1, (one) => steps[one].frame === frame && steps[one].row >= 0);
    return last < 0 ? -1 : steps[last].row;
  }

  /** The first frame that had the place of this one, before any tail call. */
  function origin(frame) {
    let at = frame;
    while (frames[at].before >= 0) at = frames[at].before;
    return at;
  }

  /** @param {number} step */
  const blockOf = (frame, step) =>
    run.taken[frame].slice(0, lastAt(run.taken[frame], step) + 1).map(({ row }) => row);

  /** "3", "Cons(1, Nil)", "(3, 4) f32", "ref(3)": a value in one line; of a cell, what it holds at `step`. */
  function say(v, step = steps.length) {
    if (!isObject(v)) return v;
    const { kind, label, text: whole } = objects[v];
    if (kind === KIND.tensor) return label;
    if (kind !== KIND.ref) return whole;
    const now = held(v, step).at(-1)?.value;
    return `${label}(${now === undefined ? "" : isObject(now) ? objects[now].label : now})`;
  }

  /**
   * The next step for which `test` holds from `step` in direction `by`, or -1.
   * @param {number} step
   * @param {number} by
   */
  function find(step, by, test) {
    for (let at = step + by; at >= 0 && at < steps.length; at += by) if (test(at)) return at;
    return -1;
  }

  /**
   * Where "over", "out" and "row" lead from `step` in direction `by`; -1 where they lead nowhere.
   * @param {number} step
   * @param {number} by
   * @param {number} row
   */
  function jump(kind, step, by, row) {
    if (kind === "row") return find(step, by, (at) => steps[at].row === row);
    // The step of a call stands inside it already; over it means to where it has come back.
    const base = height(step) - (steps[step]?.mark === MARK.call && by > 0 ? 1 : 0);
    return find(step, by, kind === "over" ? (at) => height(at) <= base : (at) => height(at) < height(step));
  }

  return {
    ...run,
    height,
    stack,
    value,
    environment,
    held,
    parts,
    opened,
    standsAt,
    origin,
    blockOf,
    find,
    /**
     * @param {number} object
     * @param {number} step
     */
    seen: (object, step) => objects[object].step <= step,
    /**
     * Whether nothing that is still to be evaluated can reach the object.
     * @param {number} step
     * @param {number} object
     */
    consumed: (object, step) => step > objects[object].last,
    say,
    nameOf: (name) => names[name].name,
    /** @param {number} frame */
    frameName: (frame) => frames[frame].name,
    jump,
  };
}
