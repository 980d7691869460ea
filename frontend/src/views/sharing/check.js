// What a sharing view must hold beyond its contract, before it is drawn.
import { need } from "../../core/check.js";

/** @param {import("../../generated/sharing.js").SharingView} view */
export function checkSharing(view) {
  need(view.forms.length > 0, "forms");
  view.forms.forEach(({ first, last }, i) => {
    need(first <= last, `forms[${i}]`);
    // A block never reaches out of its form.
    for (let row = Math.max(0, first); row <= last; row++) need(view.rows[row].end <= last, `forms[${i}]`);
  });
}
