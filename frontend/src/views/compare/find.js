// Finding a row of either program: by what it says, or by the node of the model that it came from.
import { Finder } from "../../core/finder.js";
import { SIGN_LETTERS } from "./model.js";
/** @import { CompareExplorer } from "./view.js" */

/** The search of a CompareExplorer: its lines are those of the text, each a row of one program or of both. */
class CompareFinder extends Finder {
  /** @param {CompareExplorer} explorer */
  constructor(explorer) {
    super(explorer, {
      placeholder: "find a line, an operator, a name",
      scopes: [
        { id: "all", label: "both programs" },
        { id: "a", label: "program A", where: () => true },
        { id: "b", label: "program B", where: () => true },
      ],
    });
  }

  get count() {
    return this.explorer.lines.length;
  }

  /**
   * The programs in which a line is looked at, each with the number of its row there.
   * @param {number} line
   */
  placesAt(line) {
    const { model, lines, view, form } = this.explorer;
    const { pair, side } = lines[line];
    const scope = this.search?.state().scope ?? "all";
    return ["a", "b"]
      .filter((name) => (scope === "all" || scope === name) && (form === "sides" || name === side))
      .map((name) => ({ rows: view[name].rows, row: model.pairs[pair][name], side: name }))
      .filter(({ row }) => row >= 0);
  }

  /** @param {number} line */
  rowsAt(line) {
    return this.placesAt(line).map(({ rows, row }) => rows[row]);
  }

  /**
   * @param {number} line
   * @param {number} which
   */
  programAt(line, which) {
    return this.placesAt(line)[which];
  }

  /**
   * @param {number} line
   * @param {number} which
   * @param {number} row
   */
  lineOf(line, which, row) {
    const { model, lines, form } = this.explorer;
    const { side } = this.placesAt(line)[which];
    const pair = model.pairOf[side][row];
    return lines.findIndex((other) => other.pair === pair && (form === "sides" || other.side === side));
  }

  /**
   * @param {number} line
   * @param {HTMLElement} node
   */
  dress(line, node) {
    const sign = this.explorer.form === "both" ? SIGN_LETTERS : 0;
    for (const { rows, row, side } of this.placesAt(line)) {
      const other = this.explorer.form === "sides" && side === "b";
      this.dressRow(rows[row], node.querySelector(other ? ".cell.c-after" : ".cell.code"), sign);
    }
  }

  /** @param {number} line */
  visit(line) {
    this.explorer.visit(this.explorer.lines[line].pair, false);
  }
}

/** @param {CompareExplorer} explorer */
export const createFinder = (explorer) => new CompareFinder(explorer);
