// What a source view must hold beyond its contract, before it is drawn.
import { need } from "../../core/check.js";

/** @param {import("../../generated/source_map.js").SourceView} view */
export function checkSource({ rows, split, nodes, modules }) {
  need(split <= rows.length && nodes.length > 0, "split");
  rows.forEach(({ end }, row) => need(row >= split || end < split, `rows[${row}]`));
  nodes.forEach((node, i) => need(node.row < split && node.rows.every((row) => row >= split), `nodes[${i}]`));
  modules.forEach(({ row, first, last }, i) => need(row < split && first <= last, `modules[${i}]`));
}
