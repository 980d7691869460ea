// Finding a line on any level: Relay, tensor expressions, the loops of this step, the code.
import { Finder } from "../../core/finder.js";
import { clearLetters, lettersIn, markLetters } from "../../core/letters.js";
/** @import { LoweringExplorer } from "./view.js" */

const NAMES = { relay: "Relay", te: "TE", loops: "loops", ir: "IR", code: "code" };
const LOCAL = 9; // a row of one token, whose words are searched

/** The search of a LoweringExplorer: its lines are those of all levels, one level after the other. */
class LoweringFinder extends Finder {
  /** @param {LoweringExplorer} explorer */
  constructor(explorer) {
    const at = (/** @type {number} */ line) => this.lines[line].level;
    super(explorer, {
      placeholder: "find an operator, a loop, an instruction",
      narrows: false,
      scopes: [
        { id: "all", label: "every level" },
        ...explorer.levels.map((level) => ({
          id: level,
          label: NAMES[level],
          where: (/** @type {number} */ line) => at(line) === level,
        })),
      ],
    });
    /** @type {{ level: string, at: number, row: any }[]} */
    this.lines = [];
    this.step = -1;
  }

  /** The lines of the step that is shown. */
  get count() {
    const { model, levels, step, view } = this.explorer;
    if (this.step !== step) {
      this.step = step;
      /** @param {string} text */
      const written = (text) => ({
        kind: LOCAL,
        depth: 0,
        tokens: [{ kind: LOCAL, text, ref: -1 }],
        end: -1,
      });
      const loops = model.steps[step].nest.map(({ name, text }) => written(text || name));
      const rows = { relay: view.rows, te: model.te.map(({ text }) => written(text)), loops };
      for (const [level, { lines }] of Object.entries(model.codes))
        rows[level] = lines.map(({ text }) => written(text));
      this.lines = levels.flatMap((level) => rows[level].map((row, at) => ({ level, at, row })));
    }
    return this.lines.length;
  }

  /** @param {number} line */
  rowsAt(line) {
    return [this.lines[line].row];
  }

  /** @param {number} line */
  programAt(line) {
    const { level, at, row } = this.lines[line];
    return level === "relay" ? { rows: this.explorer.view.rows, row: at } : { rows: [row], row: 0 };
  }

  /** @param {number} line */
  describe(line) {
    const { level, at } = this.lines[line];
    return { number: `${NAMES[level]} ${at + 1}`, text: super.describe(line).text.trim() };
  }

  /** Marks the lines that were found, and their letters. */
  show() {
    const { levels, panels, finder } = this.explorer;
    if (!finder) return;
    for (const level of levels) {
      const { list } = panels[level];
      clearLetters(list);
      for (const line of list.children) line.classList.remove("is-match");
    }
    for (const line of new Set(this.matches)) {
      const { level, at } = this.lines[line];
      const node = panels[level].list.querySelector(`[data-at="${at}"]`);
      node?.classList.add("is-match");
      const text = node?.querySelector("[role=gridcell]");
      for (const condition of this.conditions) if (text) markLetters(text, lettersIn(text, condition));
    }
  }

  get from() {
    const line = this.explorer.at()?.line;
    return line
      ? this.lines.findIndex(
          ({ level, at }) => level === line.dataset.level && at === Number(line.dataset.at),
        )
      : -1;
  }

  /** @param {number} line */
  visit(line) {
    const { level, at } = this.lines[line];
    this.explorer.showLine(level, at);
  }
}

/** @param {LoweringExplorer} explorer */
export const createFinder = (explorer) => new LoweringFinder(explorer);
