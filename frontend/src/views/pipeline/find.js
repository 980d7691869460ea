// Finding in the stage that is shown: a line of the program before or after.
import { Finder } from "../../core/finder.js";
/** @import { PipelineExplorer } from "./view.js" */

/** The search of a PipelineExplorer: its lines are the pairs of the stage. */
class PipelineFinder extends Finder {
  /** @param {PipelineExplorer} explorer */
  constructor(explorer) {
    super(explorer, {
      placeholder: "find a line, an operator, a name",
      scopes: [
        { id: "all", label: "before and after" },
        { id: "before", label: "before", where: () => true },
        { id: "after", label: "after", where: () => true },
      ],
    });
  }

  get count() {
    return this.explorer.stage.pairs.length;
  }

  /** The numbers of a pair's rows, on the sides that are searched. */
  sides(pair) {
    const { before, after } = this.explorer.stage.pairs[pair];
    const scope = this.search?.state().scope;
    return [scope === "after" ? -1 : before, scope === "before" ? -1 : after];
  }

  /** @param {number} pair */
  rowsAt(pair) {
    const { rows } = this.explorer.view;
    return this.sides(pair)
      .map((row) => rows[row])
      .filter(Boolean);
  }

  /**
   * @param {number} pair
   * @param {number} which
   */
  programAt(pair, which) {
    return { rows: this.explorer.view.rows, row: this.sides(pair).filter((row) => row >= 0)[which] };
  }

  /**
   * @param {number} pair
   * @param {number} which
   * @param {number} row
   */
  lineOf(pair, which, row) {
    const { pairs } = this.explorer.stage;
    const before = this.sides(pair)[0] >= 0 && which === 0;
    return pairs.findIndex((other) => (before ? other.before : other.after) === row);
  }

  /**
   * @param {number} pair
   * @param {HTMLElement} node
   */
  dress(pair, node) {
    const { rows } = this.explorer.view;
    const [before, after] = this.sides(pair);
    this.dressRow(rows[before], node.querySelector(".cell.code"));
    this.dressRow(rows[after], node.querySelector(".cell.c-after .code, .cell.c-after"));
  }

  /** @param {number} row */
  visit(row) {
    this.explorer.visit(row, false);
  }
}

/** @param {PipelineExplorer} explorer */
export const createFinder = (explorer) => new PipelineFinder(explorer);
