// Finding: a line, an operator, a pattern, a kernel.
import { Finder, rowTexts, some } from "../../core/finder.js";
/** @import { FusionExplorer } from "./view.js" */

/** The search of a FusionExplorer; `renew()` after the explorer has other rows. */
class FusionFinder extends Finder {
  /** @param {FusionExplorer} explorer */
  constructor(explorer) {
    /** @param {number} row */
    const here = (row) => explorer.model.onRow[row];
    /** @param {number} row */
    const labels = (row) => here(row).map((n) => explorer.model.nodes[n].label);
    /** @param {number} row */
    const patterns = (row) =>
      here(row).map((n) => explorer.model.patterns.get(explorer.variant.pattern[n])?.name ?? "");
    /** @param {number} row */
    const kernels = (row) =>
      here(row).map((n) => explorer.variant.kernels[explorer.variant.kernelOf[n]]?.name ?? "");
    /** @param {number} row */
    const anywhere = (row) => [this.texts[row], ...labels(row), ...patterns(row), ...kernels(row)];
    super(explorer, {
      placeholder: "find an operator, a pattern, a kernel",
      scopes: [
        { id: "all", label: "anywhere", has: (row, wanted) => some(anywhere(row), wanted) },
        { id: "op", label: "operators", has: (row, wanted) => some(labels(row), wanted) },
        { id: "pattern", label: "patterns", has: (row, wanted) => some(patterns(row), wanted) },
        { id: "kernel", label: "kernels", has: (row, wanted) => some(kernels(row), wanted) },
      ],
    });
    this.texts = rowTexts(explorer.view);
  }

  renew() {
    this.texts = rowTexts(this.explorer.view);
    if (this.search.state().query) this.search.run();
  }
}

/** @param {FusionExplorer} explorer */
export const createFinder = (explorer) => new FusionFinder(explorer);
