// What the view of a partial evaluation must hold beyond its contract, before it is drawn.
import { need } from "../../core/check.js";

/** @param {import("../../generated/partial.js").PartialView} view */
export function checkPartial({ split, rows, residual, steps }) {
  need(split <= rows.length && residual.length === rows.length - split, "residual");
  steps.forEach(({ changes }, i) => {
    for (const change of changes)
      need(change.tag !== "b" || change.row === -1 || change.row >= split, `steps[${i}].changes`);
  });
}
