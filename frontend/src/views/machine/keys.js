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
      pages: `jump back or forward by ${page} steps`,
    }),
    both(["o", "O"], "step over: to where this call returns, and back", (by) => explorer.jumpTo("over", by)),
    both(["u", "U"], "step out: to where the caller continues, and back to the call", (by) =>
      explorer.jumpTo("out", by),
    ),
    both(["n", "N"], "next and previous execution of this instruction", (by) => explorer.jumpTo("again", by)),
    key(["[", "]"], "show the frame of the caller, of the callee", (event) =>
      explorer.otherFrame(event.key === "[" ? -1 : 1),
    ),
    playKey(explorer),
    rowKeys(
      (by, event) => explorer.walk(by, explorer.rowNow(), event),
      "move along the program, or along the code",
    ),
    enterKey("on a row: its instructions; on an instruction: its next execution", () =>
      explorer.ask("row", explorer.rowNow()),
    ),
    key("w", "what this step depends on", () => explorer.ask("step", -1)),
    ...commonKeys(explorer),
  ];
}
