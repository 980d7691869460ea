// Search by operator, name, type, attribute or pattern, in the rows and in the graph at once.
import { Finder } from "../../core/finder.js";
/** @import { Query } from "../../core/types.js" */
/** @import { IrExplorer } from "./view.js" */

const SCOPES = [
  { id: "all", label: "anywhere" },
  { id: "op", label: "operator" },
  { id: "name", label: "name" },
  { id: "type", label: "type" },
];
const IMPORTED = { id: "node", label: "node of the model" };

/** The search of an IrExplorer: its lines are the rows that are shown; `nodes` are what was found in the graph. */
class IrFinder extends Finder {
  /** @param {IrExplorer} explorer */
  constructor(explorer) {
    const { model } = explorer;
    super(explorer, {
      scopes: model.isImported ? [...SCOPES, IMPORTED] : SCOPES,
      placeholder: model.isImported ? "operator, name, type or module" : "operator, name or type",
    });
    this.rowsOf = () => explorer.program.view.rows;
    /** @type {number[]} */
    this.nodes = [];
  }

  /** @param {number} row */
  typesAt(row) {
    const node = this.explorer.program.nodeOfRow.get(row);
    return node === undefined ? [] : [this.explorer.model.type(node)];
  }

  /** @param {Query} query */
  show(query) {
    const { explorer } = this;
    this.nodes = this.matches
      .map((row) => explorer.program.nodeOfRow.get(row))
      .filter((node) => node !== undefined);
    super.show(query);
    if (explorer.ready) explorer.mark();
  }

  /** @param {number} row */
  visit(row) {
    const id = this.explorer.idOfRow(row);
    if (id >= 0) return this.explorer.go(id);
    super.visit(row);
  }
}

/** @param {IrExplorer} explorer */
export const createFinder = (explorer) => new IrFinder(explorer);
