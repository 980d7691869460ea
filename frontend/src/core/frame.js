// The frame that every explorer has: a bar, a sentence, its body, a foot; the link and help popovers; and
// the text that assistive technology hears.
import { createSlimBar } from "./bar.js";
import { activeIn, fill, h, uid } from "./dom.js";
import { wholeWindow } from "./fit.js";
import { keepFocus } from "./focus.js";
import { CHOSEN, importedNote } from "./imported.js";
/** @import { Binding, Child, Frame } from "./types.js" */

/**
 * Builds the frame in `root` and returns its parts: `{ bar, say, body, foot, announce(text), popover(title, nodes),
 * closePopover(), popoverOpen(), settle(), openSay(), full, back() }`. Call `settle()` once the bar has its buttons; `back()`
 * closes what lies over the rows, the innermost first, and is false where nothing does.
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
  const more = h(
    "button",
    { class: "btn more", type: "button", hidden: true, "aria-expanded": false, onclick: () => openSay() },
    "more",
  );
  const place = h("p", { class: "where", hidden: true });
  const words = h("div", { class: "words" }, place, say);
  const said = h("div", { class: "said" }, words, more);
  const body = h("div", { class: "body" });
  const from = h("div", {
    class: "from-node",
    role: "note",
    "aria-label": "node of the model",
    hidden: true,
  });
  const foot = h("div", { class: "foot" });
  const live = h("div", { class: "sr", "aria-live": "polite", "aria-atomic": "true" });
  root.classList.add("framed");
  root.setAttribute("role", "region");
  root.setAttribute("aria-label", `${what}: ${title}`);
  root.setAttribute("aria-describedby", about);
  root.tabIndex = 0;
  root.append(h("p", { class: "sr", id: about }, summary), bar, said, body, from, foot, live);
  root.addEventListener(CHOSEN, (event) => {
    // An explorer inside another has a frame of its own.
    event.stopPropagation();
    const node = /** @type {CustomEvent} */ (event).detail;
    // The line stays once it is there, so that what stands below it does not move.
    if (node) from.hidden = false;
    fill(from, node ? importedNote(node) : "");
  });

  // The sentence has a room that does not change; a longer one is opened in full over the rows.
  const cut = () => {
    if (!said.classList.contains("open")) more.hidden = words.scrollHeight <= said.clientHeight + 1;
    said.classList.toggle("cut", !more.hidden);
  };
  // The foot's room only grows, so that the rows' does not change back and forth.
  let width = 0;
  const tallest = () => {
    if (foot.clientWidth !== width) foot.style.minHeight = "";
    width = foot.clientWidth;
    if (foot.offsetHeight > parseFloat(foot.style.minHeight || "0"))
      foot.style.minHeight = `${foot.offsetHeight}px`;
  };
  const sizes = new ResizeObserver(() => {
    cut();
    tallest();
  });
  sizes.observe(foot);
  const other = new MutationObserver(() => {
    place.hidden = true;
    cut();
  });
  sizes.observe(said);
  other.observe(say, { childList: true, subtree: true, characterData: true });

  /**
   * Says above the sentence where the reader is, until there is another sentence.
   * @param {string} message
   */
  function where(message) {
    place.textContent = message;
    place.hidden = message === "";
    other.takeRecords();
    cut();
  }

  /** Opens the sentence in full, or closes it; says whether there was something to do. */
  function openSay(open = !said.classList.contains("open")) {
    if (open === said.classList.contains("open") || (open && more.hidden)) return false;
    said.classList.toggle("open", open);
    more.setAttribute("aria-expanded", String(open));
    // A region that scrolls can have the focus.
    if (open) words.tabIndex = 0;
    else words.removeAttribute("tabindex");
    more.textContent = open ? "less" : "more";
    more.title = `the sentence ${open ? "in its room" : "in full"} (d)`;
    if (!open) cut();
    return true;
  }

  const told = h("div", { class: "range-note", role: "group", "aria-label": "selected part", hidden: true });
  said.append(told);
  /**
   * What lies over the first rows: the part of a run that is selected; null takes it away.
   * @param {Child} nodes
   */
  function note(nodes) {
    const inside = told.contains(activeIn(root));
    fill(told, nodes);
    told.hidden = nodes === null;
    if (inside) root.focus({ preventScroll: true });
  }

  const slim = createSlimBar(root, bar, foot);
  const full = wholeWindow(root, (on) => slim.filled(on));
  slim.onFull(full.toggle);

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
    settle: slim.settle,
    openSay,
    where,
    note,
    full,
    back,
    destroy,
  };

  function back() {
    return closePopover() || slim.close() || openSay(false);
  }

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
    other.disconnect();
    full.leave();
    slim.destroy();
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
