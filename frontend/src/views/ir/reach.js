// Parts of the graph that belong to a node: its neighbours, everything above or below it, and the paths between two nodes.

import { formatList, parseList } from "../../core/links.js";

/**
 * @typedef {{ kind: "near" | "up" | "down" | "paths", root: number, radius?: number, other?: number }} Reach
 * `near`: what is at most `radius` edges away; `up`: everything from which `root` is computed; `down`: everything that is computed from it;
 * `paths`: everything on a path from `root` to `other`.
 */

/**
 * What an edge leads to, again and again, from `roots`.
 * @param {number[]} roots
 * @param {number[][]} next
 */
function closure(roots, next) {
  const seen = new Set(roots),
    pending = [...roots];
  for (const v of pending) {
    for (const u of next[v]) {
      if (seen.has(u)) continue;
      seen.add(u);
      pending.push(u);
    }
  }
  return seen;
}

/**
 * The nodes at most `radius` edges from `root`.
 * @param {number} root
 * @param {number} radius
 */
export function neighbourhood(model, root, radius) {
  let ring = [root];
  const seen = new Set(ring);
  for (let r = 0; r < radius; r++) {
    const next = [];
    for (const v of ring) {
      for (const u of [...model.operands[v], ...model.users[v]]) {
        if (seen.has(u)) continue;
        seen.add(u);
        next.push(u);
      }
    }
    ring = next;
  }
  return seen;
}

/**
 * The nodes on paths between two nodes, in the direction in which there are any; without one, both nodes alone.
 * @param {number} a
 * @param {number} b
 */
function between(model, a, b) {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ]) {
    const after = closure([from], model.users);
    if (!after.has(to)) continue;
    const before = closure([to], model.operands);
    return new Set([...after].filter((v) => before.has(v)));
  }
  return new Set([a, b]);
}

/**
 * The nodes of a reach.
 * @param {Reach} reach
 * @returns {Set<number>}
 */
export function reachedBy(model, reach) {
  const { kind, root, radius, other } = reach;
  if (kind === "near") return neighbourhood(model, root, radius);
  if (kind === "paths") return between(model, root, other);
  return closure([root], kind === "up" ? model.operands : model.users);
}

/**
 * A reach as the text of a token: `up.12`, `paths.3.40`.
 * @param {Reach | null} reach
 */
export function formatReach(reach) {
  if (!reach || reach.kind === "near") return "";
  return `${reach.kind}.${formatList([reach.root, ...(reach.kind === "paths" ? [reach.other] : [])])}`;
}

/**
 * @param {string | undefined} text
 * @returns {Reach | null}
 */
export function parseReach(text, model) {
  const match = /^(up|down|paths)\.([\d.]+)$/.exec(text ?? "");
  if (!match) return null;
  const kind = /** @type {Reach["kind"]} */ (match[1]),
    [root, other] = match[2].split(".").map(Number);
  if (!(root < model.count) || (kind === "paths" && !(other < model.count))) return null;
  return kind === "paths" ? { kind, root, other } : { kind, root };
}

/**
 * A neighbourhood as the text of a token: `12.2`.
 * @param {string | undefined} text
 * @returns {Reach | null}
 */
export function parseNear(text, model) {
  const [root, radius] = parseList(text);
  return root < model.count && radius >= 1 && radius <= 3 ? { kind: "near", root, radius } : null;
}
