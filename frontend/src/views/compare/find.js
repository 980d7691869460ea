// Finding a row of either program: by its text, or by the node of the model that it came from.
import { Finder, rowWords, some } from "../../core/finder.js";
/** @import { CompareExplorer } from "./view.js" */

/** The search of a CompareExplorer: its rows are the lines of the text. */
class CompareFinder extends Finder {
  /** @param {CompareExplorer} explorer */
  constructor(explorer) {
    /**
     * @param {number} line
     * @param {"a" | "b"} side
     */
    const text = (line, side) => {
      const row = explorer.model.row(explorer.lines[line].pair, side);
      return row ? rowWords(row) : "";
    };
    super(explorer, {
      placeholder: "find a line, an operator, a name",
      scopes: [
        {
          id: "all",
          label: "both programs",
          has: (line, wanted) => some([text(line, "a"), text(line, "b")], wanted),
        },
        { id: "a", label: "program A", has: (line, wanted) => some([text(line, "a")], wanted) },
        { id: "b", label: "program B", has: (line, wanted) => some([text(line, "b")], wanted) },
      ],
    });
  }

  get rowCount() {
    return this.explorer.lines.length;
  }

  /** @param {number} line */
  visit(line) {
    this.explorer.visit(this.explorer.lines[line].pair, false);
  }
}

/** @param {CompareExplorer} explorer */
export const createFinder = (explorer) => new CompareFinder(explorer);
