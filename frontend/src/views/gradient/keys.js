// The keys of this explorer: the listener and the help read the same list.
import { both, commonKeys, enterKey, key, playKey, rowKeys, stepKeys } from "../../core/keys.js";
import { RULE, SUM } from "./marks.js";
/** @import { GradientExplorer } from "./view.js" */

/**
 * Bindings for `bindKeys`, acting on a GradientExplorer.
 * @param {GradientExplorer} explorer
 */
export function bindings(explorer) {
  return [
    ...stepKeys(explorer, {
      next: "next step of the backward pass",
      ends: "only the forward pass; all derivatives",
      pages: "jump back or forward by 5% of the steps",
    }),
    playKey(explorer),
    both(["s", "S"], "next and previous sum", (by) => explorer.nextMark(SUM, by)),
    both(["r", "R"], "next and previous rule of an operator", (by) => explorer.nextMark(RULE, by)),
    key("w", "why: the incoming derivatives, the rule, what it passes on", () => explorer.showPane("why")),
    key("g", "the two graphs", () => explorer.showPane("graph")),
    key("k", "the list of stored values", () => explorer.showPane("kept")),
    rowKeys((by) => explorer.rows.move(by, explorer.rowNow())),
    enterKey("on a row: the step that reaches it", () => explorer.ask(explorer.rowNow())),
    ...commonKeys(explorer),
  ];
}
