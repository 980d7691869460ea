// The rows, with the life and the place of each value beside them.
import { scale } from "../../core/fit.js";
import { createRows } from "../../core/rows.js";
import { memoryColumns } from "./columns.js";
import { createMoment } from "./moment.js";
/** @import { MemoryExplorer } from "./view.js" */

const LINE = 30 * scale();

/** @param {MemoryExplorer} explorer */
export function buildRows(explorer) {
  const { view, ctx, model } = explorer;
  explorer.rows = createRows({
    view,
    label: `program of ${view.title}, with the lifetime and the buffer of each value`,
    lineHeight: LINE,
    fit: true,
    foldLists: true,
    columns: memoryColumns(
      model,
      () => explorer.variant,
      (value) => explorer.visit(model.values[value].row),
    ),
    hooks: {
      select: (row, byReader) => byReader && ctx.changed(),
      fold: () => ctx.changed(),
      activate: (row) => explorer.ask(row),
      hover: (hit) =>
        explorer.hovered(
          hit ? (hit.ref >= 0 ? hit.ref : (model.onRow[hit.row]?.[0] ?? -1)) : -1,
          hit?.row ?? -1,
        ),
    },
  });
  explorer.rows.el.classList.add("memory-grid");
  explorer.moment = createMoment(explorer.rows);
}
