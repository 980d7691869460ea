// Finding a line, in the program or in what remains of it.
import { Finder, rowWords } from "../../core/finder.js";
/** @import { PartialExplorer } from "./view.js" */
/** @import { Query } from "../../core/types.js" */

const SCOPES = [
  { id: "all", label: "both programs" },
  { id: "program", label: "the program" },
  { id: "remains", label: "the residual program" },
];

/** The search of a PartialExplorer; matches are rows of both programs, counted from the first one's. */
class PartialFinder extends Finder {
  /** @param {PartialExplorer} explorer */
  constructor(explorer) {
    super(explorer, { scopes: SCOPES, placeholder: "find a line, an operator, a name" });
  }

  /**
   * @param {string} wanted
   * @param {string} scope
   */
  match(wanted, scope) {
    const { model, view } = this.explorer;
    /** @param {number} row */
    const inScope = (row) => scope === "all" || (scope === "program") === row < model.split;
    return [...model.texts.keys()].filter(
      (row) => inScope(row) && this.explorer.isShown(row) && rowWords(view.rows[row]).includes(wanted),
    );
  }

  /** @param {Query} query */
  show({ scope }) {
    const { rows, remains, model } = this.explorer;
    const { keep } = this;
    this.explorer.narrowTo(
      scope === "remains" ? null : keep,
      keep && scope !== "program" ? (row) => keep(row + model.split) : null,
    );
    const marked = keep ? [] : this.matches;
    rows.mark(
      "match",
      marked.filter((row) => row < model.split),
    );
    remains.mark(
      "match",
      marked.filter((row) => row >= model.split).map((row) => row - model.split),
    );
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
