// Finding: a line of the program, an operator, a line of the backward pass, what is kept.
import { Finder, rowTexts, some } from "../../core/finder.js";
import { rowText } from "../../core/rowmodel.js";
import { NUMBERS } from "./marks.js";
/** @import { GradientExplorer } from "./view.js" */

/**
 * The search of a GradientExplorer.
 * @param {GradientExplorer} explorer
 */
export function createFinder(explorer) {
  const { view, model } = explorer;
  const texts = rowTexts(view);
  const backward = view.rows.map((_, row) => {
    const value = model.onRow[row];
    return value < 0 ? [] : model.beside[value].map((n) => rowText(model.lines[n]));
  });
  /** @param {number} row */
  const value = (row) => model.values[model.onRow[row]];
  return new Finder(explorer, {
    placeholder: "find an operator, a derivative",
    scopes: [
      { id: "all", label: "anywhere", has: (row, wanted) => some([texts[row], ...backward[row]], wanted) },
      { id: "op", label: "operators", has: (row, wanted) => some([value(row)?.label ?? ""], wanted) },
      { id: "back", label: "backward pass", has: (row, wanted) => some(backward[row], wanted) },
      {
        id: "kept",
        label: "what is stored",
        has: (row, wanted) => value(row)?.kept === NUMBERS && texts[row].includes(wanted),
      },
    ],
  });
}
