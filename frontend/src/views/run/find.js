// Finding a kernel, by the operators that it holds or by its name.
import { Finder } from "../../core/finder.js";
/** @import { RunExplorer } from "./view.js" */

/** The search of a RunExplorer: its lines are the kernels. */
class RunFinder extends Finder {
  /** @param {RunExplorer} explorer */
  constructor(explorer) {
    const { kernels } = explorer.model;
    super(explorer, {
      placeholder: "find a kernel by its operators",
      narrows: false,
      scopes: [
        { id: "all", label: "anywhere" },
        { id: "op", label: "operators" },
        { id: "kernel", label: "names of kernels", texts: (kernel) => [kernels[kernel].name] },
      ],
    });
    const rows = kernels.map(({ tokens }) => ({
      kind: 3,
      depth: 0,
      tokens,
      node: -1,
      end: -1,
      imported: null,
    }));
    this.rowsOf = () => rows;
  }

  show() {
    const found = new Set(this.matches);
    for (const [kernel, row] of this.explorer.lines.entries())
      row.classList.toggle("is-match", found.has(kernel));
  }

  get from() {
    return this.explorer.kernel;
  }

  /** @param {number} kernel */
  visit(kernel) {
    const { explorer } = this;
    const inBox = this.search.el.contains(explorer.active);
    explorer.visit(kernel);
    if (inBox) this.search.input.focus({ preventScroll: true });
  }
}

/** @param {RunExplorer} explorer */
export const createFinder = (explorer) => new RunFinder(explorer);
