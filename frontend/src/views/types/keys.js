// The keys of this explorer: the listener and the help read the same list.
import { both, commonKeys, enterKey, key, playKey, rowKeys, stepKeys } from "../../core/keys.js";
/** @import { TypesExplorer } from "./view.js" */

/**
 * Bindings for `bindKeys`, acting on a TypesExplorer.
 * @param {TypesExplorer} explorer
 */
export function bindings(explorer) {
  const page = Math.max(5, Math.round(explorer.count / 20));
  return [
    ...stepKeys(explorer, { pages: `jump back or forward by ${page} steps` }),
    playKey(explorer),
    both(["]", "["], "next and previous wait, requeue or failure", (by) => explorer.nextRare(by)),
    rowKeys((by) => explorer.rows.move(by, explorer.rowNow())),
    enterKey("on a row: when its type became known", () => explorer.question.enter(explorer.rowNow())),
    key("w", "why this type is known", () => explorer.question.here()),
    ...commonKeys(explorer),
  ];
}
