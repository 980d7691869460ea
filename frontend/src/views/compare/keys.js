// The keys of this explorer: the listener and the help read the same list.
import { both, commonKeys, key, playKey, rowKeys, stepKeys } from "../../core/keys.js";
/** @import { CompareExplorer } from "./view.js" */

/**
 * Bindings for `bindKeys`, acting on a CompareExplorer.
 * @param {CompareExplorer} explorer
 */
export function bindings(explorer) {
  return [
    ...stepKeys(explorer, {
      next: "next difference",
      previous: "previous difference",
      ends: "the summary, the last difference",
      pages: "jump back or forward by 5% of the differences",
    }),
    playKey(explorer),
    rowKeys((by) => explorer.rows.move(by, explorer.lineNow())),
    both(["n", "N"], "next and previous difference of the same kind", (by) =>
      explorer.nextMark(explorer.markOf(explorer.step), by),
    ),
    key("g", "the graphs, or the text", () => explorer.setGraphs(!explorer.graphsOn)),
    key("u", "fold or unfold what is equal", () => explorer.setTight(!explorer.tight)),
    key("m", "to the other place of a row that moved", () => explorer.cross(explorer.pairNow())),
    key("p", "the differences, or sizes and costs", () => explorer.otherPane()),
    ...(explorer.ctx.other
      ? [key("e", "the passes that led to these programs", () => explorer.ctx.other?.())]
      : []),
    ...commonKeys(explorer, { fold: null }),
  ];
}
