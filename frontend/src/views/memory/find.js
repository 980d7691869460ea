// Finding: a line, an operator, a buffer.
import { Finder } from "../../core/finder.js";
import { bufferName } from "./columns.js";
/** @import { MemoryExplorer } from "./view.js" */

/**
 * The search of a MemoryExplorer.
 * @param {MemoryExplorer} explorer
 */
export function createFinder(explorer) {
  const { model } = explorer;
  /** @param {number} row */
  const labels = (row) => model.onRow[row].map((n) => model.values[n].label);
  /** @param {number} row */
  const buffers = (row) =>
    model.onRow[row]
      .map((n) => explorer.variant.lives[explorer.variant.lifeOf[n]])
      .filter(Boolean)
      .map(({ buffer }) => bufferName(buffer));
  return new Finder(explorer, {
    placeholder: "find an operator, a name, a buffer (b2)",
    scopes: [
      { id: "all", label: "anywhere" },
      { id: "op", label: "operators", field: "operator", names: true, texts: labels },
      { id: "buffer", label: "buffers", texts: buffers },
    ],
  });
}
