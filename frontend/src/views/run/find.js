// Finding a kernel, by the operators that it holds or by its name.
import { Finder } from "../../core/finder.js";
import { clearLetters, lettersIn, markLetters, occurrencesIn } from "../../core/letters.js";
import { shortName } from "./model.js";
/** @import { Condition } from "../../core/query.js" */
/** @import { RunExplorer } from "./view.js" */

/**
 * The letters of a cell that answer a condition; the names of operators stand there without their prefix.
 * @param {Element} cell
 * @param {Condition} condition
 */
function shown(cell, condition) {
  const letters = lettersIn(cell, condition);
  return letters.length ? letters : occurrencesIn(cell, shortName(condition.word));
}

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
      type: "",
      imported: null,
    }));
    this.rowsOf = () => rows;
  }

  show() {
    const found = new Set(this.matches);
    for (const [kernel, row] of this.explorer.lines.entries()) {
      row.classList.toggle("is-match", found.has(kernel));
      const cells = row.querySelectorAll("td.what, td.shape");
      for (const cell of cells) {
        clearLetters(cell);
        if (!found.has(kernel)) continue;
        for (const condition of this.conditions)
          if (condition.field !== "is") markLetters(cell, shown(cell, condition));
      }
    }
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
