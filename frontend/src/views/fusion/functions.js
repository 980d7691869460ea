// One function of a module as the view that is drawn, and its rows in another order.
/** @import { FusionView } from "../../generated/fusion.js" */
/** @import { FunctionView } from "./model.js" */

/**
 * The view of one function: its nodes and variants, and no token elsewhere that names a node.
 * @param {FusionView} view
 * @param {number} chosen
 */
export function functionView(view, chosen) {
  const { nodes, variants, first, last } = view.functions[chosen];
  const rows = view.rows.map((row, i) => {
    if ((i >= first && i <= last) || !row.tokens.some(({ ref }) => ref >= 0)) return row;
    return { ...row, tokens: row.tokens.map((token) => ({ ...token, ref: -1 })) };
  });
  return { ...view, rows, nodes, variants };
}

/**
 * The view with its rows in the order in which those of each kernel of a variant are together.
 * @param {FunctionView} view
 * @param {number} variant
 */
export function regrouped(view, variant) {
  const { order } = view.variants[variant];
  if (!order.length) return view;
  const place = new Int32Array(order.length);
  order.forEach((row, at) => {
    place[row] = at;
  });
  /** @param {number} row */
  const moved = (row) => (row < 0 ? row : place[row]);
  const rows = order.map((row) => ({ ...view.rows[row], end: moved(view.rows[row].end) }));
  return { ...view, rows, nodes: view.nodes.map((node) => ({ ...node, row: moved(node.row) })) };
}
