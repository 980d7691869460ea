// Lanes, like those of a commit graph: who uses what, drawn beside the rows in a fixed width.

/** Lanes that there is room for, and how many rows a line may run before it is cut into two stubs. */
export const LANES = 5;
export const FAR = 40;

/**
 * `items`: `[{ node, row }]` in the order of the rows; `usersOf(node)`: the nodes that use it. An item's value runs
 * down its lane to the last user, who takes the lane over; the other users are reached by a branch. Where no lane is
 * free, the line that would run longest is cut: what is cut, and what is farther than `far` rows, is in `out` and `into`.
 * Returns `{ lane: Map(node → lane), trunks: [{ node, lane, users: [node] }], out: Map(node → [user]), into: Map(node → [source]) }`.
 * @param {{ node: number, row: number }[]} items
 * @param {(node: number) => number[]} usersOf
 */
export function layoutLanes(items, usersOf, { lanes = LANES, far = FAR } = {}) {
  const time = new Map(items.map(({ node }, t) => [node, t]));
  const lane = new Map();
  const trunks = [];
  const [out, into] = [new Map(), new Map()];
  const active = Array.from({ length: lanes }, () => null);

  const add = (map, key, value) => (map.has(key) ? map.get(key).push(value) : map.set(key, [value]));
  function cut(node, user) {
    add(out, node, user);
    add(into, user, node);
  }
  /** @param {any} trunk */
  const last = (trunk) => (trunk.users.length ? time.get(trunk.users.at(-1)) : time.get(trunk.node));

  /** The lane whose line runs longest, which ends before `t` from now on. */
  function evict(t) {
    const longest = active.reduce((best, trunk, i) => (last(trunk) > last(active[best]) ? i : best), 0);
    const trunk = active[longest];
    while (trunk.users.length && time.get(trunk.users.at(-1)) >= t) cut(trunk.node, trunk.users.pop());
    return longest;
  }

  items.forEach(({ node, row }, t) => {
    // A line that ends here is taken over: that is what makes a chain a straight line.
    let at = active.findIndex((trunk) => trunk !== null && last(trunk) === t && trunk.users.length > 0);
    if (at < 0) at = active.findIndex((trunk) => trunk === null || last(trunk) <= t);
    if (at < 0) at = evict(t);
    lane.set(node, at);
    const users = [...new Set(usersOf(node))]
      .filter((user) => time.has(user))
      .sort((a, b) => time.get(a) - time.get(b));
    const near = users.filter((user) => time.get(user) > t && items[time.get(user)].row - row <= far);
    for (const user of users) if (!near.includes(user)) cut(node, user);
    const trunk = { node, lane: at, users: near };
    active.forEach((other, i) => {
      if (other && last(other) <= t) active[i] = null;
    });
    active[at] = trunk;
    trunks.push(trunk);
  });
  return { lane, trunks: trunks.filter(({ users }) => users.length > 0), out, into };
}

/**
 * A lane for each span `[first, last]` (others left out where there is no room), so that no two on one lane overlap:
 * the lanes in the order of `spans`, -1 for one that has none.
 * @param {number} lanes
 */
export function spanLanes(spans, lanes) {
  const free = Array.from({ length: lanes }, () => -1);
  const order = spans.map((_, i) => i).sort((a, b) => spans[a][0] - spans[b][0]);
  const out = spans.map(() => -1);
  for (const i of order) {
    const at = free.findIndex((end) => end < spans[i][0]);
    if (at < 0) continue;
    free[at] = spans[i][1];
    out[i] = at;
  }
  return out;
}

/** Rows that an entry of `rowIndex` stands for. */
const BLOCK = 64;

/**
 * Finds what stands near some rows without looking at all of a long program: `near(first, last)` gives those of `list` whose
 * span of rows, `spanOf(entry)`, may reach into these, in their order.
 * @template T
 * @param {readonly T[]} list
 * @param {(entry: T) => readonly [number, number]} spanOf
 * @returns {(first: number, last: number) => T[]}
 */
export function rowIndex(list, spanOf) {
  /** @type {number[][]} */
  const blocks = [];
  list.forEach((entry, i) => {
    const [first, last] = spanOf(entry);
    for (let at = Math.floor(first / BLOCK); at <= last / BLOCK; at++) (blocks[at] ??= []).push(i);
  });
  return (first, last) => {
    const found = new Set();
    for (let at = Math.max(0, Math.floor(first / BLOCK)); at <= last / BLOCK; at++)
      for (const i of blocks[at] ?? []) found.add(i);
    return [...found].sort((a, b) => a - b).map((i) => list[i]);
  };
}

/** How many rows beyond the window's a line is drawn. */
const BEYOND = 4;

/**
 * The first and the last row in and around the window, for `rowIndex`.
 * @param {import("../../core/types.js").Rows} rows
 * @returns {[number, number]}
 */
export function rowsAround(rows) {
  const shown = rows.window();
  return [(shown[0] ?? 0) - BEYOND, (shown.at(-1) ?? -1) + BEYOND];
}
