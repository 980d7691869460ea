// The rows of the function that is shown, and the wires over them.
import { scale } from "../../core/fit.js";
import { createRows } from "../../core/rows.js";
import { fusionColumns } from "./columns.js";
import { createWires } from "./wires.js";
/** @import { FusionExplorer } from "./view.js" */

const LINE = 30 * scale();

/** @param {FusionExplorer} explorer */
export function buildRows(explorer) {
  const now = () => ({
    variant: explorer.variant,
    groups: explorer.groups,
    entries: explorer.rowGroups.entries,
  });
  explorer.rows = createRows({
    view: explorer.view,
    label: `program of ${explorer.view.title}, with uses, patterns and kernels`,
    lineHeight: LINE,
    foldLists: true,
    columns: fusionColumns(explorer.model, now, (row) => explorer.visit(row)),
    hooks: {
      select: (row, byReader) => byReader && explorer.ctx.changed(),
      hover: (hit) =>
        explorer.hovered(
          hit ? (hit.ref >= 0 ? hit.ref : (explorer.model.onRow[hit.row]?.at(-1) ?? -1)) : -1,
          hit?.row ?? -1,
        ),
      layout: (columns) => {
        if (columns) explorer.wires?.moved();
        explorer.wire();
      },
      fold: () => explorer.ctx.changed(),
      activate: (row) => explorer.ask(row),
    },
  });
  explorer.rows.el.classList.add("fusion-grid");
  explorer.wires = createWires(explorer.model, explorer.rows, LINE);
}
