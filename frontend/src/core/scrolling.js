// Where a reader scrolled to by hand, as part of the state. What an explorer scrolled itself follows from the rest of the state.

/** What scrolls in an explorer, in the order of the page. */
const SCROLLS =
  ".scroller, .pane, .aside, .details, .lv-list, .run-scroll, .cost-scroll, .heap-pane, .map-details";
/** Milliseconds after a reader's hand within which scrolling is the reader's; a flick goes on for longer. */
const HAND = 250;
const MOST = 12;

/** The rows' window says and sets its first row itself. @typedef {HTMLElement & { rxFirst?: { get(): number, set(row: number): void } }} Scroller */

/**
 * `token()` is what the state says of scrolling, `restore(text)` scrolls there; `changed()` is called when the reader has
 * scrolled.
 * @param {HTMLElement} root
 * @param {() => unknown} changed
 */
export function watchScrolling(root, changed) {
  /** @type {Set<Scroller>} */
  const byHand = new Set();
  let touched = -Infinity;
  let frame = 0;

  const hand = () => {
    touched = performance.now();
  };
  /** @param {Event} event */
  function scrolled(event) {
    const target = /** @type {Scroller} */ (event.target);
    if (!(target instanceof HTMLElement) || !target.matches(SCROLLS)) return;
    if (performance.now() - touched < HAND) {
      touched = performance.now();
      byHand.add(target);
      changed();
    } else byHand.delete(target);
  }
  /** @param {PointerEvent} event */
  const dragged = (event) => {
    if (event.buttons) hand();
  };
  root.addEventListener("wheel", hand, { capture: true, passive: true });
  root.addEventListener("touchmove", hand, { capture: true, passive: true });
  root.addEventListener("pointermove", dragged, true);
  root.addEventListener("scroll", scrolled, true);

  const all = () => /** @type {Scroller[]} */ ([...root.querySelectorAll(SCROLLS)]);
  /** @param {Scroller} node */
  const place = (node) =>
    node.rxFirst ? node.rxFirst.get() : Math.round((1000 * node.scrollTop) / Math.max(1, node.scrollHeight));

  return {
    token: () =>
      all()
        .map((node, index) => [node, index])
        .filter(([node]) => byHand.has(/** @type {Scroller} */ (node)))
        .slice(0, MOST)
        .map(([node, index]) => `${index}.${place(/** @type {Scroller} */ (node))}`)
        .join("_"),
    /** @param {string | undefined} text */
    restore(text) {
      cancelAnimationFrame(frame);
      byHand.clear();
      const wanted = (text ?? "")
        .split("_")
        .slice(0, MOST)
        .map((part) => /^(\d{1,3})\.(\d{1,6})$/.exec(part))
        .filter((match) => match !== null);
      if (!wanted.length) return;
      // After the explorer has scrolled to what the rest of the state is about, and has its final height.
      frame = requestAnimationFrame(() => {
        frame = requestAnimationFrame(() => {
          const nodes = all();
          for (const [, index, at] of wanted) {
            const node = nodes[Number(index)];
            if (!node) continue;
            if (node.rxFirst) node.rxFirst.set(Number(at));
            else node.scrollTop = (Number(at) / 1000) * node.scrollHeight;
            byHand.add(node);
            touched = performance.now(); // the event of this scrolling is the reader's, too
          }
        });
      });
    },
    destroy() {
      cancelAnimationFrame(frame);
    },
  };
}
