// The frame that every explorer has: a bar, a sentence, its body, a foot; the link and help popovers; and
// the text that assistive technology hears.
import { activeIn, fill, h, uid } from "./dom.js";
import { keepFocus } from "./focus.js";
import { CHOSEN, importedNote } from "./imported.js";
/** @import { Binding, Child, Frame } from "./types.js" */

/**
 * Builds the frame in `root` and returns its parts:
 * `{ bar, say, body, foot, announce(text), popover(title, nodes), closePopover(), popoverOpen() }`.
 * @param {HTMLElement} root
 * @param {{ title: string, what: string, summary: string }} texts
 */
export function createFrame(root, { title, what, summary }) {
  const head = uid("title");
  const about = uid("about");
  const bar = h(
    "div",
    { class: "bar", role: "toolbar", "aria-label": `${what}: controls` },
    h("span", { class: "name", id: head, title }, title),
  );
  const say = h("div", { class: "say sentence", role: "group", "aria-label": "what happened" });
  const body = h("div", { class: "body" });
  const from = h("div", {
    class: "from-node",
    role: "note",
    "aria-label": "node of the model",
    hidden: true,
  });
  const foot = h("div", { class: "foot" });
  const live = h("div", { class: "sr", "aria-live": "polite", "aria-atomic": "true" });
  root.setAttribute("role", "region");
  root.setAttribute("aria-label", `${what}: ${title}`);
  root.setAttribute("aria-describedby", about);
  root.tabIndex = 0;
  root.append(h("p", { class: "sr", id: about }, summary), bar, say, body, from, foot, live);
  root.addEventListener(CHOSEN, (event) => {
    // An explorer inside another has a frame of its own.
    event.stopPropagation();
    const node = /** @type {CustomEvent} */ (event).detail;
    // The line stays once it is there, so that what stands below it does not move.
    if (node) from.hidden = false;
    fill(from, node ? importedNote(node) : "");
  });

  // The sentence's room only grows: what stands below it does not move back and forth while a reader steps.
  let width = 0;
  let tallest = 0;
  const sizes = new ResizeObserver(() => {
    if (say.clientWidth !== width) {
      width = say.clientWidth;
      tallest = 0;
      say.style.minHeight = "";
    }
    if (say.offsetHeight <= tallest) return;
    tallest = say.offsetHeight;
    say.style.minHeight = `${tallest}px`;
  });
  sizes.observe(say);

  const stopFocus = keepFocus(root);
  let timer = 0;
  /** @type {HTMLElement | null} */
  let pop = null;
  /** @type {(() => unknown) | null} */
  let closed = null;
  /** @type {HTMLElement | null} */
  let before = null;
  const frame = {
    root,
    bar,
    say,
    body,
    foot,
    announce,
    popover,
    closePopover,
    popoverOpen: () => pop !== null,
    destroy,
  };

  /**
   * Says `message` once the reader pauses: while a step key is held, only the last one is spoken.
   * @param {string} message
   */
  function announce(message) {
    clearTimeout(timer);
    timer = setTimeout(() => {
      live.textContent = message;
    }, 180);
  }

  /**
   * `onClose` is called once the popover is gone.
   * @param {string} heading
   * @param {Child} nodes
   * @param {(() => unknown) | null} onClose
   */
  function popover(heading, nodes, onClose = null) {
    closePopover();
    closed = onClose;
    before = activeIn(root);
    const id = uid("pop");
    const close = h(
      "button",
      { class: "btn close", type: "button", "aria-label": "close", onclick: closePopover },
      "✕",
    );
    pop = h(
      "div",
      { class: "pop", role: "dialog", "aria-labelledby": id },
      h("p", { class: "heading", id }, heading),
      nodes,
      close,
    );
    root.append(pop);
    (pop.querySelector("input") ?? close).focus({ preventScroll: true });
    return pop;
  }

  function closePopover() {
    if (!pop) return false;
    pop.remove();
    pop = null;
    closed?.();
    (before?.getClientRects().length ? before : root).focus({ preventScroll: true });
    return true;
  }

  function destroy() {
    clearTimeout(timer);
    stopFocus();
    sizes.disconnect();
    if (pop) closed?.();
    fill(root);
  }

  return frame;
}

/**
 * The popover that lists the keys of `bindings` (those with a label).
 * @param {Frame} frame
 * @param {readonly Binding[]} bindings
 * @param {Child[]} notes
 */
export function showHelp(frame, bindings, notes = []) {
  const list = h("dl");
  for (const { shown, keys, label } of bindings) {
    if (label)
      list.append(
        h(
          "dt",
          null,
          (shown ?? keys).map((key) => [h("kbd", null, key), " "]),
        ),
        h("dd", null, label),
      );
  }
  frame.popover("Keys", [list, ...notes]);
}
