// Walking the steps of any view that has them: to the next one that is kept, and back along what each rests on.

/** @import { Keep } from "./types.js" */

/**
 * The next step from `from` in direction `by` that is kept, or `from` when there is none.
 * @param {Keep} keep
 * @param {number} from
 * @param {number} by
 * @param {number} count
 */
export function nextStep(keep, from, by, count) {
  for (let step = from + by; step >= 0 && step < count; step += by) if (!keep || keep(step)) return step;
  return from;
}

/**
 * The step, and those it rests on, nearest first and each once: `{ chain: [{ step, depth }], more }`. `becauseOf(step)`
 * lists the direct causes; `limit` bounds the chain, `more` says how many were left out.
 * @param {(step: number) => readonly number[]} becauseOf
 * @param {number} step
 */
export function causeChain(becauseOf, step, limit = 40) {
  const chain = [];
  const told = new Set([step]);
  const open = [[step, 0]];
  for (let i = 0; i < open.length; i++) {
    const [at, depth] = open[i];
    chain.push({ step: at, depth });
    for (const cause of becauseOf(at)) {
      if (told.has(cause) || cause < 0 || cause >= at) continue;
      told.add(cause);
      open.push([cause, depth + 1]);
    }
  }
  return { chain: chain.slice(0, limit), more: Math.max(0, chain.length - limit) };
}
