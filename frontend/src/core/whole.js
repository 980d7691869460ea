// What is cut in the selected row, whole: in a strip over the end of the rows, or over their start where the end would
// cover the row itself. Nothing moves for it. The cells are read as they stand, so every column has this without doing anything.
import { fill, h } from "./dom.js";

/** More than this is cut off and not a rounded fraction. */
const ROUNDED = 1;
/** Cells of columns that are not wider show a sign, or nothing on purpose. */
const NARROW = 44;
/** What of a cell is not to be read: buttons of the row itself, and what only a screen reader hears. */
const APART = ".twist, .folded-note, .sr";

/**
 * Whether something of a cell does not fit into it, or into a part of it that ends in an ellipsis.
 * @param {Element} cell
 */
export function isCut(cell) {
  const wider = (/** @type {Element} */ node) => node.scrollWidth > node.clientWidth + ROUNDED;
  if (cell.clientWidth <= NARROW) return false;
  if (wider(cell)) return true;
  return [...cell.querySelectorAll("*")].some(
    (node) =>
      node.clientWidth > 0 &&
      wider(node) &&
      !node.matches(APART) &&
      getComputedStyle(node).overflowX !== "visible",
  );
}

/**
 * The content of a cell to read: its buttons are text.
 * @param {Element} cell
 */
function copyOf(cell) {
  const copy = /** @type {HTMLElement} */ (cell.cloneNode(true));
  for (const node of copy.querySelectorAll(APART)) node.remove();
  for (const node of copy.querySelectorAll("[id]")) node.removeAttribute("id");
  for (const node of copy.querySelectorAll("button"))
    node.replaceWith(h("span", { class: node.className }, ...node.childNodes));
  return h("span", { class: cell.classList.contains("code") ? "code" : "" }, ...copy.childNodes);
}

/**
 * `show(row)` shows what is cut in a row's element, null hides it; the strip is `el`, over the rows at the end of the grid.
 * A screen reader reads the whole row anyway, so it is not told of the strip.
 * @param {{ head: HTMLElement, scroller: HTMLElement }} parts
 */
export function createWhole({ head, scroller }) {
  const lines = h("div", { class: "whole-lines" });
  const hide = () => {
    strip.hidden = true;
    fill(lines);
  };
  const strip = h(
    "div",
    { class: "whole", tabindex: -1, hidden: true },
    lines,
    h(
      "button",
      { class: "btn", type: "button", tabindex: -1, title: "hide", "aria-label": "hide", onclick: hide },
      "✕",
    ),
  );
  const el = h("div", { class: "whole-place", "aria-hidden": "true" }, strip);

  /** @param {HTMLElement | null} row */
  function show(row) {
    const cut = row?.isConnected ? [...row.children].filter(isCut) : [];
    if (!row || !cut.length) return hide();
    strip.hidden = false;
    const [own] = row.children;
    fill(
      lines,
      cut.map((cell) =>
        h(
          "p",
          null,
          (cut.length > 1 || cell !== own) &&
            h("b", null, head.children[[...row.children].indexOf(cell)]?.textContent ?? ""),
          copyOf(cell),
        ),
      ),
    );
    strip.classList.remove("above");
    strip.style.top = "";
    const under = row.getBoundingClientRect().bottom - strip.getBoundingClientRect().top;
    if (under <= 0) return;
    const before = scroller.scrollTop;
    scroller.scrollTop += under;
    if (scroller.scrollTop - before >= under - ROUNDED) return;
    strip.classList.add("above");
    strip.style.top = `${scroller.offsetTop - el.offsetTop}px`;
  }
  return { el, show, hide };
}
