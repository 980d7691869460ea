// Finding a line in any form, by its text or by what it computes.
import { Finder } from "../../core/finder.js";
/** @import { SharingExplorer } from "./view.js" */

/** The search of a SharingExplorer: its lines are the rows of all forms, one form after the other. */
class SharingFinder extends Finder {
  /** @param {SharingExplorer} explorer */
  constructor(explorer) {
    const { model } = explorer;
    /** @type {{ form: number, row: number }[]} */
    const lines = [];
    model.forms.forEach(({ rows }, form) => rows.forEach((_, row) => lines.push({ form, row })));
    super(explorer, {
      placeholder: "find a line, or what is computed",
      onlyLabel: "only these lines",
      scopes: [
        { id: "all", label: "anywhere" },
        {
          id: "key",
          label: "what is computed",
          field: "computes",
          texts: (line) =>
            model.forms[lines[line].form].on[lines[line].row].map(
              ({ key }) => `${model.name(key)} ${model.what(key)}`,
            ),
        },
      ],
    });
    this.lines = lines;
    this.rowsOf = () => [];
  }

  get count() {
    return this.lines.length;
  }

  /** @param {number} line */
  rowsAt(line) {
    const { form, row } = this.lines[line];
    return [this.explorer.model.forms[form].rows[row]];
  }

  /** @param {number} line */
  programAt(line) {
    const { form, row } = this.lines[line];
    return { rows: this.explorer.model.forms[form].rows, row };
  }

  /** @param {number} line */
  describe(line) {
    const { form, row } = this.lines[line];
    return {
      number: `${this.explorer.model.forms[form].name} ${row + 1}`,
      text: super.describe(line).text,
    };
  }

  grids() {
    let first = 0;
    return this.explorer.forms.map(({ rows }, form) => {
      const { length } = this.explorer.model.forms[form].rows;
      first += length;
      return { rows, first: first - length, count: length };
    });
  }

  get from() {
    return this.lines.findIndex(({ form, row }) => this.explorer.forms[form].rows?.selected === row);
  }

  /** @param {number} line */
  visit(line) {
    const { form, row } = this.lines[line];
    this.explorer.select(form, row);
    this.explorer.choose(form, row);
    this.search.input.focus({ preventScroll: true });
  }
}

/** @param {SharingExplorer} explorer */
export const createFinder = (explorer) => new SharingFinder(explorer);
