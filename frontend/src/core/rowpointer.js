// What a pointer does in rows.
/** @import { Hit } from "./types.js" */

/**
 * @param {Event} event
 * @returns {Hit | null}
 */
function hitOf(event) {
  const target = /** @type {Element} */ (event.target);
  /** @type {HTMLElement | null | undefined} */
  const node = target.closest?.(".row");
  if (!node) return null;
  /** @type {HTMLElement | null} */
  const ref = target.closest("[data-ref]");
  return { row: Number(node.dataset.row), ref: ref ? Number(ref.dataset.ref) : -1, target };
}

/**
 * @param {{ el: HTMLElement, inner: HTMLElement }} parts the grid, and what has its rows
 * @param {{
 *   toggle: (row: number) => unknown, select: (row: number) => unknown, activate: (row: number) => unknown,
 *   hover: (hit: Hit | null) => unknown,
 * }} hand
 */
export function watchPointer({ el, inner }, { toggle, select, activate, hover }) {
  inner.addEventListener("click", (event) => {
    const hit = hitOf(event);
    if (!hit) return;
    if (hit.target.closest(".twist")) toggle(hit.row);
    else if (!hit.target.closest("button, a")) select(hit.row);
  });
  inner.addEventListener("dblclick", (event) => {
    const hit = hitOf(event);
    if (hit) activate(hit.row);
  });
  inner.addEventListener("pointerover", (event) => hover(hitOf(event)));
  el.addEventListener("pointerleave", () => hover(null));
}
