// Finding: a line of the program, an operator, a line of the backward pass, what is kept.
import { Finder } from "../../core/finder.js";
import { rowText } from "../../core/rowmodel.js";
import { NUMBERS } from "./marks.js";
/** @import { GradientExplorer } from "./view.js" */

/**
 * The search of a GradientExplorer.
 * @param {GradientExplorer} explorer
 */
export function createFinder(explorer) {
  const { view, model } = explorer;
  const backward = view.rows.map((_, row) => {
    const value = model.onRow[row];
    return value < 0 ? [] : model.beside[value].map((n) => rowText(model.lines[n]));
  });
  /** @param {number} row */
  const value = (row) => model.values[model.onRow[row]];
  return new Finder(explorer, {
    placeholder: "find an operator, a derivative",
    scopes: [
      { id: "all", label: "anywhere" },
      { id: "op", label: "operators" },
      { id: "back", label: "backward pass", texts: (row) => backward[row] },
      { id: "kept", label: "what is stored", where: (row) => value(row)?.kept === NUMBERS },
    ],
  });
}
