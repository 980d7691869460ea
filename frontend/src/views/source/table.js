// The nodes and the lines of the program, each with what links it with the other side.
import { fill, h } from "../../core/dom.js";
import { scale } from "../../core/fit.js";
import { glyph } from "../../core/glyphs.js";
import { createRows } from "../../core/rows.js";
import { MARKS } from "./marks.js";
/** @import { createModel } from "./model.js" */
/** @import { SourceExplorer } from "./view.js" */

/** @typedef {ReturnType<typeof createModel>} Model */

const LINE = 26 * scale();

/** @param {SourceExplorer} explorer */
export function buildRows(explorer) {
  const { model, view } = explorer;
  explorer.rows = createRows({
    view: model.list,
    label: `${view.title}: the nodes of the ${view.framework} model`,
    lineHeight: LINE,
    title: `${view.framework} nodes`,
    columns: [
      {
        id: "became",
        title: "became",
        width: "minmax(84px, 0.42fr)",
        draw: (row, cell) => drawBecame(model, row, cell),
      },
    ],
    hooks: {
      select: (row, byReader) => byReader && explorer.choseNode(row),
      hover: (hit) => explorer.point(hit ? model.rowsFrom(model.nodesAt(hit.row)) : [], []),
      fold: () => explorer.marked(),
    },
  });
  explorer.program = createRows({
    view: model.program,
    label: `${view.title}: the Relay program`,
    lineHeight: LINE,
    foldLists: true,
    title: "Relay program",
    columns: [
      {
        id: "from",
        title: "came from",
        width: "minmax(84px, 0.34fr)",
        draw: (row, cell) => drawFrom(model, row, cell),
      },
    ],
    hooks: {
      select: (row, byReader) => byReader && explorer.choseLine(row),
      hover: (hit) => explorer.point([], hit ? model.nodesOf[hit.row] : []),
      fold: () => explorer.marked(),
    },
  });
  explorer.rows.el.classList.add("map-grid");
  explorer.program.el.classList.add("map-grid");
  if (model.folded.length) explorer.rows.setFolded(model.folded);
  explorer.rows.setColumns();
  explorer.program.setColumns();
}

/**
 * @param {Model} model
 * @param {number} row
 * @param {HTMLElement} cell
 */
function drawBecame(model, row, cell) {
  const node = model.nodes[model.nodeAt.get(row) ?? -1];
  if (!node) return;
  const mark = MARKS[node.fate];
  fill(cell, glyph(mark), h("span", { class: `became m-${mark.id}`, title: node.became }, node.became));
}

/**
 * @param {Model} model
 * @param {number} row
 * @param {HTMLElement} cell
 */
function drawFrom(model, row, cell) {
  const { nodes, nodesOf } = model;
  const names = nodesOf[row].map((node) => nodes[node].name || nodes[node].op);
  if (!names.length) return;
  const last = names[0].split("/").at(-1) || names[0];
  fill(
    cell,
    h(
      "span",
      { class: "from", title: names.join(", ") },
      last,
      names.length > 1 && h("span", { class: "soft" }, ` +${names.length - 1}`),
    ),
  );
}
