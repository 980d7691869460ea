// Finding: a line of the program, of the integer program, a quantizer, what was left in float.
import { Finder } from "../../core/finder.js";
import { FLOAT } from "./marks.js";
import { dtype } from "./model.js";
/** @import { QuantizeExplorer } from "./view.js" */

/** The search of a QuantizeExplorer; it looks at the rows of the float program. */
class QuantizeFinder extends Finder {
  get count() {
    return this.explorer.model.split;
  }
}

/** @param {QuantizeExplorer} explorer */
export function createFinder(explorer) {
  const { model } = explorer;
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
      { id: "all", label: "anywhere" },
      { id: "program", label: "the float program", field: "text" },
      { id: "integers", label: "the integer program", texts: (row) => integers[row] },
      { id: "quantizer", label: "quantizers", texts: (row) => quantizers[row] },
      { id: "left", label: "left in float", where: (row) => model.states[row].fate === FLOAT },
    ],
  });
}
