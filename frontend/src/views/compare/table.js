// The text of the comparison: side by side, or, on a phone, one program or both as one.
import { fill, h } from "../../core/dom.js";
import { scale } from "../../core/fit.js";
import { tokenElement } from "../../core/operators.js";
import { createRows } from "../../core/rows.js";
import { ADDED, FATES, KEPT, MOVED, REMOVED, REWRITTEN, TYPE_ONLY } from "./marks.js";
import { otherSide } from "./model.js";
/** @import { CompareExplorer } from "./view.js" */
/** @import { Form } from "./model.js" */

const LINE = 27 * scale();

/**
 * Draws the text anew, in the form that there is room for.
 * @param {CompareExplorer} explorer
 * @param {Form} form
 */
export function buildTable(explorer, form) {
  const { model, view } = explorer;
  const inside = explorer.rows?.el.contains(explorer.active);
  explorer.rows?.destroy();
  const { lines, blocks, view: shown } = model.program(form);
  const hidden = new Map(blocks);
  explorer.form = form;
  explorer.lines = lines;
  explorer.blocks = blocks;
  explorer.lineOf = lineOf(explorer);
  const heads = { a: `A: ${view.a.title}`, b: `B: ${view.b.title}`, both: "A (−) and B (+)" };
  const rows = createRows({
    view: shown,
    label: `${view.title}: the programs, with what differs`,
    title: form === "sides" ? heads.a : heads[form],
    lineHeight: LINE,
    note: (_, count) => `${count} more equal rows`,
    columns: [
      {
        id: "mark",
        title: /** @type {any} */ (h("span", { class: "sr" }, "difference")),
        width: "var(--w-mark)",
        draw: (i, cell) => drawMark(explorer, i, cell),
      },
      {
        id: "after",
        title: heads.b,
        width: "minmax(0, 1fr)",
        draw: (i, cell) => drawB(explorer, i, cell, rows?.folded.has(i) ? hidden.get(i) - i : 0),
      },
    ],
    hooks: {
      select: (i, byReader) => byReader && explorer.chose(lines[i].pair),
      hover: (hit) => explorer.hovered(hit),
      activate: (i) => explorer.cross(lines[i].pair),
      layout: () => markTokens(explorer),
    },
  });
  explorer.rows = rows;
  rows.el.classList.add("pipeline-grid", "compare-grid");
  rows.el.dataset.form = form;
  rows.setFolded(explorer.tight ? blocks.map(([from]) => from) : []);
  rows.setColumns({ sides: ["mark", "after"], a: ["mark"], b: ["mark"], both: [] }[form]);
  FATES.forEach(({ id }, fate) =>
    rows.mark(
      id,
      rowsWith(explorer, (pair) => pair.fate === fate),
    ),
  );
  if (form === "sides") {
    rows.mark(
      "void",
      rowsWith(explorer, (pair) => pair.a < 0),
    );
    rows.mark(
      "ended",
      rowsWith(explorer, (pair) => pair.b < 0),
    );
  } else if (form !== "both")
    rows.mark(
      "void",
      rowsWith(explorer, (pair) => pair[form] < 0),
    );
  fill(explorer.holder, rows.el);
  if (explorer.search.state().query) explorer.search.run();
  if (inside) explorer.focus();
}

/**
 * @param {CompareExplorer} explorer
 * @param {(pair: import("../../generated/compare.js").Pair) => boolean} wanted
 */
function rowsWith({ lines, model }, wanted) {
  return [...lines.keys()].filter((i) => wanted(model.pairs[lines[i].pair]));
}

/**
 * Of each pair, its first line.
 * @param {CompareExplorer} explorer
 */
function lineOf({ lines, model }) {
  const first = new Int32Array(model.pairs.length).fill(-1);
  lines.forEach(({ pair }, i) => {
    if (first[pair] < 0) first[pair] = i;
  });
  return first;
}

/**
 * @param {CompareExplorer} explorer
 * @param {number} i
 * @param {HTMLElement} cell
 */
function drawMark(explorer, i, cell) {
  const { fate, other, differs } = explorer.model.pairs[explorer.lines[i].pair];
  const { id, sign, word } = FATES[fate];
  const only = fate === REWRITTEN && differs === TYPE_ONLY;
  const label = h("span", { class: fate === KEPT ? "sr" : "word" }, only ? "type" : word);
  const mark = h("span", { class: `sign s-${id}`, "aria-hidden": "true" }, sign);
  fill(
    cell,
    fate === MOVED
      ? h(
          "button",
          {
            class: "link",
            type: "button",
            tabindex: -1,
            title: "to the same row in the other program (m)",
            onclick: () => explorer.visit(other),
          },
          mark,
          label,
        )
      : [mark, label],
  );
}

/**
 * @param {CompareExplorer} explorer
 * @param {number} i
 * @param {HTMLElement} cell
 * @param {number} hidden
 */
function drawB({ model, lines, view }, i, cell, hidden) {
  const { pair } = lines[i];
  const row = model.row(pair, "b");
  cell.classList.add("code");
  if (!row) return void fill(cell);
  const tokens = model.tokens(pair, "b");
  cell.title = tokens.map(({ text }) => text).join("");
  cell.style.setProperty("--depth", String(row.depth));
  const fresh = model.pairs[pair].fate === REWRITTEN ? model.changed(pair)[1] : [];
  fill(
    cell,
    hidden > 0 && h("span", { class: "folded-note" }, `${hidden} more equal rows`),
    tokens.map(({ kind, text, ref }, t) =>
      kind === 0 && ref < 0 && !fresh[t]
        ? text
        : tokenElement(/** @type {any} */ (view), kind, text, {
            class: `t${kind}${fresh[t] ? " new-token" : ""}`,
            "data-ref": ref >= 0 ? ref : null,
          }),
    ),
  );
}

/**
 * Marks the tokens that only this row of a pair has, in the rows that are drawn.
 * @param {CompareExplorer} explorer
 */
function markTokens({ rows, lines, model, form }) {
  if (!rows) return;
  for (const node of /** @type {NodeListOf<HTMLElement>} */ (rows.inner.querySelectorAll(".row"))) {
    const { pair, side } = lines[Number(node.dataset.row)];
    const cell = /** @type {HTMLElement & { rxMarked?: boolean } | null} */ (
      node.querySelector(".cell.code")
    );
    if (!cell || cell.rxMarked || model.pairs[pair].fate !== REWRITTEN) continue;
    cell.rxMarked = true;
    const own = form === "sides" ? "a" : side;
    const changed = model.changed(pair)[own === "a" ? 0 : 1];
    // Only a token that has an element can be marked; the unified form has one more, the sign.
    const elements = [...cell.querySelectorAll(":scope > :is(span:not(.folded-note), a)")];
    const marked = model
      .tokens(pair, own)
      .map((token, t) => ({ ...token, t }))
      .filter(({ kind, ref }) => kind !== 0 || ref >= 0);
    elements.slice(form === "both" ? 1 : 0).forEach((element, k) => {
      element.classList.toggle(
        own === "a" ? "old-token" : "new-token",
        Boolean(marked[k] && changed[marked[k].t]),
      );
    });
  }
}

/**
 * What a screen reader hears of a pair.
 * @param {CompareExplorer} explorer
 * @param {number} pair
 */
export function spokenPair({ model }, pair) {
  const { fate } = model.pairs[pair];
  const text = (/** @type {"a" | "b"} */ side) =>
    model
      .tokens(pair, side)
      .map((token) => token.text)
      .join("");
  if (fate === REMOVED || fate === ADDED) return `${FATES[fate].word}: ${text(fate === ADDED ? "b" : "a")}`;
  return `${FATES[fate].word}: ${text(model.row(pair, "a") ? "a" : otherSide("a"))}`;
}
