// The keys of this explorer: the listener and the help read the same list.
import { both, commonKeys, enterKey, key, playKey, rowKeys, stepKeys } from "../../core/keys.js";
import { CANCELLED, REQUANTIZED } from "./marks.js";
/** @import { QuantizeExplorer } from "./view.js" */

/**
 * Bindings for `bindKeys`, acting on a QuantizeExplorer.
 * @param {QuantizeExplorer} explorer
 */
export function bindings(explorer) {
  return [
    ...stepKeys(explorer, {
      next: "next decision",
      previous: "previous decision",
      ends: "the float program; the comparison at the end",
      pages: "jump back or forward by 5% of the steps",
    }),
    playKey(explorer),
    both(["p", "P"], "next and previous phase", (by) => explorer.nextPhase(by)),
    both(["r", "R"], "next and previous requantization", (by) =>
      explorer.nextMark([REQUANTIZED, CANCELLED], by),
    ),
    key("e", "the line that adds most noise", () => explorer.toWorst()),
    key("w", "this line: its quantizer, values and error", () => explorer.showPane("line")),
    key("i", "what if: other bits, ranges, scales, methods", () => explorer.showPane("whatif")),
    rowKeys((by) => explorer.rows.move(by, explorer.rowNow())),
    enterKey("the next step about this line", () => explorer.ask(explorer.rowNow())),
    ...commonKeys(explorer),
  ];
}
