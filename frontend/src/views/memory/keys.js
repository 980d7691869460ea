// The keys of this explorer: the listener and the help read the same list.
import { both, commonKeys, enterKey, key, playKey, rowKeys, stepKeys } from "../../core/keys.js";
import { AGAIN, NEW } from "./marks.js";
/** @import { MemoryExplorer } from "./view.js" */

/**
 * Bindings for `bindKeys`, acting on a MemoryExplorer.
 * @param {MemoryExplorer} explorer
 */
export function bindings(explorer) {
  return [
    ...stepKeys(explorer, {
      ends: "before the first step, after the last",
      pages: "jump back or forward by 5% of the steps",
    }),
    playKey(explorer),
    key("p", "the peak", () => explorer.jump(explorer.variant.peak)),
    both(["n", "N"], "next and previous new buffer", (by) => explorer.nextMark(NEW, by)),
    both(["g", "G"], "next and previous reuse of a buffer", (by) => explorer.nextMark(AGAIN, by)),
    both(["v", "V"], "next and previous other plan", (by) => explorer.nextPlan(by)),
    key("z", "the steps around this one, or all", () => explorer.setWhole(!explorer.whole)),
    key("w", "why: what the buffer held before", () => explorer.why()),
    key(["a", "u"], "the arena, the live values", (event) =>
      explorer.showPane(event.key === "a" ? "arena" : "use"),
    ),
    rowKeys((by) => explorer.rows.move(by, explorer.rowNow())),
    enterKey("on a row: the step that makes its value", () => explorer.ask(explorer.rowNow())),
    ...commonKeys(explorer),
  ];
}
