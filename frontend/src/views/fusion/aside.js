// What stands beside the rows: panes, and on a phone tabs that show the columns and the panes one at a time.
import { h } from "../../core/dom.js";
import { createTabs } from "../../core/tabs.js";

export const PANES = [
  { id: "why", label: "Why" },
  { id: "tree", label: "Post-dominators" },
  { id: "list", label: "Kernels" },
];
export const ON_ROWS = [
  { id: "kernel", label: "Groups" },
  { id: "uses", label: "Uses" },
  { id: "pattern", label: "Patterns" },
];
/** Where there is little room. */
const SHORT = { tree: "Tree" };

/** `onPane(id)` and `onTab(id)` are called when the reader chooses a pane, or a tab on a phone. */
export function createAside({ onPane, onTab }) {
  const panes = Object.fromEntries(PANES.map(({ id }) => [id, h("div", { class: "pane", tabindex: 0 })]));
  const tabs = createTabs({
    label: "what to show beside the program",
    items: PANES.map((item) => ({ ...item, pane: panes[item.id] })),
    onSelect: (id, byReader) => byReader && onPane(id),
  });
  const narrowTabs = createTabs({
    label: "what to show",
    className: "narrow",
    items: [...ON_ROWS, ...PANES].map(({ id, label }) => ({ id, label: SHORT[id] ?? label })),
    onSelect: (id, byReader) => byReader && onTab(id),
  });
  return { el: h("div", { class: "aside" }, tabs.el, Object.values(panes)), panes, tabs, narrowTabs };
}
