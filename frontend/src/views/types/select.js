// What the reader asks about: a variable (why is it known?) or a relation (what happened to it?).
import { activeIn } from "../../core/dom.js";
/** @import { TypesExplorer } from "./view.js" */

/**
 * The question of a TypesExplorer: `v` and `rel` are indices or -1, never both.
 * @param {TypesExplorer} explorer
 */
export function createQuestion(explorer) {
  const { view } = explorer;
  const question = { v: -1, rel: -1, token, restore, why, here, relation, enter, clear };

  /** @param {number} row */
  function show(row) {
    explorer.showPane("why");
    explorer.wire();
    if (row >= 0) explorer.rows.select(row, { byReader: true });
    else explorer.ctx.changed();
  }

  /** Says why `v` is known, from the step that made it so; the step that is shown stays. */
  function why(v) {
    Object.assign(question, { v, rel: -1 });
    const row = view.variables[v].row;
    if (row >= 0) explorer.rows.reveal(row);
    show(row);
  }

  /** Tells the steps of a relation, from the queue to its end. */
  function relation(rel) {
    Object.assign(question, { v: -1, rel });
    const row = view.relations[rel].row;
    if (row >= 0) explorer.rows.reveal(row);
    show(row);
  }

  /** @param {number} row */
  function enter(row) {
    const last = explorer.varsOn[row]?.at(-1);
    if (last !== undefined) why(last);
  }

  /** What `w` asks: about the row that has the focus, else about what was asked already, else about this step. */
  function here() {
    const active = activeIn(explorer.root)?.closest?.(".row");
    const onRow = active ? explorer.varsOn[Number(active.dataset.row)] : [];
    const v = onRow.includes(question.v) || !onRow.length ? question.v : onRow.at(-1);
    if (v >= 0) why(v);
    else explorer.showPane("why");
  }

  /** Asks nothing any more; false when nothing was asked. */
  function clear() {
    if (question.v < 0 && question.rel < 0) return false;
    Object.assign(question, { v: -1, rel: -1 });
    return true;
  }

  function token() {
    return question.v >= 0 ? `v${question.v}` : question.rel >= 0 ? `r${question.rel}` : "";
  }

  function restore(text) {
    const [, kind, digits] = /^([vr])(\d{1,7})$/.exec(text ?? "") ?? [];
    const index = Number(digits);
    question.v = kind === "v" && view.variables[index] ? index : -1;
    question.rel = kind === "r" && view.relations[index] ? index : -1;
  }

  return question;
}
