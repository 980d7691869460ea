// The program as the axis: one row a binding, every other column aligned to it. A grid to assistive
// technology; rows outside the window leave the page only in large programs.
import { activeIn, fill, h } from "./dom.js";
import { scale, scaledWidth } from "./fit.js";
import { clearLetters } from "./letters.js";
import { CHOSEN } from "./imported.js";
import { watchPrint } from "./print.js";
import { drawRow } from "./row.js";
import { registerGrid } from "./save/tables.js";
import { createWhole } from "./whole.js";
import { enclosing, foldParameters, indexAt, offsets, rowText, visibleRows } from "./rowmodel.js";
/** @import { View } from "./operators.js" */
/** @import { Column, Hit, Keep, RowHooks } from "./types.js" */

/** Of more rows than these, only those in and around the window are in the page. */
const VIRTUAL_ABOVE = 100;
/**
 * @typedef {object} RowsOptions
 * @property {View} view
 * @property {string} label
 * @property {readonly Column[]} [columns] after the program's own
 * @property {RowHooks} [hooks]
 * @property {number} [lineHeight]
 * @property {boolean} [fit] whether the program's column is as wide as its longest line, within reason
 * @property {boolean} [foldLists] whether long runs of parameters fold
 * @property {string} [title] stands above the program's own column
 * @property {((row: number, hidden: number) => string) | null} [note] what a folded block says of its hidden rows
 * @property {((row: number) => (token: number) => string) | null} [tokenClass] a further class of a row's tokens, by their index
 */

/** A row in the page, with where it stands. @typedef {HTMLElement & { rxAt?: number, rxTop?: number }} PlacedRow */

const OVERSCAN = 12;
/** What of a row can have the focus, once the row is selected. */
const INSIDE = ".cell:not(.code) button, a.op";
/** A character of the program's font, and the widest that its column may become, in pixels. */
const MONO = 8.5 * scale();
const WIDEST = 420 * scale();

/**
 * `columns` (after the program's own): `{ id, title, width, lines?(row), draw(row, cell) }`; `draw` fills a cell
 * and is called again by `update(row)`. `hooks`: `select(row, byReader)`, `hover({ row, ref } | null)`,
 * `layout()` after anything moved, `fold()`, `activate(row)` on double click. With `fit` the program's column is as
 * wide as its longest line, within reason, and the others share the rest; with `foldLists` long runs of parameters
 * fold. `title` stands above the program's own column; `note(row, hidden)` is what a folded block says of its hidden rows;
 * `tokenClass(row)(k)` is a further class of the row's k-th token.
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
  const { rows, heads } = foldParameters(view.rows, foldLists ? undefined : Infinity);
  const parent = enclosing(rows);
  const isImported = rows.some(({ imported }) => imported);
  const folded = new Set(heads);
  /** @type {Map<string, { asked: number[], shown: Set<number> }>} */
  const marks = new Map();
  /** @type {Map<number, PlacedRow>} */
  const mounted = new Map();
  let shownColumns = columns;
  let stacked = false;
  /** What is done to a row once it is drawn. @type {((row: number, node: HTMLElement) => unknown) | null} */
  let dressing = null;
  /** What the lit tokens name. @type {Set<number>} */
  let lit = new Set();
  /** @type {Keep} */
  let keep = null;
  /** @type {number[]} */
  let visible = [];
  let indexOf = new Int32Array(rows.length);
  let y = new Float64Array(1);
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
    get: () => visible[indexAt(y, scroller.scrollTop)] ?? 0,
    set(row) {
      const at = anchor(row);
      if (at < 0) return;
      scroller.scrollTop = y[indexOf[at]];
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
      folded: rows[row].end > row ? folded.has(row) : null,
      note: keep ? null : noteOf,
      tokenClass: tokenClass?.(row) ?? null,
    });
    node.tabIndex = row === stop ? 0 : -1;
    for (const [name, { shown }] of marks) if (shown.has(row)) node.classList.add(`is-${name}`);
    if (lit.size) shine(node);
    dressing?.(row, node);
    return node;
  }

  /** @param {number} row */
  function noteOf(row) {
    const hidden = rows[row].end - row;
    return note?.(row, hidden) ?? `${hidden} ${rows[row + 1].kind === rows[row].kind ? "more" : "rows"}`;
  }

  /**
   * Lights the tokens below `node` that name one of `lit`.
   * @param {HTMLElement} node
   */
  function shine(node) {
    for (const token of /** @type {NodeListOf<HTMLElement>} */ (node.querySelectorAll("[data-ref]")))
      if (lit.has(Number(token.dataset.ref))) token.classList.add("is-lit");
  }

  function look() {
    port = { top: scroller.scrollTop, height: scroller.clientHeight || 600 };
  }

  function range() {
    if (printing || visible.length <= VIRTUAL_ABOVE) return [0, visible.length];
    const first = indexAt(y, port.top) - OVERSCAN;
    return [Math.max(0, first), Math.min(visible.length, indexAt(y, port.top + port.height) + OVERSCAN)];
  }

  /** Brings the page in line with the window; rows that stay are not touched. The page's order is the rows' order. */
  function render() {
    const [from, to] = range();
    const wanted = new Set(visible.slice(from, to));
    // What is selected or has the focus stays in the page, wherever the window is.
    for (const row of [selected, focusedRow()]) if (row >= 0 && indexOf[row] >= 0) wanted.add(row);
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
      const i = indexOf[row];
      if (node.rxAt === i && node.rxTop === y[i]) continue;
      node.rxAt = i;
      node.rxTop = y[i];
      node.style.top = `${y[i]}px`;
      node.style.height = `${y[i + 1] - y[i]}px`;
      node.setAttribute("aria-rowindex", String(i + 2));
    }
    placeStop();
    hooks.layout?.();
  }

  /** Tab reaches one row: the selected one, else that of the step where it is in the window, else the window's first. */
  function placeStop() {
    const inWindow = (/** @type {number} */ row) =>
      indexOf[row] >= 0 && y[indexOf[row]] >= port.top && y[indexOf[row] + 1] <= port.top + port.height;
    const first = indexAt(y, port.top);
    const now = [...(marks.get("now")?.shown ?? [])].find(inWindow);
    const next = mounted.has(selected)
      ? selected
      : (now ?? visible[Math.min(visible.length - 1, y[first] < port.top ? first + 1 : first)] ?? -1);
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
    visible = visibleRows(rows, folded, keep);
    indexOf = new Int32Array(rows.length).fill(-1);
    visible.forEach((row, i) => {
      indexOf[row] = i;
    });
    for (const entry of marks.values())
      entry.shown = new Set(entry.asked.map(anchor).filter((row) => row >= 0));
    y = offsets(visible, heightOf);
    const focused = focusedRow();
    for (const node of mounted.values()) node.remove();
    mounted.clear();
    inner.style.height = `${y[visible.length]}px`;
    el.setAttribute("aria-rowcount", String(visible.length + 1));
    look();
    render();
    if (focused >= 0) mounted.get(anchor(focused))?.focus({ preventScroll: true });
    if (visible.length === 0)
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

  /**
   * The shown row that stands for `row`: itself, or the folded block around it; -1 when filtered away.
   * @param {number} row
   */
  function anchor(row) {
    let at = row;
    while (at >= 0 && indexOf[at] < 0) at = parent[at];
    return at;
  }

  /**
   * Puts the class `is-NAME` on the rows of `list`, or on the folded blocks that hold them.
   * @param {string} name
   * @param {Iterable<number>} list
   */
  function mark(name, list) {
    const asked = [...list];
    const next = new Set(asked.map(anchor).filter((row) => row >= 0));
    const before = marks.get(name)?.shown ?? new Set();
    marks.set(name, { asked, shown: next });
    for (const row of before) if (!next.has(row)) mounted.get(row)?.classList.remove(`is-${name}`);
    for (const row of next) mounted.get(row)?.classList.add(`is-${name}`);
    if (name === "now") placeStop();
  }

  /** @param {number} row */
  function scrollTo(row, always = false) {
    if (!measured) wanted = row;
    const at = anchor(row);
    if (at < 0) return;
    const top = y[indexOf[at]];
    const bottom = y[indexOf[at] + 1];
    const seen = top >= port.top && bottom <= port.top + port.height;
    if (seen && !always) return;
    scroller.scrollTop = Math.max(0, (top + bottom - port.height) / 2);
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
    if (!visible.length) return;
    // Who came with Tab goes on from there.
    const start = selected < 0 && focusedRow() >= 0 ? focusedRow() : from;
    const at = start >= 0 ? indexOf[anchor(start)] : -1;
    const to = Math.max(0, Math.min(visible.length - 1, at < 0 ? 0 : at + by));
    select(visible[to], { focus: true, byReader: true });
  }

  /** @param {number} row */
  function toggle(row, open = folded.has(row)) {
    if (rows[row]?.end > row === false) return;
    if (open) folded.delete(row);
    else folded.add(row);
    relayout();
    hooks.fold?.();
  }

  /**
   * @param {Event} event
   * @returns {Hit | null}
   */
  function at(event) {
    const target = /** @type {Element} */ (event.target);
    /** @type {HTMLElement | null | undefined} */
    const node = target.closest?.(".row");
    if (!node) return null;
    /** @type {HTMLElement | null} */
    const ref = target.closest("[data-ref]");
    return { row: Number(node.dataset.row), ref: ref ? Number(ref.dataset.ref) : -1, target };
  }

  inner.addEventListener("click", (event) => {
    const hit = at(event);
    if (!hit) return;
    if (hit.target.closest(".twist")) toggle(hit.row);
    else if (!hit.target.closest("button, a")) select(hit.row, { focus: true, byReader: true });
  });
  inner.addEventListener("dblclick", (event) => {
    const hit = at(event);
    if (hit) hooks.activate?.(hit.row);
  });
  inner.addEventListener("pointerover", (event) => {
    const hit = at(event);
    hooks.hover?.(hit);
  });
  el.addEventListener("pointerleave", () => hooks.hover?.(null));
  scroller.addEventListener("scroll", () => {
    look();
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(render);
  });

  function fitting() {
    const longest = rows.reduce((most, row) => Math.max(most, 2 * row.depth + rowText(row).length), 0);
    return Math.min(WIDEST, Math.ceil(longest * MONO) + 24);
  }

  // Until the window has a height, its contents are unknown: what was requested until then is requested again.
  const sizes = new ResizeObserver(() => {
    look();
    if (!measured && scroller.clientHeight) {
      measured = true;
      if (wanted >= 0) scrollTo(wanted);
    }
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
    mark,
    select,
    move,
    scrollTo,
    anchor,
    setColumns,
    relayout,
    toggle,
    /**
     * Shows only rows for which `predicate(row)` holds; null shows all.
     * @param {Keep} predicate
     */
    filter(predicate) {
      if (keep === null && predicate === null) return;
      keep = predicate;
      relayout();
    },
    /**
     * Folds exactly these rows.
     * @param {readonly number[]} list
     */
    setFolded(list) {
      const next = list.filter((row) => rows[row]?.end > row);
      if (next.length === folded.size && next.every((row) => folded.has(row))) return;
      folded.clear();
      next.forEach((row) => folded.add(row));
      relayout();
    },
    /**
     * Opens the blocks around `row`.
     * @param {number} row
     */
    reveal(row) {
      let changed = false;
      for (let at = parent[row]; at >= 0; at = parent[at]) changed = folded.delete(at) || changed;
      if (changed) relayout();
    },
    /** @param {number} row */
    update(row) {
      const node = mounted.get(row);
      if (!node) return;
      shownColumns.forEach((column, i) =>
        column.draw(row, /** @type {HTMLElement} */ (node.children[i + 1])),
      );
      dressing?.(row, node);
      if (row === selected) showWhole();
    },
    /**
     * Has `draw(row, node)` called of every row that is drawn; null takes away what it marked.
     * @param {((row: number, node: HTMLElement) => unknown) | null} draw
     */
    dress(draw) {
      if (dressing === null && draw === null) return;
      dressing = draw;
      for (const [row, node] of mounted) {
        clearLetters(node);
        dressing?.(row, node);
      }
      showWhole();
    },
    /**
     * Lights every token that names one of `refs`.
     * @param {Iterable<number>} refs
     */
    light(refs) {
      const before = lit;
      lit = new Set(refs);
      if (before.size) for (const node of inner.querySelectorAll(".is-lit")) node.classList.remove("is-lit");
      if (lit.size) shine(inner);
    },
    /** @param {number} row */
    node: (row) => mounted.get(row) ?? null,
    /**
     * `{ top, height }` of a shown row inside `inner`, or null.
     * @param {number} row
     */
    place(row) {
      const i = indexOf[row];
      return i < 0 ? null : { top: y[i], height: y[i + 1] - y[i] };
    },
    /** Whether exactly the long runs of parameters are folded, as at the start. */
    foldedAsAtFirst: () => folded.size === heads.length && heads.every((row) => folded.has(row)),
    /** @param {number} row */
    text: (row) => rowText(rows[row]),
    /** @param {number} row */
    parent: (row) => parent[row],
    /** The rows now in the window. */
    window: () => visible.slice(indexAt(y, port.top), indexAt(y, port.top + port.height) + 1),
    /** `{ top, height }` of the window, in the rows' own pixels. */
    get port() {
      return port;
    },
    get selected() {
      return selected;
    },
    get visible() {
      return visible;
    },
    get folded() {
      return folded;
    },
    destroy() {
      cancelAnimationFrame(frame);
      sizes.disconnect();
      stopPrint();
    },
  };
}
