// The state of an explorer as text: `step=9&q=conv2d`. In a page it stands after the explorer's name in
// the address, `#rx-NAME:TOKEN`; in a notebook the reader hands it to `explore(..., state=TOKEN)`.

/** @import { State, Token } from "./types.js" */

/**
 * "step=9&q=a%20b" as an object of strings; what is not a pair is left out.
 * @param {string | null | undefined} token
 */
export function parseToken(token) {
  /** @type {State} */
  const state = {};
  for (const pair of String(token ?? "").split("&")) {
    const at = pair.indexOf("=");
    if (at < 1) continue;
    try {
      state[decodeURIComponent(pair.slice(0, at))] = decodeURIComponent(pair.slice(at + 1));
    } catch {
      // A damaged escape is a damaged pair: the rest of the token still counts.
    }
  }
  return state;
}

/**
 * The inverse; empty values are left out, keys keep their order.
 * @param {Token} state
 */
export function formatToken(state) {
  /**
   * @param {string} value
   */
  const escape = (value) =>
    encodeURIComponent(value).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return Object.entries(state)
    .filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false)
    .map(([key, value]) => `${escape(key)}=${escape(value === true ? "1" : String(value))}`)
    .join("&");
}

/**
 * `{ name, token }` of an address's fragment, or null when it names no explorer.
 * @param {string | null | undefined} hash
 */
export function parseHash(hash) {
  const match = /^#rx-([^:]*)(?::(.*))?$/s.exec(hash ?? "");
  return match ? { name: decodeURIComponent(match[1]), token: match[2] ?? "" } : null;
}

/**
 * @param {string} name
 * @param {string} token
 */
export const formatHash = (name, token) => `#rx-${encodeURIComponent(name)}${token ? `:${token}` : ""}`;

/**
 * Whole number from a token's value, or `fallback`.
 * @param {string | undefined} value
 * @param {number} fallback
 */
export function integer(value, fallback) {
  return /^-?\d{1,9}$/.test(value ?? "") ? Number(value) : fallback;
}

/**
 * Lists of indices, `3.5-9`, as used by `fold`.
 * @param {Iterable<number>} numbers
 */
export const formatList = (numbers) => [...numbers].sort((a, b) => a - b).join(".");
/**
 * @param {string | undefined} value
 */
export const parseList = (value) =>
  value
    ? value
        .split(".")
        .map((n) => integer(n, -1))
        .filter((n) => n >= 0)
    : [];
