// Finding: a line of the program, or the lines that an instruction came from.
import { Finder, rowTexts } from "../../core/finder.js";
/** @import { MachineView } from "../../generated/machine.js" */
/** @import { RecordedRun } from "./run.js" */
/** @import { MachineExplorer } from "./view.js" */
/** @import { Query } from "../../core/types.js" */

const SCOPES = [
  { id: "all", label: "anywhere" },
  { id: "line", label: "program" },
  { id: "ins", label: "instructions" },
];

/**
 * `match(query, scope)` → `{ rows, lines, instructions }`: rows to go to, in order; those whose text matches; "function number" of instructions that do.
 * @param {MachineView} view
 * @param {RecordedRun} run
 */
export function createMatcher(view, run) {
  const texts = rowTexts(view);
  return (query, scope) => {
    const wanted = query.toLowerCase();
    const instructions = new Set();
    if (!wanted) return { rows: [], lines: new Set(), instructions };
    const lines = new Set(
      scope === "ins" ? [] : texts.flatMap((text, row) => (text.includes(wanted) ? [row] : [])),
    );
    const found = new Set(lines);
    if (scope !== "line") {
      for (const fn of run.functions) {
        fn.code.forEach(({ text, remark, rows: from }, number) => {
          if (!`${text} ${remark}`.toLowerCase().includes(wanted)) return;
          instructions.add(`${fn.index} ${number}`);
          if (from.length) found.add(from[0]);
        });
      }
    }
    return { rows: [...found].sort((a, b) => a - b), lines, instructions };
  };
}

/** The search of a MachineExplorer: of steps, it keeps those whose instruction or row matches. */
class MachineFinder extends Finder {
  /** @param {MachineExplorer} explorer */
  constructor(explorer) {
    super(explorer, {
      scopes: SCOPES,
      placeholder: "find a line, an instruction",
      onlyLabel: "only these steps",
      many: 80,
    });
    this.matcher = createMatcher(explorer.view, explorer.run);
    this.result = this.matcher("", "all");
  }

  /**
   * @param {string} wanted
   * @param {string} scope
   */
  match(wanted, scope) {
    this.result = this.matcher(wanted, scope);
    return this.result.rows;
  }

  /** @param {Query} query */
  filter(query) {
    const count = super.filter(query);
    return query.query && query.scope === "ins" ? this.result.instructions.size : count;
  }

  /**
   * Whether a step does what was found.
   * @param {number} step
   */
  about(step) {
    const { view, run } = this.explorer;
    const { frame, number } = view.steps[step];
    const { instructions, lines } = this.result;
    return (
      instructions.has(`${view.frames[frame].function} ${number}`) ||
      run.rowsOf(step).some((row) => lines.has(row))
    );
  }
}

/** @param {MachineExplorer} explorer */
export const createFinder = (explorer) => new MachineFinder(explorer);
