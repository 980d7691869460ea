// The script of an output that carries the bundle; Python calls `load` with it.
import { load as loadBundle } from "./run.js";

/**
 * @param {string} digest
 * @param {string} code
 */
export const load = (digest, code) => loadBundle(digest, code).mountAll();
