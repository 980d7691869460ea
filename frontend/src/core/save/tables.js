// The rows of an explorer as text: the program, and all of its columns as CSV.
import { importedText } from "../imported.js";
import { enclosing, rowText } from "../rowmodel.js";
/** @import { Row } from "../../generated/common.js" */
/** @import { Column } from "../types.js" */

/** What the grids of a page hold: `createRows` registers them. @type {WeakMap<Element, Grid>} */
const GRIDS = new WeakMap();

/** @typedef {{ rows: readonly Row[], columns: readonly Column[], selected: () => number }} Grid */

/**
 * @param {Element} node
 * @param {Grid} grid
 */
export const registerGrid = (node, grid) => GRIDS.set(node, grid);

/** @param {Element} node */
export const gridOf = (node) => GRIDS.get(node) ?? null;

const KINDS = [
  "module",
  "function",
  "parameter",
  "binding",
  "let",
  "result",
  "close",
  "branch",
  "type",
  "comment",
];
const FUNCTION = 1;
const [LOCAL, GLOBAL, OPERATOR] = [2, 3, 4];

/** @param {Grid} grid */
export const programText = ({ rows }) =>
  rows.map((row) => `${"  ".repeat(row.depth)}${rowText(row)}\n`).join("");

/**
 * The text of an element as a screen reader would say it, with a space between its parts.
 * @param {Node} node
 * @returns {string}
 */
function spoken(node) {
  if (node instanceof Text) return node.data;
  if (!(node instanceof Element) || node.getAttribute("aria-hidden") === "true") return "";
  return node.getAttribute("aria-label") ?? [...node.childNodes].map(spoken).filter(Boolean).join(" ");
}

/** @param {Node} node */
export const cellText = (node) => spoken(node).replace(/\s+/g, " ").trim();

/**
 * One field: quoted where CSV asks for it. A text that a spreadsheet would compute begins with an apostrophe.
 * @param {string | number} value
 */
export function field(value) {
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) && !/^[+-]?[\d.]+(e[+-]?\d+)?$/i.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

/** @param {readonly (readonly (string | number)[])[]} lines */
export const csvText = (lines) => `\ufeff${lines.map((line) => `${line.map(field).join(",")}\r\n`).join("")}`;

/**
 * Every row of a grid, folded or not, with every column, shown or not.
 * @param {Grid} grid
 */
export function gridTable({ rows, columns }) {
  const cells = columns.map((column) =>
    rows.map((_, row) => {
      const cell = document.createElement("div");
      column.draw(row, cell);
      return cellText(cell);
    }),
  );
  const used = columns.flatMap((_, i) => (cells[i].some((text) => text !== "") ? [i] : []));
  const imported = rows.some((row) => row.imported);
  return [
    [
      "row",
      "depth",
      "kind",
      "program",
      ...used.map((i) => columns[i].title || columns[i].id),
      ...(imported ? ["imported from"] : []),
    ],
    ...rows.map((row, i) => [
      i,
      row.depth,
      KINDS[row.kind] ?? "",
      rowText(row),
      ...used.map((column) => cells[column][i]),
      ...(imported ? [importedText(row.imported)] : []),
    ]),
  ];
}

/**
 * The rows of an HTML table.
 * @param {HTMLTableElement} table
 */
export const tableOf = (table) => [...table.rows].map((row) => [...row.cells].map(cellText));

/**
 * What a row is called, from the outside in: "@main/layer1/%12". The module is that of an imported model.
 * @param {Grid} grid
 * @param {number} row
 */
export function pathOf({ rows }, row) {
  const parents = enclosing(rows);
  const first = (/** @type {Row} */ { tokens }, /** @type {number[]} */ kinds) =>
    tokens.find(({ kind }) => kinds.includes(kind))?.text;
  const names = [];
  for (let at = parents[row]; at >= 0; at = parents[at])
    if (rows[at].kind === FUNCTION) names.unshift(first(rows[at], [GLOBAL]) ?? "");
  const module = rows[row].imported?.path;
  if (module) names.push(...module.split("."));
  names.push(
    first(rows[row], rows[row].kind === FUNCTION ? [GLOBAL] : [LOCAL, GLOBAL, OPERATOR]) ?? `row ${row}`,
  );
  return names.filter(Boolean).join("/");
}
