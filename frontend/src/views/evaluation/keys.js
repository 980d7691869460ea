// The keys of this explorer: the listener and the help read the same list.
import { both, commonKeys, enterKey, key, playKey, rowKeys, stepKeys } from "../../core/keys.js";
/** @import { EvaluationExplorer } from "./view.js" */

/**
 * Bindings for `bindKeys`, acting on an EvaluationExplorer.
 * @param {EvaluationExplorer} explorer
 */
export function bindings(explorer) {
  const page = Math.max(5, Math.round(explorer.count / 20));
  /** On a box of the heap: its story. */
  const story = (event) => {
    const box = event.target.closest(".box");
    if (box) explorer.ask("object", Number(box.dataset.object));
    return box !== null;
  };
  /** @param {number} by */
  const alongRows = (by, event) =>
    explorer.inHeap(event) ? undefined : explorer.rows.move(by, explorer.rowNow());
  const enter = enterKey("on a row: its results, evaluation by evaluation; on a value: its history", () =>
    explorer.ask("row", explorer.rowNow()),
  );
  return [
    ...stepKeys(explorer, {
      pages: `jump back or forward by ${page} steps`,
      unless: (event) => event.key.startsWith("Arrow") && explorer.inHeap(event),
    }),
    both(["o", "O"], "step over: to where this call returns, and back", (by) => explorer.jumpTo("over", by)),
    both(["u", "U"], "step out: to where the caller continues, and back to the call", (by) =>
      explorer.jumpTo("out", by),
    ),
    both(["n", "N"], "next and previous step in this row", (by) => explorer.jumpTo("row", by)),
    key(["[", "]"], "show the frame of the caller, of the callee", (event) =>
      explorer.otherFrame(event.key === "[" ? -1 : 1),
    ),
    playKey(explorer, story),
    rowKeys(alongRows),
    { ...enter, run: (event) => (story(event) ? undefined : enter.run(event)) },
    key("w", "what this step depends on", () => explorer.ask("step", -1)),
    ...commonKeys(explorer),
  ];
}
