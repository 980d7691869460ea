// Finding: a line of the program, of the integer program, a quantizer, what was left in float.
import { Finder, rowTexts, some } from "../../core/finder.js";
import { FLOAT } from "./marks.js";
import { dtype } from "./model.js";
/** @import { QuantizeExplorer } from "./view.js" */

/** The search of a QuantizeExplorer; it looks at the rows of the float program. */
class QuantizeFinder extends Finder {
  get rowCount() {
    return this.explorer.model.split;
  }
}

/** @param {QuantizeExplorer} explorer */
export function createFinder(explorer) {
  const { model } = explorer;
  const texts = rowTexts({ rows: model.rows });
  const integers = model.linesOf.map((lines) => lines.map(model.lineText));
  const quantizers = model.sitesOf.map((sites) =>
    sites.map((site) => {
      const { role, per, method } = model.sites[site];
      return `${dtype(model.sites[site])} ${role} per ${per} ${method}`;
    }),
  );
  return new QuantizeFinder(explorer, {
    placeholder: "find an operator, int8, per channel",
    scopes: [
      {
        id: "all",
        label: "anywhere",
        has: (row, wanted) => some([texts[row], ...integers[row], ...quantizers[row]], wanted),
      },
      { id: "program", label: "the float program", has: (row, wanted) => texts[row].includes(wanted) },
      { id: "integers", label: "the integer program", has: (row, wanted) => some(integers[row], wanted) },
      { id: "quantizer", label: "quantizers", has: (row, wanted) => some(quantizers[row], wanted) },
      {
        id: "left",
        label: "left in float",
        has: (row, wanted) => model.states[row].fate === FLOAT && texts[row].includes(wanted),
      },
    ],
  });
}
