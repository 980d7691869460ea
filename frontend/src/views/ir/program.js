// The rows of the IR explorer: the view's own, with a line above each repeated block and each long list of parameters, so that rows fold where the graph does.
/** @import { IRView, Scope } from "../../generated/ir.js" */

const PARAMETER = 2,
  NOTE = 9;
const MANY = 8; // parameters in a row that are folded at the start

/**
 * `{ view, shownOf, groupRow, groupOfRow, lists }`: the view with those rows; the shown row of a data row; of a group, and back; the rows that head lists of parameters.
 * @param {IRView} view
 */
export function deriveProgram(view, model) {
  const { rows } = view;
  const heads = headings(view, model);
  const out = [],
    shownOf = new Int32Array(rows.length),
    ends = [];
  const groupRow = new Map(),
    groupOfRow = new Map(),
    lists = [];
  rows.forEach((row, i) => {
    for (const head of heads.get(i) ?? []) {
      const at =
        out.push({
          kind: NOTE,
          depth: row.depth,
          tokens: [{ kind: NOTE, text: head.text, ref: -1 }],
          node: -1,
          end: -1,
        }) - 1;
      ends.push([at, head.last]);
      if (head.group >= 0) tie(head.group, at);
      else lists.push(at);
    }
    shownOf[i] = out.push({ ...row }) - 1;
  });
  for (const row of out) if (row.end >= 0) row.end = shownOf[row.end] ?? -1;
  for (const [at, last] of ends) out[at].end = shownOf[last];
  model.groups.forEach((g, id) => {
    if (groupRow.has(id) || !rows[g.first] || g.last < g.first) return;
    const at = shownOf[g.first];
    if (groupOfRow.has(at)) return;
    if (out[at].end < 0 && g.last > g.first && rows[g.last]) out[at].end = shownOf[g.last];
    if (out[at].end > at) tie(id, at);
  });
  /** @param {number} at */
  function tie(group, at) {
    groupRow.set(group, at);
    groupOfRow.set(at, group);
  }
  const nodeOfRow = new Map(
    out.flatMap((row, i) => (row.node >= 0 && row.node < model.count ? [[i, row.node]] : [])),
  );
  return { view: { ...view, rows: out }, shownOf, groupRow, groupOfRow, nodeOfRow, lists };
}

/**
 * Data row → the lines to put above it, outermost first.
 * @param {IRView} view
 */
function headings(view, model) {
  const rows = view.rows,
    heads = new Map();
  /**
   * @param {number} row
   * @param {{ text: string; last: number; group: number; }} head
   */
  const add = (row, head) => heads.set(row, [...(heads.get(row) ?? []), head]);
  const depth = (g) => (g < 0 ? 0 : 1 + depth(model.groups[g].parent));
  const blocks = [...model.groups.keys()].filter(
    (g) => [1, 3].includes(model.groups[g].kind) && rows[model.groups[g].first] && rows[model.groups[g].last],
  );
  for (const g of blocks.sort((a, b) => depth(a) - depth(b))) {
    const { label, module, times, first, last } = model.groups[g];
    // The whole path, since rows do not show how modules nest.
    const name = times > 1 ? `${label} × ${times}` : module || label;
    if (last > first) add(first, { text: name, last, group: g });
  }
  for (let i = 0; i < rows.length; i++) {
    if (rows[i].kind !== PARAMETER) continue;
    let end = i;
    while (rows[end + 1]?.kind === PARAMETER && rows[end + 1].depth === rows[i].depth) end++;
    if (end - i + 1 > MANY) add(i, { text: `${end - i + 1} parameters`, last: end, group: -1 });
    i = end;
  }
  return heads;
}

/**
 * For each shown row the lanes of the `let` scopes that cover it: [[lane, "start" | "in"], …]; at most `most` lanes.
 * @param {Scope[]} scopes
 * @param {Int32Array<ArrayBuffer>} shownOf
 * @param {number} rowCount
 */
export function scopeLanes(scopes, shownOf, rowCount, most = 6) {
  const rows = Array.from({ length: rowCount }, () => []),
    busy = [];
  let lanes = 0;
  for (const { row, first, last } of [...scopes].sort((a, b) => a.row - b.row)) {
    if (shownOf[row] === undefined || shownOf[last] === undefined || last < first) continue;
    let lane = busy.findIndex((end) => end < row);
    if (lane < 0) lane = busy.length;
    if (lane >= most) continue;
    busy[lane] = last;
    lanes = Math.max(lanes, lane + 1);
    rows[shownOf[row]].push([lane, "start"]);
    for (let at = shownOf[first]; at <= shownOf[last]; at++)
      rows[at].push([lane, at === shownOf[last] ? "end" : "in"]);
  }
  return { rows, lanes };
}
