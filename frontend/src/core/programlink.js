// A program in the fragment of an address: `#play.d.…` is JSON, deflated, as base64; `#play.p.…` is not deflated, for
// browsers that cannot. A link is data from anywhere: its size is bounded, and its content is only ever text.
import { fromBase64, packed, toBase64, unpacked } from "./bytes.js";
/** @import { Options, Saved } from "../playground/types.js" */

export const MAX_LINK = 60_000; // characters: browsers and chat programs cut longer addresses
const MAX_SAVED = 1_200_000; // bytes after unpacking
const MAX_OPTION = 4_000;

/**
 * The fragment that holds a program, or null where it would be too long.
 * @param {Saved} saved
 * @returns {Promise<string | null>}
 */
export async function formatLink({ text, view, options, state }) {
  const json = JSON.stringify({ t: text, v: view, o: options, s: state || undefined });
  const deflated = typeof CompressionStream === "function";
  const bytes = deflated ? await packed(json) : new TextEncoder().encode(json);
  const fragment = `#play.${deflated ? "d" : "p"}.${toBase64(bytes)}`;
  return fragment.length > MAX_LINK ? null : fragment;
}

/**
 * The program that a fragment holds; null where it holds none, or a damaged one.
 * @param {string} fragment
 * @returns {Promise<Saved | null>}
 */
export async function parseLink(fragment) {
  const match = /^#play\.([dp])\.([\w-]+)$/.exec(fragment);
  if (!match || fragment.length > 2 * MAX_LINK) return null;
  try {
    const bytes = fromBase64(match[2]);
    const json = match[1] === "d" ? await unpacked(bytes, MAX_SAVED) : bytes;
    return checked(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(json)));
  } catch {
    return null;
  }
}

/**
 * @param {any} data
 * @returns {Saved | null}
 */
function checked(data) {
  if (typeof data?.t !== "string") return null;
  return {
    text: data.t,
    view: typeof data.v === "string" ? data.v.slice(0, 40) : "types",
    options: optionsOf(data.o),
    state: typeof data.s === "string" ? data.s.slice(0, MAX_OPTION) : "",
  };
}

/**
 * The options of a view, where they are texts.
 * @param {any} data
 * @returns {Options}
 */
function optionsOf(data) {
  /** @type {Options} */
  const options = {};
  for (const name of /** @type {const} */ (["passes", "against", "limit"]))
    if (typeof data?.[name] === "string") options[name] = data[name].slice(0, MAX_OPTION);
  if (Array.isArray(data?.args))
    options.args = data.args
      .slice(0, 64)
      .map((/** @type {unknown} */ arg) => (typeof arg === "string" ? arg.slice(0, MAX_OPTION) : ""));
  return options;
}
