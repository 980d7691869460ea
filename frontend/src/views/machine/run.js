// A recorded run of the virtual machine, indexed: what every register and object was after any step is looked up.
import { lastAt } from "../evaluation/run.js";
import { KINDS, MARKS } from "./marks.js";
/** @import { MachineView } from "../../generated/machine.js" */

/** @typedef {ReturnType<typeof createRun>} RecordedRun */

export const STORAGE = 0,
  TENSOR = 1,
  CELL = 5;
const CALL = MARKS.findIndex(({ id }) => id === "call");

/**
 * Everything that the changes say, by what it is about.
 * @param {MachineView} view
 */
function collect(view) {
  const run = {
    registers: view.frames.map(() => new Map()),
    texts: view.objects.map(() => []),
    stacks: [],
    events: view.steps.map(() => ({ written: new Map(), made: [], freed: [], filled: [] })),
    done: new Map(),
  };
  let stack = null;
  const push = (frame, below) => ({ frame, below, height: (below?.height ?? 0) + 1 });
  view.steps.forEach(({ frame, number, changes }, step) => {
    const event = run.events[step];
    /** @type {Record<string, (change: any) => void>} */
    const apply = {
      o: ({ object, text }) => {
        event.made.push(object);
        run.texts[object].push({ step, text });
      },
      t: ({ object, text }) => {
        event.filled.push(object);
        run.texts[object].push({ step, text });
      },
      d: ({ object }) => event.freed.push(object),
      f: ({ frame: at }) => {
        stack = push(at, stack);
      },
      g: ({ frame: at }) => {
        stack = push(at, stack?.below ?? null);
      },
      r: ({ frame: at }) => {
        if (stack?.frame === at) stack = stack.below;
      },
      x: () => {
        stack = null;
      },
      w: ({ frame: at, register, value }) => {
        if (!run.registers[at].has(register)) run.registers[at].set(register, []);
        run.registers[at].get(register).push({ step, value });
        event.written.set(`${at} ${register}`, value);
      },
    };
    for (const change of changes) apply[change.tag]?.(change);
    run.stacks.push(stack);
    const key = `${view.frames[frame].function} ${number}`;
    if (!run.done.has(key)) run.done.set(key, []);
    run.done.get(key).push(step);
  });
  return run;
}

/**
 * `createRun(view)`: questions about the run, each with the step it is asked at.
 * @param {MachineView} view
 */
export function createRun(view) {
  const run = collect(view);
  const { steps, frames, objects } = view;
  const functions = view.functions.map((fn, index) => ({ ...fn, index }));
  const fromRow = new Map();
  for (const fn of functions) {
    fn.code.forEach(({ rows }, number) => {
      for (const row of rows) fromRow.set(row, [...(fromRow.get(row) ?? []), { fn: fn.index, number }]);
    });
  }
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
   * What a register of a frame holds, `{ value, step }`, or undefined.
   * @param {number} number
   * @param {number} step
   */
  function register(frame, number, step) {
    const list = run.registers[frame]?.get(number);
    const at = list ? lastAt(list, step) : -1;
    return at >= 0 ? list[at] : undefined;
  }

  /**
   * What is in an object at a step; "" for a tensor that is not filled yet.
   * @param {number} step
   */
  function textOf(object, step) {
    const at = lastAt(run.texts[object], step);
    return at >= 0 ? run.texts[object][at].text : "";
  }

  /** @param {number} step */
  const seen = (object, step) => objects[object].made <= step;
  /** @param {number} step */
  const gone = (object, step) => step >= objects[object].freed;
  /** @param {number} step */
  const idle = (object, step) => step > objects[object].last;

  /**
   * "#4 not filled", "Cons(1, Nil)", "ref(3)": a value in one line.
   * @param {number} step
   */
  function say(value, step) {
    if (typeof value === "string") return value;
    const { kind, label } = objects[value];
    const inside = textOf(value, step);
    if (kind === STORAGE) return label;
    if (kind === TENSOR) return inside ? `${label} ${inside}` : `${label}, not filled`;
    return kind === CELL ? `ref(${inside})` : inside;
  }

  /**
   * Who holds each object: registers of the frames on the stack, as `{ frame, register }`.
   * @param {number} step
   */
  function holders(step, most = 60) {
    const out = new Map();
    for (let at = run.stacks[step], n = 0; at && n < most; at = at.below, n++) {
      for (let r = 0; r < functions[frames[at.frame].function].registers; r++) {
        const value = register(at.frame, r, step)?.value;
        if (typeof value === "number")
          out.set(value, [...(out.get(value) ?? []), { frame: at.frame, register: r }]);
      }
    }
    return out;
  }

  /** The tensors that lie in a storage, one after another. */
  const tenants = (storage) => objects.flatMap((o, i) => (o.storage === storage ? [i] : []));

  /**
   * The instruction that a frame stands at: the next one, or the call that it waits for; -1 where it was left.
   * @param {number} step
   */
  function standsAt(frame, step) {
    const all = stack(step);
    const at = all.indexOf(frame);
    if (at < 0) return -1;
    return at < all.length - 1
      ? frames[all[at + 1]].at
      : steps[step].frame === frame
        ? steps[step].following
        : -1;
  }

  /**
   * The rows that a step is about, the first one leading.
   * @param {number} step
   */
  function rowsOf(step) {
    const { frame, number } = steps[step];
    const fn = functions[frames[frame].function];
    if (number >= 0) return fn.code[number].rows;
    const from = fn.row >= 0 ? [fn.row] : (fn.code[0]?.rows ?? []);
    return from.slice(0, 1);
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
   * Where "over", "out" and "again" (the same instruction) lead from `step`; -1 where they lead nowhere.
   * @param {number} step
   * @param {number} by
   */
  function jump(kind, step, by) {
    const { mark, frame, number } = steps[step];
    if (kind === "again")
      return find(
        step,
        by,
        (at) => steps[at].number === number && frames[steps[at].frame].function === frames[frame].function,
      );
    // The step of a call stands inside it already; over it means to where it has come back.
    const base = height(step) - (mark === CALL && by > 0 ? 1 : 0);
    return find(step, by, kind === "over" ? (at) => height(at) <= base : (at) => height(at) < height(step));
  }

  /**
   * The next step that does instruction `number` of a function, from `step` on and then from the beginning; -1: never.
   * @param {number} step
   */
  function next(fn, number, step) {
    const all = run.done.get(`${fn} ${number}`) ?? [];
    return all.find((at) => at > step) ?? all[0] ?? -1;
  }

  /**
   * Bytes of storage and of tensors with memory of their own that are held after a step.
   * @param {number} step
   */
  function bytes(step) {
    let sum = 0;
    for (const { bytes: size, storage, given, made, freed } of objects)
      if (storage < 0 && !given && made <= step && step < freed) sum += size;
    return sum;
  }

  return {
    ...run,
    functions,
    fromRow,
    height,
    stack,
    register,
    textOf,
    seen,
    gone,
    idle,
    say,
    holders,
    tenants,
    standsAt,
    rowsOf,
    find,
    jump,
    next,
    bytes,
    /** @param {number} frame */
    functionOf: (frame) => functions[frames[frame]?.function],
    /** @param {number} frame */
    frameName: (frame) => functions[frames[frame].function].name,
    /** @param {number} object */
    kind: (object) => KINDS[objects[object].kind],
  };
}

/** `0–3, 7`: numbers in order, runs of them as one. */
export function ranges(numbers) {
  const runs = [];
  for (const n of numbers) {
    if (runs.length && n === runs.at(-1)[1] + 1) runs.at(-1)[1] = n;
    else runs.push([n, n]);
  }
  return runs.map(([a, b]) => (a === b ? `${a}` : `${a}–${b}`)).join(", ");
}
