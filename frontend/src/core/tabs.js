// Tabs: panes one at a time, or (`always` false) a row of choices that CSS shows only on narrow screens.
import { h, uid } from "./dom.js";

/** @typedef {{ id: string, label: string, pane?: HTMLElement }} TabItem */

/**
 * `items` is a list of `{ id, label, pane? }`. Returns `{ el, select(id), selected, hide(id, hidden) }`.
 * Arrow keys move between tabs, as the tab pattern asks; `onSelect(id, byReader)` is called on every change.
 * @param {{ label: string, items: readonly TabItem[], selected?: string, onSelect?: (id: string, byReader: boolean) => unknown, className?: string }} options
 */
export function createTabs({
  label,
  items,
  selected = items[0].id,
  onSelect = (_id, _byReader) => {},
  className = "",
}) {
  /** @type {Map<string, HTMLButtonElement>} */
  const buttons = new Map();
  const buttonOf = (/** @type {string} */ id) => /** @type {HTMLButtonElement} */ (buttons.get(id));
  const el = h("div", { class: `tabs ${className}`, role: "tablist", "aria-label": label });
  const state = { el, selected: "", select, hide, button: buttonOf };

  /** @param {string} id */
  function select(id, byReader = false) {
    if (!buttons.has(id)) return;
    state.selected = id;
    for (const item of items) {
      const on = item.id === id;
      const button = buttonOf(item.id);
      button.setAttribute("aria-selected", String(on));
      button.tabIndex = on ? 0 : -1;
      if (item.pane) item.pane.hidden = !on;
    }
    onSelect(id, byReader);
  }

  /**
   * @param {string} id
   * @param {boolean} hidden
   */
  function hide(id, hidden) {
    buttonOf(id).hidden = hidden;
    if (!hidden || state.selected !== id) return;
    const next = items.find((item) => !buttonOf(item.id).hidden);
    if (next) select(next.id);
  }

  /**
   * @param {KeyboardEvent} event
   * @param {string} from
   */
  function move(event, from) {
    const shown = items.filter((item) => !buttonOf(item.id).hidden);
    const at = shown.findIndex((item) => item.id === from);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (to === undefined) return;
    const next = shown[(to + shown.length) % shown.length];
    select(next.id, true);
    buttonOf(next.id).focus();
    event.preventDefault();
    event.stopPropagation();
  }

  for (const item of items) {
    const button = h("button", { class: "tab", role: "tab", id: uid("tab"), type: "button" }, item.label);
    button.addEventListener("click", () => select(item.id, true));
    button.addEventListener("keydown", (event) => move(event, item.id));
    if (item.pane) {
      item.pane.id ||= uid("pane");
      item.pane.setAttribute("role", "tabpanel");
      item.pane.setAttribute("aria-labelledby", button.id);
      button.setAttribute("aria-controls", item.pane.id);
    }
    buttons.set(item.id, button);
    el.append(button);
  }
  select(selected);
  return state;
}
