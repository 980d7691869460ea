// Finding in the stage that is shown: a line of the program before or after.
import { Finder, rowWords, some } from "../../core/finder.js";
/** @import { PipelineExplorer } from "./view.js" */

/** The search of a PipelineExplorer: its rows are the pairs of the stage. */
class PipelineFinder extends Finder {
  /** @param {PipelineExplorer} explorer */
  constructor(explorer) {
    /**
     * @param {number} pair
     * @param {string} side
     */
    const text = (pair, side) => {
      const row = explorer.view.rows[explorer.stage.pairs[pair][side]];
      return row ? rowWords(row) : "";
    };
    super(explorer, {
      placeholder: "find a line, an operator, a name",
      scopes: [
        {
          id: "all",
          label: "before and after",
          has: (pair, wanted) => some([text(pair, "before"), text(pair, "after")], wanted),
        },
        { id: "before", label: "before", has: (pair, wanted) => some([text(pair, "before")], wanted) },
        { id: "after", label: "after", has: (pair, wanted) => some([text(pair, "after")], wanted) },
      ],
    });
  }

  get rowCount() {
    return this.explorer.stage.pairs.length;
  }

  /** @param {number} row */
  visit(row) {
    this.explorer.visit(row, false);
  }
}

/** @param {PipelineExplorer} explorer */
export const createFinder = (explorer) => new PipelineFinder(explorer);
