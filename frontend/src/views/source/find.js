// Finding a node or a line of the program: by operator, name, module, location, attribute or text.
import { Finder } from "../../core/finder.js";
import { NONE, rankText, rankTexts } from "../../core/rank.js";
/** @import { Condition } from "../../core/query.js" */
/** @import { SourceExplorer } from "./view.js" */

/** The search of a SourceExplorer; matches are rows of both lists, counted from the first one's. */
class SourceFinder extends Finder {
  /** @param {SourceExplorer} explorer */
  constructor(explorer) {
    const { split } = explorer.view;
    super(explorer, {
      placeholder: "operator, name, module or line",
      many: 200,
      scopes: [
        { id: "all", label: "nodes and program" },
        { id: "nodes", label: "nodes of the model", where: (row) => row < split },
        { id: "program", label: "the Relay program", where: (row) => row >= split },
      ],
    });
  }

  /** @param {number} line */
  nodeAt(line) {
    const { model } = this.explorer;
    return model.nodes[model.nodeAt.get(line) ?? -1];
  }

  /**
   * How well a line answers: a node also by what its row does not show.
   * @param {number} line
   * @param {Condition} condition
   */
  rank(line, condition) {
    const node = this.nodeAt(line);
    const own = super.rank(line, condition);
    if (own !== NONE || !node) return own;
    const { field, word, regex, name: wanted } = condition;
    if (field === "attr")
      return node.attributes.some(
        ({ name, value }) =>
          name.toLowerCase() === (wanted ?? word) &&
          (wanted === undefined ||
            (regex
              ? regex.test(value)
              : word === "" || rankText(value.replace(/\s/g, ""), bare(word)) !== NONE)),
      )
        ? 3
        : NONE;
    if (field !== "" && field !== "node") return NONE;
    const { name, path, location, inputs, outputs } = node;
    return rankTexts([name, path, location, ...inputs, ...outputs], condition);
  }

  grids() {
    const { rows, program, view } = this.explorer;
    return [
      { rows, first: 0, count: view.split, scope: "nodes" },
      { rows: program, first: view.split, count: Infinity, scope: "program" },
    ];
  }

  get from() {
    return this.explorer.chosen();
  }

  /** @param {number} row */
  visit(row) {
    this.explorer.visit(row);
  }
}

/** @param {string} value */
const bare = (value) => value.replace(/\s/g, "");

/** @param {SourceExplorer} explorer */
export const createFinder = (explorer) => new SourceFinder(explorer);
