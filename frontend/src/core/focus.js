// The keyboard stays in the explorer: where what had the focus is removed or hidden, the explorer itself has it next.
import { activeIn } from "./dom.js";

/**
 * Watches what a reader's keys and clicks do to the focus inside `root`. Returns what ends it.
 * @param {HTMLElement} root
 */
export function keepFocus(root) {
  let timer = 0;
  const isInside = () => {
    const active = activeIn(root);
    return active !== null && root.contains(active) ? active : null;
  };
  function look() {
    // Who went elsewhere, with Tab or by a click on the page, stays there.
    const { ownerDocument: page } = root;
    const active = isInside();
    const lost = active
      ? active !== root && active.getClientRects().length === 0
      : page.activeElement === null || page.activeElement === page.body;
    if (lost && root.isConnected) root.focus({ preventScroll: true });
  }
  const listen = () => {
    if (!isInside()) return;
    clearTimeout(timer);
    timer = setTimeout(look);
  };
  const events = ["keydown", "click"];
  for (const event of events) root.addEventListener(event, listen, true);
  return () => {
    clearTimeout(timer);
    for (const event of events) root.removeEventListener(event, listen, true);
  };
}

/**
 * What had the focus and was drawn anew has it again, or the keys would go to the page; `names`: what its data tell it by.
 * @param {HTMLElement} root
 * @param {HTMLElement | null} before
 * @param {readonly string[]} names
 */
export function focusSame(root, before, names) {
  if (!before || before.isConnected) return;
  const same = names
    .filter((name) => before.dataset[name])
    .map((name) => `[class~="${before.classList[0]}"][data-${name}="${before.dataset[name]}"]`);
  /** @type {HTMLElement | null} */
  const again = same.length ? root.querySelector(same.join()) : null;
  (again ?? root).focus({ preventScroll: true });
}
