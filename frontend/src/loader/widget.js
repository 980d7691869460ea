// The module of a live widget. A kernel sends a widget's module once for every widget, so this one is small: it uses the
// bundle that is in the page, or that the widget's state holds, or asks the kernel for it.
import { LOADED, bundle, isLoaded, load } from "./run.js";

const PATIENCE_MS = 10_000;
/** When a widget of this page asked last: others wait for its answer before they ask too. */
let asked = 0;

/** @typedef {{ get(name: string): any, set(name: string, value: any): void, save_changes?(): void, on?(event: string, listener: () => void): void, off?(event: string, listener: () => void): void }} Model */

/**
 * @param {Model} model
 * @returns {Promise<any>}
 */
function bundleOf(model) {
  const digest = model.get("digest");
  const available = () => {
    if (isLoaded(digest)) return bundle();
    return model.get("code") ? load(digest, model.get("code")) : null;
  };
  const now = available();
  if (now) return Promise.resolve(now);
  return new Promise((resolve, reject) => {
    const ask = () => {
      asked = Date.now();
      model.set("needs_code", true);
      model.save_changes?.();
    };
    const later = Date.now() - asked < PATIENCE_MS / 4 ? setTimeout(ask, PATIENCE_MS / 4) : ask();
    const timeout = setTimeout(() => {
      stop();
      reject(new Error("This explorer is live: run its cell again to see it. The kernel did not answer."));
    }, PATIENCE_MS);
    let done = false;
    function look() {
      const loaded = done ? null : available();
      if (!loaded || done) return; // loading it looks again
      done = true;
      stop();
      resolve(loaded);
    }
    function stop() {
      if (later) clearTimeout(later);
      clearTimeout(timeout);
      model.off?.("change:code", look);
      window.removeEventListener(LOADED, look);
    }
    model.on?.("change:code", look);
    window.addEventListener(LOADED, look);
  });
}

/** @param {{ model: Model, el: HTMLElement }} context */
async function render(context) {
  try {
    const loaded = await bundleOf(context.model);
    return loaded.render(context);
  } catch (error) {
    const text = document.createElement("p");
    text.setAttribute("role", "alert");
    text.textContent = /** @type {Error} */ (error).message;
    context.el.append(text);
    return undefined;
  }
}

export default { render };
