// The program as the axis: one row a binding, every other column aligned to it. A grid to assistive
// technology; rows outside the window leave the page only in large programs.
import { activeIn, fill, h } from "./dom.js";
import { scale, scaledWidth } from "./fit.js";
import { CHOSEN } from "./imported.js";
import { watchPrint } from "./print.js";
import { drawRow } from "./row.js";
import { createRowMarks } from "./rowmarks.js";
import { rowText } from "./rowmodel.js";
import { watchPointer } from "./rowpointer.js";
import { registerGrid } from "./save/tables.js";
import { ShownRows } from "./shownrows.js";
import { createWhole } from "./whole.js";
/** @import { Keep, RowsOptions } from "./types.js" */

/** Of more rows than these, only those in and around the window are in the page. */
const VIRTUAL_ABOVE = 100;
/** A row in the page, with where it stands. @typedef {HTMLElement & { rxAt?: number, rxTop?: number }} PlacedRow */

const OVERSCAN = 12;
/** What of a row can have the focus, once the row is selected. */
const INSIDE = ".cell:not(.code) button, a.op";
/** A character of the program's font, and the widest that its column may become, in pixels. */
const MONO = 8.5 * scale();
const WIDEST = 420 * scale();

/**
 * A column's `draw(row, cell)` is called again by `update(row)`. With `fit` the program's column is as wide as its longest line,
 * within reason, and the others share the rest.
 * @param {RowsOptions} options
 */
export function createRows({
  view,
  label,
  columns = [],
  hooks = {},
  lineHeight = 27 * scale(),
  fit = false,
  foldLists = false,
  title = "program",
  note = null,
  tokenClass = null,
}) {
  const shown = new ShownRows(view.rows, foldLists);
  const { rows } = shown;
  const isImported = rows.some(({ imported }) => imported);
  /** @type {Map<number, PlacedRow>} */
  const mounted = new Map();
  let shownColumns = columns;
  let stacked = false;
  let selected = -1;
  /** The row that Tab reaches. */
  let stop = -1;
  let frame = 0;
  let printing = false;
  /** The columns as last drawn; nothing is drawn before the first setColumns. */
  let drawn = "";
  let measured = false;
  let wanted = -1;
  /** What of the rows is in the window: read when it changes, since reading it at every step would lay out the page. */
  let port = { top: 0, height: 600 };

  const head = h("div", { class: "grid-head", role: "row", "aria-rowindex": 1 });
  const inner = h("div", { class: "rows", role: "presentation" });
  const scroller = h("div", { class: "scroller", role: "rowgroup" }, inner);
  const whole = createWhole({ head, scroller });
  // A state names the first row of the window: pixels differ from screen to screen.
  /** @type {import("./scrolling.js").Scroller} */ (scroller).rxFirst = {
    get: () => shown.visible[shown.at(scroller.scrollTop)] ?? 0,
    set(row) {
      const place = shown.placeOf(shown.anchor(row));
      if (!place) return;
      scroller.scrollTop = place.top;
      look();
      render();
    },
  };
  const el = h(
    "div",
    { class: "grid", role: "treegrid", "aria-label": label },
    h("div", { role: "rowgroup" }, head),
    scroller,
    whole.el,
  );

  const marks = createRowMarks({ inner, mounted, anchor: (row) => shown.anchor(row) });
  registerGrid(el, { rows: view.rows, columns, selected: () => selected });

  /** @param {number} row */
  const lines = (row) => {
    const counts = shownColumns.map((column) => column.lines?.(row) ?? 1);
    return stacked
      ? 1 + shownColumns.reduce((sum, column) => sum + (column.lines?.(row) ?? 0), 0)
      : Math.max(1, ...counts);
  };
  /** @param {number} row */
  const heightOf = (row) => lines(row) * lineHeight + (lines(row) > 1 ? 4 : 0);

  /**
   * @param {number} row
   * @returns {PlacedRow}
   */
  function make(row) {
    const node = drawRow({
      view,
      row,
      content: rows[row],
      columns: shownColumns,
      selected: row === selected,
      folded: shown.opens(row) ? shown.folded.has(row) : null,
      note: shown.filtered ? null : noteOf,
      tokenClass: tokenClass?.(row) ?? null,
    });
    node.tabIndex = row === stop ? 0 : -1;
    marks.put(row, node);
    return node;
  }

  /** @param {number} row */
  function noteOf(row) {
    const hidden = rows[row].end - row;
    return note?.(row, hidden) ?? `${hidden} ${rows[row + 1].kind === rows[row].kind ? "more" : "rows"}`;
  }

  function look() {
    port = { top: scroller.scrollTop, height: scroller.clientHeight || 600 };
  }

  function range() {
    const { length } = shown.visible;
    if (printing || length <= VIRTUAL_ABOVE) return [0, length];
    const first = shown.at(port.top) - OVERSCAN;
    return [Math.max(0, first), Math.min(length, shown.at(port.top + port.height) + OVERSCAN)];
  }

  /**
   * Brings the page in line with the window; rows that stay are not touched. The page's order is the rows' order. `columns`:
   * whether these may have moved.
   */
  function render(columns = false) {
    const [from, to] = range();
    const wanted = new Set(shown.visible.slice(from, to));
    // What is selected or has the focus stays in the page, wherever the window is.
    for (const row of [selected, focusedRow()]) if (shown.indexOf(row) >= 0) wanted.add(row);
    for (const [row, node] of mounted)
      if (!wanted.has(row)) {
        node.remove();
        mounted.delete(row);
      }
    /** @type {ChildNode | null} */
    let next = inner.firstChild;
    for (const row of [...wanted].sort((a, b) => a - b)) {
      let node = mounted.get(row);
      if (node) next = node.nextSibling;
      else {
        mounted.set(row, (node = make(row)));
        inner.insertBefore(node, next);
      }
      const i = shown.indexOf(row);
      const top = shown.topOf(i);
      if (node.rxAt === i && node.rxTop === top) continue;
      node.rxAt = i;
      node.rxTop = top;
      node.style.top = `${top}px`;
      node.style.height = `${shown.topOf(i + 1) - top}px`;
      node.setAttribute("aria-rowindex", String(i + 2));
    }
    placeStop();
    hooks.layout?.(columns);
  }

  /** Tab reaches one row: the selected one, else that of the step where it is in the window, else the window's first. */
  function placeStop() {
    const inWindow = (/** @type {number} */ row) => {
      const place = shown.placeOf(row);
      return place !== null && place.top >= port.top && place.top + place.height <= port.top + port.height;
    };
    const first = shown.at(port.top);
    const now = [...marks.shown("now")].find(inWindow);
    const top = Math.min(shown.visible.length - 1, shown.topOf(first) < port.top ? first + 1 : first);
    const next = mounted.has(selected) ? selected : (now ?? shown.visible[top] ?? -1);
    if (next === stop) return;
    for (const [row, index] of [
      [stop, -1],
      [next, 0],
    ]) {
      const node = mounted.get(row);
      if (node) node.tabIndex = index;
    }
    stop = next;
  }

  function relayout() {
    if (!drawn) return;
    shown.place(heightOf);
    marks.replace();
    const focused = focusedRow();
    for (const node of mounted.values()) node.remove();
    mounted.clear();
    inner.style.height = `${shown.height}px`;
    el.setAttribute("aria-rowcount", String(shown.visible.length + 1));
    look();
    render(true);
    if (focused >= 0) mounted.get(shown.anchor(focused))?.focus({ preventScroll: true });
    if (shown.visible.length === 0)
      fill(
        inner,
        h("p", { class: "empty-note" }, rows.length === 0 ? "The program is empty." : "No row matches."),
      );
    else inner.querySelector(".empty-note")?.remove();
    showWhole();
  }

  /** The row that has the focus, itself or in a part of it; -1 for none. */
  function focusedRow() {
    const active = activeIn(inner);
    const node = active && inner.contains(active) ? active.closest(".row") : null;
    return node instanceof HTMLElement ? Number(node.dataset.row) : -1;
  }

  /** @param {number} row */
  function scrollTo(row, always = false) {
    if (!measured) wanted = row;
    const place = shown.placeOf(shown.anchor(row));
    if (!place) return;
    const { top, height } = place;
    const seen = top >= port.top && top + height <= port.top + port.height;
    if (seen && !always) return;
    scroller.scrollTop = Math.max(0, top + (height - port.height) / 2);
    look();
    render();
  }

  /**
   * @param {number} row
   * @param {{ focus?: boolean, byReader?: boolean, quiet?: boolean }} how
   */
  function select(row, { focus = false, byReader = false, quiet = false } = {}) {
    const previous = selected;
    const follow = focusedRow() >= 0; // the row that has the focus may leave the page
    selected = row;
    for (const at of [previous, row]) {
      const on = at === row;
      const node = mounted.get(at);
      if (!node) continue;
      node.setAttribute("aria-selected", String(on));
      for (const inside of /** @type {NodeListOf<HTMLElement>} */ (node.querySelectorAll(INSIDE)))
        inside.tabIndex = on ? 0 : -1;
    }
    if (isImported)
      el.dispatchEvent(new CustomEvent(CHOSEN, { bubbles: true, detail: rows[row]?.imported ?? null }));
    if (row >= 0) scrollTo(row);
    placeStop();
    if (focus || follow) mounted.get(row)?.focus({ preventScroll: true });
    if (!quiet) hooks.select?.(row, byReader);
    showWhole();
  }

  /** What is cut in the selected row is shown whole. */
  function showWhole() {
    whole.show(mounted.get(selected) ?? null);
  }

  /**
   * Moves the selection by `by` shown rows, and focuses it.
   * @param {number} by
   */
  function move(by, from = selected) {
    const { visible } = shown;
    if (!visible.length) return;
    // Who came with Tab goes on from there.
    const start = selected < 0 && focusedRow() >= 0 ? focusedRow() : from;
    const at = start >= 0 ? shown.indexOf(shown.anchor(start)) : -1;
    const to = Math.max(0, Math.min(visible.length - 1, at < 0 ? 0 : at + by));
    select(visible[to], { focus: true, byReader: true });
  }

  /** @param {number} row */
  function toggle(row, open = shown.folded.has(row)) {
    if (!shown.toggle(row, open)) return;
    relayout();
    hooks.fold?.();
  }

  watchPointer(
    { el, inner },
    {
      toggle: (row) => toggle(row),
      select: (row) => select(row, { focus: true, byReader: true }),
      activate: (row) => hooks.activate?.(row),
      hover: (hit) => hooks.hover?.(hit),
    },
  );
  scroller.addEventListener("scroll", () => {
    look();
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => render());
  });

  const fitting = () => Math.min(WIDEST, Math.ceil(shown.longest() * MONO) + 24);

  // Until the window has a height, its contents are unknown: what was requested until then is requested again.
  const sizes = new ResizeObserver(() => {
    look();
    if (!measured && scroller.clientHeight) {
      measured = true;
      if (wanted >= 0) scrollTo(wanted);
    }
    // More rows may fit, and the columns are as wide as the window leaves them.
    if (drawn) render(true);
    showWhole();
  });
  sizes.observe(scroller);
  const stopPrint = watchPrint((on) => {
    printing = on;
    look();
    render();
  });

  /** Which columns stand beside the program (all by default), and whether they stand under each line. */
  function setColumns(ids = columns.map((column) => column.id), under = false) {
    const asked = `${ids} ${under}`;
    if (drawn === asked) return;
    drawn = asked;
    shownColumns = columns.filter((column) => ids.includes(column.id));
    stacked = under;
    el.classList.toggle("stacked", under);
    const own = fit && shownColumns.length ? `minmax(${220 * scale()}px, ${fitting()}px)` : "minmax(0, 1fr)";
    el.style.setProperty(
      "--cols",
      [own, ...shownColumns.map((column) => scaledWidth(column.width))].join(" "),
    );
    fill(
      head,
      h("span", { role: "columnheader" }, title),
      shownColumns.map((column) =>
        h("span", { role: "columnheader", class: `h-${column.id}` }, column.title),
      ),
    );
    relayout();
  }

  return {
    el,
    scroller,
    inner,
    /**
     * Puts the class `is-NAME` on the rows of `list`, or on the folded blocks that hold them.
     * @param {string} name
     * @param {Iterable<number>} list
     */
    mark(name, list) {
      marks.mark(name, list);
      if (name === "now") placeStop();
    },
    toggleMark: marks.toggle,
    select,
    move,
    scrollTo,
    /** @param {number} row */
    anchor: (row) => shown.anchor(row),
    setColumns,
    relayout,
    toggle,
    /**
     * Shows only rows for which `predicate(row)` holds; null shows all.
     * @param {Keep} predicate
     */
    filter(predicate) {
      if (shown.filter(predicate)) relayout();
    },
    /**
     * Folds exactly these rows.
     * @param {readonly number[]} list
     */
    setFolded(list) {
      if (shown.fold(list)) relayout();
    },
    /**
     * Opens the blocks around `row`.
     * @param {number} row
     */
    reveal(row) {
      if (shown.reveal(row)) relayout();
    },
    /** @param {number} row */
    update(row) {
      const node = mounted.get(row);
      if (!node) return;
      shownColumns.forEach((column, i) =>
        column.draw(row, /** @type {HTMLElement} */ (node.children[i + 1])),
      );
      marks.redress(row, node);
      if (row === selected) showWhole();
    },
    /**
     * Has `draw(row, node)` called of every row that is drawn; null takes away what it marked.
     * @param {((row: number, node: HTMLElement) => unknown) | null} draw
     */
    dress(draw) {
      if (marks.dress(draw)) showWhole();
    },
    light: marks.light,
    /** @param {number} row */
    node: (row) => mounted.get(row) ?? null,
    /**
     * `{ top, height }` of a shown row inside `inner`, or null.
     * @param {number} row
     */
    place: (row) => shown.placeOf(row),
    foldedAsAtFirst: () => shown.asAtFirst(),
    /** @param {number} row */
    text: (row) => rowText(rows[row]),
    /** @param {number} row */
    parent: (row) => shown.parents[row],
    /** The rows now in the window. */
    window: () => shown.visible.slice(shown.at(port.top), shown.at(port.top + port.height) + 1),
    /** `{ top, height }` of the window, in the rows' own pixels. */
    get port() {
      return port;
    },
    get selected() {
      return selected;
    },
    get visible() {
      return shown.visible;
    },
    get folded() {
      return shown.folded;
    },
    destroy() {
      cancelAnimationFrame(frame);
      sizes.disconnect();
      stopPrint();
    },
  };
}
