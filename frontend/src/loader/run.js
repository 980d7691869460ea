// Puts the bundle into a page once: outputs and widgets after the first one use what is there.
import { inflate } from "./inflate.js";

/** What the window tells when a bundle has been loaded. */
export const LOADED = "relay-explorer-loaded";

/** What the bundle leaves in the page: see index.js. */
export const bundle = () => globalThis.relayExplorer;

/** @param {string} digest */
export const isLoaded = (digest) => bundle()?.digest === digest;

/**
 * Loads the bundle unless the page has this one. `code` is the bundle as a classic script, compressed, in base64.
 * @param {string} digest
 * @param {string} code
 */
export function load(digest, code) {
  if (!isLoaded(digest)) {
    const bytes = inflate(Uint8Array.from(atob(code), (letter) => letter.charCodeAt(0)));
    const script = document.createElement("script");
    script.textContent = new TextDecoder().decode(bytes);
    document.head.append(script);
    script.remove();
    bundle().digest = digest;
    window.dispatchEvent(new Event(LOADED));
  }
  return bundle();
}
