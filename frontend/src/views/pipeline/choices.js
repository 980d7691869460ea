// The buttons that choose what of a pass is shown: only changes, folded, uses.
import { h } from "../../core/dom.js";
/** @import { PipelineExplorer } from "./view.js" */

/** @param {PipelineExplorer} explorer */
export function createChoices(explorer) {
  /** @param {string} text */
  const long = (text) => h("span", { class: "wordy" }, text);
  const only = explorer.button(
    [long("only"), "changes"],
    "only the passes that changed something (c)",
    () => explorer.setOnly(!explorer.only),
    null,
  );
  const tight = explorer.button(
    ["fold", long("unchanged")],
    "fold what is unchanged (u)",
    () => explorer.setTight(!explorer.tight),
    null,
  );
  const lanes = explorer.button(
    "uses",
    "lanes: who uses what (l)",
    () => explorer.setLanes(!explorer.lanesOn()),
    null,
  );
  lanes.classList.add("lanes");
  return {
    el: h("span", { class: "group choices" }, only, tight, lanes),
    /** Presses the buttons of what is chosen now. */
    show() {
      only.setAttribute("aria-pressed", String(explorer.only));
      tight.setAttribute("aria-pressed", String(explorer.tight));
      lanes.setAttribute("aria-pressed", String(explorer.lanesOn()));
    },
  };
}
