// The program's rows in the IR explorer: scopes of `let`, numbers of uses, and what a row stands for.

import { fill, h } from "../../core/dom.js";
import { createRows } from "../../core/rows.js";
import { scopeLanes } from "./program.js";
/** @import { IrExplorer } from "./view.js" */

/** @param {IrExplorer} explorer */
export function createProgramRows(explorer) {
  const { model, program, view } = explorer;
  const scopes = scopeLanes(view.scopes, program.shownOf, program.view.rows.length);
  const columns = [];
  if (scopes.lanes)
    columns.push({
      id: "scope",
      title: "let",
      width: `${Math.max(38, 8 * scopes.lanes + 6)}px`,
      /** @param {number} row */
      draw: (row, cell) => drawScope(scopes.rows[row], cell),
    });
  if (view.nodes.some((_, i) => model.uses(i) > 1))
    columns.push({
      id: "uses",
      title: "uses",
      width: "54px",
      /** @param {number} row */
      draw: (row, cell) => drawUses(explorer, row, cell),
    });
  const rows = createRows({
    view: program.view,
    label: `program of ${view.title}`,
    columns,
    hooks: {
      select: (row, byReader) => byReader && explorer.select(explorer.idOfRow(row), { from: "rows" }),
      hover: (hit) => explorer.hover(hit ? (hit.ref >= 0 ? hit.ref : explorer.idOfRow(hit.row)) : -1, "rows"),
      fold: () => explorer.foldedInRows(),
      activate: (row) => explorer.toggle(program.groupOfRow.get(row)),
    },
  });
  rows.setColumns();
  return rows;
}

/**
 * @param {IrExplorer} explorer
 * @param {number} row
 */
function drawUses({ program, model }, row, cell) {
  const node = program.nodeOfRow.get(row),
    uses = node === undefined ? 0 : model.uses(node);
  fill(
    cell,
    uses > 1
      ? [
          h("b", { "aria-hidden": "true", title: `used ${uses} times` }, `×${uses}`),
          h("span", { class: "sr" }, `used ${uses} times`),
        ]
      : null,
  );
}

function drawScope(lanes, cell) {
  fill(
    cell,
    lanes.map(([lane, part]) => h("i", { class: part, style: { left: `${4 + lane * 8}px` } })),
    lanes.some(([, part]) => part === "start") ? h("span", { class: "sr" }, "a let begins here") : null,
  );
}
