// One function of a module as the view that is drawn, and its rows in another order.
import { END, TOKENS } from "../../core/rowmodel.js";

/** The view of one function: its nodes and variants, and no token elsewhere that names a node. */
export function functionView(view, chosen) {
  const { nodes, variants, rows: [first, last] } = view.functions[chosen];
  const rows = view.program.rows.map((row, i) => {
    if ((i >= first && i <= last) || !row[TOKENS].some((value, t) => t % 3 === 2 && value >= 0)) return row;
    const other = [...row];
    other[TOKENS] = row[TOKENS].map((value, t) => (t % 3 === 2 ? -1 : value));
    return other;
  });
  return { ...view, program: { rows }, nodes, variants };
}

/** The view with its rows in the order in which those of each kernel of a variant are together. */
export function regrouped(view, variant) {
  const { order } = view.variants[variant];
  if (!order.length) return view;
  const place = new Int32Array(order.length);
  order.forEach((row, at) => { place[row] = at; });
  const moved = (row) => (row < 0 ? row : place[row]);
  const rows = order.map((row) => {
    const own = [...view.program.rows[row]];
    own[END] = moved(own[END]);
    return own;
  });
  return { ...view, program: { rows }, nodes: view.nodes.map(([row, ...rest]) => [moved(row), ...rest]) };
}
