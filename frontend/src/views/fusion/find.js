// Finding: a line, an operator, a pattern, a kernel.
import { Finder, rowTexts, some } from "../../core/finder.js";

/** The search of a FusionExplorer; `renew()` after the explorer has other rows. */
class FusionFinder extends Finder {
  constructor(explorer) {
    const here = (row) => explorer.model.onRow[row];
    const labels = (row) => here(row).map((n) => explorer.model.nodes[n].label);
    const patterns = (row) =>
      here(row).map((n) => explorer.model.patterns.get(explorer.variant.pattern[n])?.name ?? "");
    const kernels = (row) =>
      here(row).map((n) => explorer.variant.kernels[explorer.variant.kernelOf[n]]?.name ?? "");
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

export const createFinder = (explorer) => new FusionFinder(explorer);
