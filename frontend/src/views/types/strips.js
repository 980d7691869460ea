// The strips around the rows: the queue above, the classes below.
import { fill, h, text } from "../../core/dom.js";
import { classes } from "./state.js";
/** @import { TypesView } from "../../generated/types.js" */

const SHOWN = 12;
const SLIDE = 240;

/**
 * The queue, front first; what this step took from it stands before it, what it moved is marked. Tokens slide to
 * their new places, unless the reader asked for less motion or goes too fast to see it.
 * @param {TypesView} view
 * @param {HTMLDivElement} el
 */
export function createQueue(view, el, { onRel, reduced }) {
  const name = (rel) => view.relations[rel].name;
  let last = 0;

  /**
   * @param {string} kind
   * @param {string} sign
   * @param {string} note
   */
  function token(rel, kind, sign, note) {
    const label = view.relations[rel].label;
    return h(
      "button",
      {
        class: `token ${kind}`,
        type: "button",
        "data-token": rel,
        title: label,
        "aria-label": `${sign}${name(rel)}${note}`,
        onclick: () => onRel(rel),
      },
      sign,
      name(rel),
    );
  }

  const places = () =>
    new Map(
      [...el.querySelectorAll("[data-token]")].map(
        (node) =>
          /** @type {[string, [HTMLElement, number]]} */ ([node.dataset.token, [node, node.offsetLeft]]),
      ),
    );

  function slide(before) {
    for (const [rel, [node, x]] of places()) {
      const from = before.get(rel)?.[1];
      if (from === undefined) node.animate([{ opacity: 0 }, { opacity: 1 }], { duration: SLIDE });
      else if (from !== x)
        node.animate([{ transform: `translateX(${from - x}px)` }, { transform: "none" }], {
          duration: SLIDE,
          easing: "ease-out",
        });
    }
  }

  return (state, changes) => {
    const now = performance.now();
    const calm = !reduced() && now - last > 2 * SLIDE && el.isConnected;
    last = now;
    const before = calm ? places() : null;
    const moved = new Set(changes.filter(({ tag }) => tag === "f").map(({ relation }) => relation));
    const taken = changes
      .filter(({ tag, relation }) => tag === "p" && !state.queue.includes(relation))
      .map(({ relation }) => relation);
    fill(
      el,
      taken.length > 0 && h("span", { class: "dir" }, "took"),
      taken.map((rel) => token(rel, "left", "▶ ", ", just taken from the queue")),
      h("span", { class: "dir" }, state.queue.length > 1 ? `queue of ${state.queue.length}` : "queue"),
      state.queue.length === 0
        ? h("i", null, "empty")
        : h("span", { class: "dir", "aria-hidden": "true" }, "front →"),
      state.queue
        .slice(0, SHOWN)
        .map((rel) =>
          token(
            rel,
            moved.has(rel) ? "moved" : "",
            moved.has(rel) ? "▲ " : "",
            moved.has(rel) ? ", moved to the front" : "",
          ),
        ),
    );
    if (before?.size) slide(before);
  };
}

/**
 * The classes of more than one variable, as sets.
 * @param {TypesView} view
 * @param {HTMLSpanElement} el
 * @param {boolean} done whether no more types can become the same
 */
export function drawFoot(view, el, state, done) {
  const groups = classes(state);
  const name = (v) => view.variables[v].name;
  const shown = groups
    .slice(0, 6)
    .map((members) => `{${members.slice(0, 8).map(name).join(" ")}${members.length > 8 ? " …" : ""}}`)
    .join("  ");
  text(
    el,
    groups.length ? shown + (groups.length > 6 ? `  +${groups.length - 6}` : "") : done ? "none" : "none yet",
  );
}
