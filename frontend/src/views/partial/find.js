// Finding a line, in the program or in what remains of it.
import { Finder } from "../../core/finder.js";
/** @import { Keep, Rows } from "../../core/types.js" */
/** @import { PartialExplorer } from "./view.js" */

/** The search of a PartialExplorer; matches are rows of both programs, counted from the first one's. */
class PartialFinder extends Finder {
  /** @param {PartialExplorer} explorer */
  constructor(explorer) {
    const { split } = explorer.model;
    /** @param {number} row */
    const shown = (row) => explorer.isShown(row);
    super(explorer, {
      placeholder: "find a line, an operator, a name",
      scopes: [
        { id: "all", label: "both programs", where: shown },
        { id: "program", label: "the program", where: (row) => row < split },
        { id: "remains", label: "the residual program", where: (row) => row >= split && shown(row) },
      ],
    });
  }

  grids() {
    const { rows, remains, model } = this.explorer;
    return [
      { rows, first: 0, count: model.split, scope: "program" },
      { rows: remains, first: model.split, count: Infinity, scope: "remains" },
    ];
  }

  /**
   * @param {Rows} rows
   * @param {Keep} keep
   */
  narrow(rows, keep) {
    const { explorer } = this;
    if (rows === explorer.rows) explorer.narrowTo(keep, explorer.keep[1]);
    else explorer.narrowTo(explorer.keep[0], keep);
  }

  get from() {
    return this.explorer.chosen();
  }

  /** @param {number} row */
  visit(row) {
    this.explorer.visit(row);
  }
}

/** @param {PartialExplorer} explorer */
export const createFinder = (explorer) => new PartialFinder(explorer);
