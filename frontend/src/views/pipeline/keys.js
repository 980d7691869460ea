// The keys of this explorer: the listener and the help read the same list.
import { both, commonKeys, key, onButton, playKey, rowKeys, stepKeys } from "../../core/keys.js";
/** @import { PipelineExplorer } from "./view.js" */

/**
 * Bindings for `bindKeys`, acting on a PipelineExplorer.
 * @param {PipelineExplorer} explorer
 */
export function bindings(explorer) {
  const two = [
    key("p", "the other pipeline", () => explorer.otherPipeline()),
    key("e", "the final programs side by side", () => explorer.ctx.other?.()),
  ];
  return [
    ...stepKeys(explorer, {
      next: "next pass",
      previous: "previous pass",
      ends: "the program as given, after the last pass",
    }),
    playKey(explorer),
    rowKeys((by) => explorer.rows.move(by)),
    both(["n", "N"], "next and previous change in this pass", (by) => explorer.nextChange(by)),
    both(["r", "R"], "next and previous rewrite inside this pass", (by) => explorer.stepRewrite(by)),
    ...(explorer.model.pipelines.length > 1 ? two : []),
    key("c", "only the passes that changed something", () => explorer.setOnly(!explorer.only)),
    key("u", "fold or unfold what is unchanged", () => explorer.setTight(!explorer.tight)),
    key("Enter", "follow the expression of this row through all passes", (event) =>
      onButton(event) ? false : explorer.followRow(explorer.rows.selected),
    ),
    key("l", "lanes of uses", () => explorer.setLanes(!explorer.lanesOn())),
    ...commonKeys(explorer, { fold: null }),
  ];
}
