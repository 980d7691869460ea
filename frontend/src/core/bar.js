// The bar of an explorer: what steps stays in it; the other buttons, where there is little room, are in a menu, and the foot
// is closed.
import { activeIn, h, s, uid } from "./dom.js";

/** What stays in the bar. */
const STAYS = ".name, .places, .transport, .grow, .count, .ends";
const WHOLE = "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4";
const PART = "M6 2v4H2M14 6h-4V2M10 14v-4h4M2 10h4v4";

/** @param {string} d */
const icon = (d) =>
  s("svg", { class: "stroked", viewBox: "0 0 16 16", "aria-hidden": "true" }, s("path", { d }));

/**
 * @param {HTMLElement} root
 * @param {HTMLElement} bar
 * @param {HTMLElement} foot
 */
export function createSlimBar(root, bar, foot) {
  const menu = h("span", { class: "bar-menu", id: uid("menu") });
  const open = h(
    "button",
    {
      class: "btn menu-button",
      type: "button",
      "aria-label": "more tools",
      title: "more tools",
      "aria-expanded": false,
      "aria-controls": menu.id,
      onclick: () => show(!bar.classList.contains("open")),
    },
    "⋯",
  );
  const whole = h("button", { class: "btn whole-button", type: "button" });
  const legend = h(
    "button",
    {
      class: "btn legend-button",
      type: "button",
      "aria-expanded": false,
      onclick: () => {
        const on = foot.classList.toggle("shown");
        legend.setAttribute("aria-expanded", String(on));
        show(false);
      },
    },
    "legend and totals",
  );
  filled(false);

  /** @param {boolean} on */
  function show(on) {
    if (on === bar.classList.contains("open")) return false;
    const inside = menu.contains(activeIn(root));
    bar.classList.toggle("open", on);
    open.setAttribute("aria-expanded", String(on));
    if (on) menu.querySelector("button")?.focus({ preventScroll: true });
    else if (inside) open.focus({ preventScroll: true });
    return true;
  }

  /** @param {boolean} on whether the explorer fills the window */
  function filled(on) {
    const label = on ? "back into the page (f)" : "fill the window (f)";
    whole.replaceChildren(icon(on ? PART : WHOLE));
    whole.title = label;
    whole.setAttribute("aria-label", label.slice(0, -4));
    whole.setAttribute("aria-pressed", String(on));
  }

  menu.addEventListener("click", (event) => {
    if (/** @type {Element} */ (event.target).closest("button")) show(false);
  });
  const elsewhere = (/** @type {Event} */ event) => {
    if (!event.composedPath().some((node) => node === menu || node === open)) show(false);
  };
  root.addEventListener("pointerdown", elsewhere);

  return {
    /** Puts everything that a view has put into the bar, and that need not stay in it, into the menu. */
    settle() {
      menu.append(...[...bar.children].filter((node) => !node.matches(STAYS)));
      if (foot.childElementCount > 0) menu.append(legend);
      bar.append(menu, h("span", { class: "ends group" }, menu.childElementCount > 0 && open, whole));
    },
    close: () => show(false),
    filled,
    /** @param {() => void} toggle */
    onFull: (toggle) => whole.addEventListener("click", toggle),
    destroy: () => root.removeEventListener("pointerdown", elsewhere),
  };
}
