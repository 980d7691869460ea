// The keyboard: one listener on the explorer, one table of keys, which is also the help.

const TYPING = "input, textarea, select, [contenteditable]";

/** "ArrowLeft", "Shift+ArrowLeft", "/" … of an event. */
export function keyName(event) {
  const shift = event.shiftKey && event.key.length > 1 ? "Shift+" : "";
  return shift + event.key;
}

/**
 * Binds keys on `node`. `bindings` is a list of `{ keys, label, shown, run(event) }`: `run` returning false
 * lets the event go on. Events that come from a text field reach only bindings marked `typing`.
 */
export function bindKeys(node, bindings) {
  const table = new Map();
  for (const binding of bindings) for (const key of binding.keys) table.set(key, binding);
  const listen = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    // Enter on a link follows it.
    if (event.key === "Enter" && event.target.closest?.("a[href]")) return;
    const binding = table.get(keyName(event));
    if (!binding) return;
    if (!binding.typing && event.target.closest?.(TYPING)) return;
    if (binding.run(event) === false) return;
    // The page, or the notebook around it, must not act on the same key.
    event.preventDefault();
    event.stopPropagation();
  };
  node.addEventListener("keydown", listen);
  return () => node.removeEventListener("keydown", listen);
}
