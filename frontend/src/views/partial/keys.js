// The keys of this explorer: the listener and the help read the same list.
import { both, commonKeys, key, onButton, playKey, rowKeys, stepKeys } from "../../core/keys.js";
import { EFFECT, INLINED, KEPT, UNROLLED } from "./marks.js";
/** @import { PartialExplorer } from "./view.js" */

/**
 * Bindings for `bindKeys`, acting on a PartialExplorer.
 * @param {PartialExplorer} explorer
 */
export function bindings(explorer) {
  const { model } = explorer;
  return [
    ...stepKeys(explorer, { pages: "jump back or forward by 5% of the steps" }),
    playKey(explorer),
    key("o", "step over the call that begins here", () => explorer.jump(model.over(explorer.step))),
    key("u", "step out of the function, to its result", () => explorer.jump(model.over(explorer.step, true))),
    both(["r", "R"], "next and previous inlined call", (by) => explorer.nextMark([INLINED, UNROLLED], by)),
    both(["n", "N"], "next and previous residual operation", (by) => explorer.nextMark([KEPT, EFFECT], by)),
    both(["e", "E"], "next and previous effect", (by) => explorer.nextMark([EFFECT], by)),
    key("a", "show unused bindings too", () => explorer.setAll(!explorer.all)),
    rowKeys((by) => explorer.along(by), "move along the program, or along the residual program"),
    key(["Enter", "w"], "on a row: the step about it, and the next one", (event) =>
      event.key === "Enter" && onButton(event) ? false : explorer.ask(),
    ),
    ...commonKeys(explorer, { fold: () => explorer.fold() }),
  ];
}
