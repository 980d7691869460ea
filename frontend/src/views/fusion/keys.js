// The keys of this explorer: the listener and the help read the same list.
import { both, commonKeys, enterKey, key, playKey, rowKeys, stepKeys } from "../../core/keys.js";
import { MERGED, REFUSED } from "./marks.js";
/** @import { FusionExplorer } from "./view.js" */

/**
 * Bindings for `bindKeys`, acting on a FusionExplorer.
 * @param {FusionExplorer} explorer
 */
export function bindings(explorer) {
  const functions = key(["[", "]"], "the function before and after this one", (event) =>
    explorer.nextFunction(event.key === "[" ? -1 : 1),
  );
  return [
    ...stepKeys(explorer, {
      next: "next decision",
      previous: "previous decision",
      ends: "before the first decision, after the last",
      pages: "jump back or forward by 5% of the decisions",
    }),
    playKey(explorer),
    both(["n", "N"], "next and previous refusal", (by) => explorer.nextMark(REFUSED, by)),
    both(["m", "M"], "next and previous merge", (by) => explorer.nextMark(MERGED, by)),
    both(["v", "V"], "next and previous scenario (what if)", (by) => explorer.nextQuestion(by)),
    key("g", "the rows of each kernel together, or as they are printed", () =>
      explorer.regroup(!explorer.grouped),
    ),
    ...(explorer.whole.functions.length > 1 ? [functions] : []),
    key("w", "why: the path, the rule, what prevents the merge", () => explorer.why()),
    key(["t", "k"], "the tree of post-dominators, the list of kernels", (event) =>
      explorer.showPane(event.key === "t" ? "tree" : "list"),
    ),
    rowKeys((by) => explorer.rows.move(by, explorer.rowNow())),
    enterKey("on a row: the decision about it, and the next one", () => explorer.ask(explorer.rowNow())),
    ...commonKeys(explorer, { help: "these keys, and the patterns" }),
  ];
}
