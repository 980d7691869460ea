// What stands beside the rows: panes, and on a phone tabs that show the columns and the panes one at a time.
import { h } from "../../core/dom.js";
import { createTabs } from "../../core/tabs.js";

export const PANES = [
  { id: "arena", label: "Arena" },
  { id: "use", label: "Live" },
];
export const ON_ROWS = [
  { id: "life", label: "Lives" },
  { id: "place", label: "Where" },
];

/** `onPane()` and `onTab(id)` are called when the reader chooses a pane, or a tab on a phone. */
export function createAside({ onPane, onTab }) {
  const panes = Object.fromEntries(
    PANES.map(({ id }) => [id, h("div", { class: `pane ${id}-pane`, tabindex: 0 })]),
  );
  const tabs = createTabs({
    label: "what to show beside the program",
    items: PANES.map((item) => ({ ...item, pane: panes[item.id] })),
    onSelect: (_, byReader) => byReader && onPane(),
  });
  const narrowTabs = createTabs({
    label: "what to show",
    className: "narrow",
    items: [...ON_ROWS, ...PANES],
    onSelect: (id, byReader) => byReader && onTab(id),
  });
  return { el: h("div", { class: "aside" }, tabs.el, Object.values(panes)), panes, tabs, narrowTabs };
}

/** Steps that are shown beside the rows at most, and how near to their edge the step may come, unless all are asked for. */
export const WINDOW = 32;
const EDGE = 6;

/**
 * The first of the steps that stand beside the rows, and how many they are: a window that moves when the step comes near its edge.
 * @param {number} first
 * @param {number} step
 * @param {number} count
 * @param {boolean} whole
 */
export function timeWindow(first, step, count, whole) {
  const span = whole ? count : Math.min(count, WINDOW);
  const near = step - first < EDGE || first + span - step <= EDGE || first + span > count;
  return { first: near ? Math.max(0, Math.min(count - span, Math.round(step - span / 2))) : first, span };
}
