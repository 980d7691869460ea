// The drawing for readers who do not see it, and for the keyboard: one list of the shown nodes, of which the current one is active.

import { closestTo, fill, h, uid } from "../core/dom.js";

const WHOLE = 300,
  WINDOW = 40; // a list longer than WHOLE holds only the current item's neighbours

/** `describe(id)` is what is read aloud of an item; `pick(id)` is called when assistive technology presses one. */
export function createProxy({ describe, pick }) {
  const el = h("ul", { class: "proxy", role: "listbox", tabindex: 0, "aria-label": "graph" });
  const prefix = uid("node");
  let order = [],
    at = new Map(),
    current = -1,
    made = new Map();

  el.addEventListener("click", (event) => {
    const id = Number(closestTo(event, "[data-id]")?.dataset.id);
    if (at.has(id)) pick(id);
  });

  function render() {
    const centre = at.get(current) ?? 0;
    const part = order.length <= WHOLE ? order : order.slice(Math.max(0, centre - WINDOW), centre + WINDOW);
    made = new Map(
      part.map((id) => [
        id,
        h(
          "li",
          {
            id: `${prefix}-${id}`,
            role: "option",
            "data-id": id,
            "aria-selected": id === current,
            "aria-setsize": order.length,
            "aria-posinset": at.get(id) + 1,
          },
          describe(id),
        ),
      ]),
    );
    fill(el, [...made.values()]);
    mark();
  }

  function mark() {
    for (const [id, node] of made) node.setAttribute("aria-selected", String(id === current));
    if (made.has(current)) el.setAttribute("aria-activedescendant", made.get(current).id);
    else el.removeAttribute("aria-activedescendant");
  }

  return {
    el,
    /**
     * The shown items in reading order.
     * @param {number[]} ids
     * @param {string} label
     */
    show(ids, label) {
      order = ids;
      at = new Map(ids.map((id, i) => [id, i]));
      el.setAttribute("aria-label", label);
      render();
    },
    /** @param {number} id */
    select(id) {
      current = id;
      if (at.has(id) && !made.has(id)) render();
      else mark();
    },
    /**
     * @param {number} id
     * @param {number} by
     */
    next(id, by) {
      const i = at.get(id);
      return i === undefined ? order[0] : order[Math.max(0, Math.min(order.length - 1, i + by))];
    },
  };
}
