// Finding: a line by its text, by a name, or by a value that it gave.
import { Finder } from "../../core/finder.js";
/** @import { EvaluationView } from "../../generated/evaluation.js" */
/** @import { RecordedRun } from "./run.js" */
/** @import { EvaluationExplorer } from "./view.js" */

/**
 * Where the search of an EvaluationExplorer looks.
 * @param {EvaluationView} view
 * @param {RecordedRun} run
 */
export function scopesOf(view, run) {
  /** @type {string[][]} */
  const names = view.rows.map(() => []);
  for (const { name, row } of view.names) if (row >= 0) names[row].push(name);
  return [
    { id: "all", label: "anywhere" },
    { id: "name", label: "names", field: "calls", texts: (/** @type {number} */ row) => names[row] },
    {
      id: "value",
      label: "values",
      texts: (/** @type {number} */ row) => run.lines[row].map(({ value }) => run.say(value)),
    },
  ];
}

/**
 * The search of an EvaluationExplorer.
 * @param {EvaluationExplorer} explorer
 */
export const createFinder = (explorer) =>
  new Finder(explorer, {
    scopes: scopesOf(explorer.view, explorer.run),
    placeholder: "find a line, a name, a value",
    many: 80,
  });
