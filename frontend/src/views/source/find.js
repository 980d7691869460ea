// Finding a node or a line of the program: by operator, name, module, location, attribute or text.
import { Finder, rowWords } from "../../core/finder.js";
/** @import { Query } from "../../core/types.js" */
/** @import { SourceExplorer } from "./view.js" */

const SCOPES = [
  { id: "all", label: "nodes and program" },
  { id: "nodes", label: "nodes of the model" },
  { id: "program", label: "the Relay program" },
];

/** The search of a SourceExplorer; matches are rows of both lists, counted from the first one's. */
class SourceFinder extends Finder {
  /** @param {SourceExplorer} explorer */
  constructor(explorer) {
    super(explorer, { scopes: SCOPES, placeholder: "operator, name, module or line", many: 200 });
    const { view, model } = explorer;
    this.words = view.rows.map((row, at) => {
      const node = model.nodes[model.nodeAt.get(at) ?? -1];
      if (!node) return rowWords(row);
      const { op, name, path, location, inputs, outputs, attributes } = node;
      const values = attributes.map((attribute) => `${attribute.name}=${attribute.value}`);
      return [op, name, path, location, ...inputs, ...outputs, ...values].join(" ").toLowerCase();
    });
  }

  /**
   * @param {string} wanted
   * @param {string} scope
   */
  match(wanted, scope) {
    const { split } = this.explorer.view;
    /** @param {number} row */
    const inScope = (row) => scope === "all" || (scope === "nodes") === row < split;
    return [...this.words.keys()].filter((row) => inScope(row) && this.words[row].includes(wanted));
  }

  /** @param {Query} query */
  show({ scope }) {
    const { rows, program, view } = this.explorer;
    const { keep } = this;
    const { split } = view;
    rows.filter(scope === "program" ? null : keep);
    program.filter(keep && scope !== "nodes" ? (/** @type {number} */ row) => keep(row + split) : null);
    const marked = keep ? [] : this.matches;
    rows.mark(
      "match",
      marked.filter((row) => row < split),
    );
    program.mark(
      "match",
      marked.filter((row) => row >= split).map((row) => row - split),
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

/** @param {SourceExplorer} explorer */
export const createFinder = (explorer) => new SourceFinder(explorer);
