// The step that is shown, as a band beside all rows, and what is still to come, pale. Two layers over the whole height of the
// rows: to move them touches two elements, where a property that the rows inherit would restyle everything in them.
import { h, set } from "../../core/dom.js";
/** @import { Rows } from "../../core/types.js" */

/**
 * `show({ first, span, step })` moves the step within the steps from `first` on, of which `span` are shown; `hide(on)` where
 * the column of lives is not there.
 * @param {Rows} rows
 */
export function createMoment(rows) {
  const now = h("i");
  const later = h("i");
  const layers = [
    ["under", now],
    ["over", later],
  ].map(([place, part]) =>
    h("div", { class: `moment ${place}`, "aria-hidden": "true" }, h("div", null, part)),
  );
  /** The steps that the rows' bars stand in, as last set. */
  let steps = "";

  return {
    /** @param {{ first: number, span: number, step: number }} time */
    show({ first, span, step }) {
      if (!layers[0].isConnected) rows.inner.append(...layers);
      const part = (/** @type {number} */ at) => `${(100 * (at - first)) / span}%`;
      now.style.left = part(step);
      now.style.width = `max(2px, ${100 / span}%)`;
      later.style.left = part(step + 1);
      if (steps === `${first} ${span}`) return;
      steps = `${first} ${span}`;
      rows.el.style.setProperty("--first", String(first));
      rows.el.style.setProperty("--span", String(span));
    },
    /** @param {boolean} on */
    hide(on) {
      for (const layer of layers) set(layer, "hidden", on);
    },
  };
}
