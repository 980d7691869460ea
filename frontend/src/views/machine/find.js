// Finding: a line of the program, or the lines that an instruction came from.
import { Finder } from "../../core/finder.js";
import { Lookup } from "../../core/lookup.js";
import { NONE, rankTexts } from "../../core/rank.js";
/** @import { Query } from "../../core/types.js" */
/** @import { Condition } from "../../core/query.js" */
/** @import { MachineView } from "../../generated/machine.js" */
/** @import { RecordedRun } from "./run.js" */
/** @import { MachineExplorer } from "./view.js" */

/**
 * Where the search of a MachineExplorer looks: `says(fn, number)` is what an instruction says.
 * @param {MachineView} view
 * @param {RecordedRun} run
 */
export function scopesOf(view, run) {
  /** @type {string[][]} */
  const from = view.rows.map(() => []);
  for (const { code } of run.functions)
    for (const instruction of code)
      if (instruction.rows.length) from[instruction.rows[0]].push(said(instruction));
  return [
    { id: "all", label: "anywhere" },
    { id: "line", label: "program", where: () => true },
    { id: "ins", label: "instructions", texts: (/** @type {number} */ row) => from[row] },
  ];
}

/** @param {{ text: string, remark: string }} instruction */
const said = ({ text, remark }) => `${text} ${remark}`;

/**
 * "function number" of the instructions that answer all conditions.
 * @param {RecordedRun} run
 * @param {readonly Condition[]} conditions
 */
export function instructionsOf(run, conditions) {
  const out = new Set();
  const all = conditions.every(({ field }) => field === "" || field === "ins");
  if (conditions.length && all)
    for (const fn of run.functions)
      fn.code.forEach((instruction, number) => {
        if (conditions.every((condition) => rankTexts([said(instruction)], condition) !== NONE))
          out.add(`${fn.index} ${number}`);
      });
  return out;
}

/** The search of a MachineExplorer: of steps, it keeps those whose instruction or row matches. */
class MachineFinder extends Finder {
  /** @param {MachineExplorer} explorer */
  constructor(explorer) {
    super(explorer, {
      scopes: scopesOf(explorer.view, explorer.run),
      placeholder: "find a line, an instruction",
      onlyLabel: "only these steps",
      many: 80,
    });
    /** The program alone. */
    this.program = new Lookup(() => explorer.view.rows, [{ id: "all", label: "" }]);
    this.instructions = new Set();
    this.lines = new Set();
  }

  /**
   * @param {number} line
   * @param {Condition} condition
   */
  rank(line, condition) {
    return this.search.state().scope === "line"
      ? this.program.rank(line, condition)
      : super.rank(line, condition);
  }

  /** @param {Query} query */
  filter(query) {
    const { conditions } = this.find(query.query, query.scope);
    this.instructions = query.scope === "line" ? new Set() : instructionsOf(this.explorer.run, conditions);
    const program = query.scope === "ins" ? [] : this.program.find(query.query).hits;
    this.lines = new Set(program.map(({ line }) => line));
    return super.filter(query);
  }

  /** @param {Query} query */
  hitCount(query) {
    return query.scope === "ins" ? this.instructions.size : super.hitCount(query);
  }

  /**
   * Whether a step does what was found.
   * @param {number} step
   */
  about(step) {
    const { view, run } = this.explorer;
    const { frame, number } = view.steps[step];
    return (
      this.instructions.has(`${view.frames[frame].function} ${number}`) ||
      run.rowsOf(step).some((row) => this.lines.has(row))
    );
  }
}

/** @param {MachineExplorer} explorer */
export const createFinder = (explorer) => new MachineFinder(explorer);
