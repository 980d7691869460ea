// Finding: a line, an operator, a pattern, a kernel.
import { Finder } from "../../core/finder.js";
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
    super(explorer, {
      placeholder: "find an operator, a pattern, a kernel",
      scopes: [
        { id: "all", label: "anywhere" },
        { id: "op", label: "operators", field: "operator", names: true, texts: labels },
        { id: "pattern", label: "operator patterns", field: "op-pattern", texts: patterns },
        { id: "kernel", label: "kernels", texts: kernels },
      ],
    });
  }

  renew() {
    this.matchers.clear();
    if (this.search.state().query) this.search.run();
  }
}

/** @param {FusionExplorer} explorer */
export const createFinder = (explorer) => new FusionFinder(explorer);
