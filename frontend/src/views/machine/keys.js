// The keys of this explorer: the listener and the help read the same list.
import { both, commonKeys, enterKey, key, playKey, rowKeys, stepKeys } from "../../core/keys.js";
/** @import { MachineExplorer } from "./view.js" */

/**
 * Bindings for `bindKeys`, acting on a MachineExplorer.
 * @param {MachineExplorer} explorer
 */
export function bindings(explorer) {
  const page = Math.max(5, Math.round(explorer.count / 20));
  return [
    ...stepKeys(explorer, {
      next: "next instruction",
      previous: "previous instruction",
      pages: `${page} steps back and forward`,
    }),
    both(["o", "O"], "over: to the end of what is called here, and back", (by) =>
      explorer.jumpTo("over", by),
    ),
    both(["u", "U"], "out of this call, and back to where it was called", (by) => explorer.jumpTo("out", by)),
    both(["n", "N"], "next and previous time that this instruction runs", (by) =>
      explorer.jumpTo("again", by),
    ),
    key(["[", "]"], "show the frame that called, that was called", (event) =>
      explorer.otherFrame(event.key === "[" ? -1 : 1),
    ),
    playKey(explorer),
    rowKeys(
      (by, event) => explorer.walk(by, explorer.rowNow(), event),
      "move along the program, or along the code",
    ),
    enterKey("on a row: what became of it; on an instruction: the next time that it runs", () =>
      explorer.ask("row", explorer.rowNow()),
    ),
    key("w", "why could this step happen", () => explorer.ask("step", -1)),
    ...commonKeys(explorer),
  ];
}
