// Finding: a line by its text, by a name, or by a value that it gave.
import { Finder, rowTexts, some } from "../../core/finder.js";
/** @import { EvaluationView } from "../../generated/evaluation.js" */
/** @import { RecordedRun } from "./run.js" */
/** @import { EvaluationExplorer } from "./view.js" */

/**
 * Where the search of an EvaluationExplorer looks.
 * @param {EvaluationView} view
 * @param {RecordedRun} run
 */
export function scopesOf(view, run) {
  const texts = rowTexts(view);
  const names = view.rows.map(() => []);
  for (const { name, row } of view.names) if (row >= 0) names[row].push(name);
  /** @param {number} row */
  const gave = (row, wanted) => run.lines[row].some(({ value }) => some([run.say(value)], wanted));
  /** @param {number} row */
  const called = (row, wanted) => some(names[row], wanted);
  return [
    {
      id: "all",
      label: "anywhere",
      /** @param {number} row */
      has: (row, wanted) => texts[row].includes(wanted) || called(row, wanted) || gave(row, wanted),
    },
    { id: "name", label: "names", has: called },
    { id: "value", label: "values", has: gave },
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
