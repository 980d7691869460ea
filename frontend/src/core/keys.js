// The keyboard: one listener on the explorer, one table of keys, which is also the help.

/** @import { Explorer } from "./explorer.js" */
/** @import { Binding, Frame, KeyEvent } from "./types.js" */
/** @import { Move } from "./transport.js" */

const TYPING = "input, textarea, select, [contenteditable]";

/**
 * "ArrowLeft", "Shift+ArrowLeft", "/" … of an event.
 * @param {KeyboardEvent} event
 */
export function keyName(event) {
  const shift = event.shiftKey && event.key.length > 1 ? "Shift+" : "";
  return shift + event.key;
}

/**
 * Binds keys on `node`. `bindings` is a list of `{ keys, label, shown, run(event) }`: `run` returning false
 * lets the event go on. Events that come from a text field reach only bindings marked `typing`.
 * @param {HTMLElement} node
 * @param {readonly Binding[]} bindings
 */
export function bindKeys(node, bindings) {
  /** @type {Map<string, Binding>} */
  const table = new Map();
  for (const binding of bindings) for (const key of binding.keys) table.set(key, binding);
  const listen = (/** @type {KeyboardEvent} */ pressed) => {
    const event = /** @type {KeyEvent} */ (pressed);
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    // Enter on a link follows it.
    if (event.key === "Enter" && event.target.closest?.("a[href]")) return;
    const binding = table.get(keyName(event));
    if (event.target.closest?.(TYPING) && !binding?.typing) {
      // What is typed here is no key of the page's: it cannot see a field inside the shadow root.
      event.stopPropagation();
      return;
    }
    if (!binding || binding.run(event) === false) return;
    // The page, or the notebook around it, must not act on the same key.
    event.preventDefault();
    event.stopPropagation();
  };
  node.addEventListener("keydown", listen);
  return () => node.removeEventListener("keydown", listen);
}

/**
 * Whether the event belongs to a button: space and Enter press it.
 * @param {KeyEvent} event
 */
export const onButton = (event) => event.target.closest("button, select, [role=button], [role=tab]") !== null;

/**
 * A binding for one key, or for several that do the same.
 * @param {string | string[]} keys
 * @param {string} label
 * @param {(event: KeyEvent) => unknown} run
 * @returns {Binding}
 */
export const key = (keys, label, run) => ({ keys: [keys].flat(), label, run });

/**
 * Two keys, one that goes forward and one that goes back: `run(1)` and `run(-1)`.
 * @param {[forward: string, back: string]} keys
 * @param {string} label
 * @param {(by: number, event: KeyEvent) => unknown} run
 * @returns {Binding}
 */
export const both = (keys, label, run) =>
  key(keys, label, (event) => run(event.key === keys[0] ? 1 : -1, event));

/**
 * The keys that go from step to step, in the words of the explorer; `pages` only where a long run has them.
 * @param {Explorer} explorer
 * @param {{ next?: string, previous?: string, ends?: string, pages?: string, unless?: (event: KeyEvent) => boolean }} [labels]
 * @returns {Binding[]}
 */
export function stepKeys(explorer, labels = {}) {
  const {
    next = "next step",
    previous = "previous step",
    ends = "first and last step",
    pages,
    unless,
  } = labels;
  /** @param {(event: KeyEvent) => Move} name */
  const go = (name) => (/** @type {KeyEvent} */ event) => {
    if (unless?.(event)) return;
    explorer.transport.stop();
    explorer.move(name(event), event);
  };
  return [
    {
      ...key(
        "ArrowRight",
        next,
        go(() => "forward"),
      ),
      shown: ["→"],
    },
    {
      ...key(
        "ArrowLeft",
        previous,
        go(() => "back"),
      ),
      shown: ["←"],
    },
    key(
      ["Home", "End"],
      ends,
      go((event) => (event.key === "Home" ? "first" : "last")),
    ),
    ...(pages
      ? [key(["PageUp", "PageDown"], pages, (event) => explorer.page(event.key === "PageUp" ? -1 : 1))]
      : []),
  ];
}

/**
 * Space plays and pauses; on a button it presses that.
 * @param {Explorer} explorer
 * @param {(event: KeyEvent) => boolean} [taken] whether the key did something else here
 * @returns {Binding}
 */
export function playKey(explorer, taken = () => false) {
  const play = (/** @type {KeyEvent} */ event) => {
    if (taken(event)) return undefined;
    return onButton(event) ? false : explorer.transport.toggle();
  };
  return { ...key(" ", "play or pause", play), shown: ["space"] };
}

/**
 * The arrows that move along the program.
 * @param {(by: number, event: KeyEvent) => unknown} move
 * @returns {Binding}
 */
export const rowKeys = (move, label = "move along the program") => ({
  ...both(["ArrowDown", "ArrowUp"], label, move),
  shown: ["↑", "↓"],
});

/**
 * Enter, where it does not press a button.
 * @param {string} label
 * @param {(event: KeyEvent) => unknown} run
 * @returns {Binding}
 */
export const enterKey = (label, run) =>
  key("Enter", label, (event) => (onButton(event) ? false : run(event)));

/**
 * The keys of the frame.
 * @param {Frame} shell
 * @returns {Binding[]}
 */
export const shellKeys = (shell) => [
  key("f", "fill the window, or go back into the page", () => shell.full.toggle()),
  key("d", "the whole of a sentence that is cut", () => void shell.openSay()),
];

/**
 * The last keys of every explorer: fold, find, help, back.
 * @param {Explorer} explorer
 * @param {{ help?: string, back?: string, fold?: (() => unknown) | null, find?: boolean }} [labels]
 * @returns {Binding[]}
 */
export function commonKeys(explorer, labels = {}) {
  const { help = "these keys", back = "back to where you were", find = true } = labels;
  const fold = labels.fold === undefined ? () => explorer.rows.toggle(explorer.rowNow()) : labels.fold;
  return [
    ...(fold ? [key("x", "fold or unfold the block", fold)] : []),
    ...(find ? [key("/", "find", () => explorer.search.open())] : []),
    key("b", "bookmarks, and the link to this state", () => explorer.share(true)),
    {
      ...both(["Shift+Backspace", "Backspace"], "back to where a jump began, and forward again", (_, event) =>
        explorer.revisit(event.shiftKey ? 1 : -1),
      ),
      shown: ["⌫", "⇧⌫"],
    },
    ...shellKeys(explorer.shell),
    key("?", help, () => explorer.help()),
    { ...key("Escape", back, () => explorer.back()), shown: ["Esc"], typing: true },
  ];
}
