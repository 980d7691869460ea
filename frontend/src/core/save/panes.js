// The parts of an explorer that can be saved: the whole, and each pane that is shown, by the name that a screen reader says.

/** @typedef {{ el: HTMLElement, label: string, whole: boolean, grids: readonly HTMLElement[] }} Pane */

const PANES = ".grid, section[aria-label], [role=tabpanel], .pane, .ir-pane, [data-pane]";
const SMALLEST = 24; // pixels

/** @param {HTMLElement} node */
function nameOf(node) {
  const by = node.getAttribute("aria-labelledby");
  const scope = /** @type {ShadowRoot} */ (node.getRootNode());
  const named = by ? scope.getElementById(by)?.textContent : null;
  const inner = node.querySelector("[aria-label]:not(button)")?.getAttribute("aria-label");
  return (node.dataset.pane ?? node.getAttribute("aria-label") ?? named ?? inner ?? "pane").trim();
}

/** @param {Element} node */
const isShown = (node) => {
  const { width, height } = node.getBoundingClientRect();
  return width >= SMALLEST && height >= SMALLEST;
};

/**
 * @param {HTMLElement} root
 * @returns {Pane[]}
 */
export function panesOf(root) {
  const gridsIn = (/** @type {HTMLElement} */ node) =>
    [...(node.matches(".grid") ? [node] : []), ...node.querySelectorAll(".grid")].filter(isShown);
  /** @type {Pane[]} */
  const panes = [{ el: root, label: "the whole explorer", whole: true, grids: gridsIn(root) }];
  const used = new Set([panes[0].label]);
  for (const node of root.querySelectorAll(PANES)) {
    if (!isShown(node) || node.parentElement?.closest(PANES)) continue;
    const name = nameOf(node);
    let label = name;
    for (let n = 2; used.has(label); n++) label = `${name} (${n})`;
    used.add(label);
    panes.push({ el: node, label, whole: false, grids: gridsIn(node) });
  }
  return panes;
}
