// Finding: a line, an operator, a buffer.
import { Finder, rowTexts, some } from "../../core/finder.js";
import { bufferName } from "./columns.js";
/** @import { MemoryExplorer } from "./view.js" */

/**
 * The search of a MemoryExplorer; a buffer is found by its whole name.
 * @param {MemoryExplorer} explorer
 */
export function createFinder(explorer) {
  const { view, model } = explorer;
  const texts = rowTexts(view);
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
      {
        id: "all",
        label: "anywhere",
        has: (row, wanted) => texts[row].includes(wanted) || buffers(row).includes(wanted),
      },
      { id: "op", label: "operators", has: (row, wanted) => some(labels(row), wanted) },
      { id: "buffer", label: "buffers", has: (row, wanted) => buffers(row).includes(wanted) },
    ],
  });
}
