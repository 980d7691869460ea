// The two columns beside the program: a pill for each type variable, a box for each relation.
import { h, set, text } from "../../core/dom.js";
import { UNSEEN } from "./state.js";
import { KNOWN, STATUS } from "./marks.js";
/** @import { RelationBox, TypeVariable, TypesView } from "../../generated/types.js" */

/**
 * `byRow[row]` lists the items (variables, relations) that stand on the row; those without one stand on `spare`.
 * @param {number} spare
 * @param {TypeVariable[] | RelationBox[]} items
 * @param {number} count
 */
export function byRow(items, count, spare) {
  const out = Array.from({ length: count }, () => []);
  items.forEach((item, index) => out[item.row >= 0 && item.row < count ? item.row : spare]?.push(index));
  return out;
}

/**
 * What a variable's pill says now.
 * @param {TypesView} view
 */
export function variableFace(view, state, v) {
  const { name, what } = view.variables[v];
  const lead = state.lead[v];
  const known = state.known[lead];
  const short = state.short[lead];
  const full = state.full[lead];
  return { name, what, known, short, full, seen: state.seen[v] === 1 };
}

/** @param {TypesView} view */
function drawVariable(view, chip, face, fresh) {
  const kind = KNOWN[face.known];
  chip.className = `chip var ${kind.id}${face.seen ? "" : " unseen"}${fresh ? " fresh" : ""}`;
  text(chip.children[0], face.name);
  chip.children[0].className = face.name.length > 4 ? "long" : "";
  const beside = face.short ? ` : ${face.short}` : ` ${face.what === face.name ? "" : face.what}`;
  text(chip.children[1], beside);
  chip.children[1].className = face.short ? "type" : "what";
  set(
    chip,
    "title",
    face.full ? `${face.name}: ${face.full}\n${face.what}` : `${face.name}\n${face.what}: ${kind.word}`,
  );
  // The spoken name starts with what is seen, so that it can also be said to a voice control.
  set(
    chip,
    "aria-label",
    `${face.name}${beside}, ${kind.word}${face.short ? `, type of ${face.what}` : ""}. Why?`,
  );
}

/**
 * `alone`: on a row with one relation, whose line names the operator already, the formula has its room.
 * @param {TypesView} view
 * @param {boolean} alone
 */
function drawRelation(view, chip, rel, status, fresh, alone) {
  const kind = STATUS[status] ?? STATUS[0];
  const { label, name } = view.relations[rel];
  const lead = `${name}: `;
  chip.className = `chip rel ${kind.id}${status === UNSEEN ? " unseen" : ""}${fresh ? " fresh" : ""}`;
  text(chip.children[0], kind.sign);
  text(chip.children[1], alone && label.startsWith(lead) ? label.slice(lead.length) : label);
  set(chip, "title", `${label}\n${kind.word}`);
  set(chip, "aria-label", `${label}, relation, ${kind.word}`);
}

/**
 * Fills a cell with `items` chips once, and draws each again at every call.
 * @param {boolean} tabbable
 * @param {string} name
 */
function fillCell(cell, items, tabbable, name, draw) {
  while (cell.children.length < items.length) {
    const item = items[cell.children.length];
    cell.append(
      h(
        "button",
        { type: "button", tabindex: tabbable ? 0 : -1, [`data-${name}`]: item },
        h("span"),
        h("span"),
      ),
    );
  }
  items.forEach((item, i) => draw(cell.children[i], item));
}

/**
 * The columns for createRows. `now()` returns `{ state, fresh: { vars: Set, rels: Set }, row }` with `row` the
 * selected row.
 * @param {TypesView} view
 */
export function typeColumns(view, varsOn, relsOn, now) {
  return [
    {
      id: "vars",
      title: "types",
      width: "minmax(236px, 0.58fr)",
      /** @param {number} row */
      lines: (row) => varsOn[row].length,
      /** @param {number} row */
      draw(row, cell) {
        const { state, fresh, row: selected } = now();
        fillCell(cell, varsOn[row], row === selected, "var", (chip, v) =>
          drawVariable(view, chip, variableFace(view, state, v), fresh.vars.has(v)),
        );
      },
    },
    {
      id: "rels",
      title: "relations",
      width: "minmax(200px, 0.5fr)",
      /** @param {number} row */
      lines: (row) => relsOn[row].length,
      /** @param {number} row */
      draw(row, cell) {
        const { state, fresh, row: selected } = now();
        fillCell(cell, relsOn[row], row === selected, "rel", (chip, rel) =>
          drawRelation(view, chip, rel, state.rel[rel], fresh.rels.has(rel), relsOn[row].length === 1),
        );
      },
    },
  ];
}

/**
 * Rows whose chips differ between two states, given as the faces that were drawn last.
 * @param {TypesView} view
 */
export function createDirty(view) {
  const vars = new Int32Array(view.variables.length).fill(-1);
  const rels = new Int32Array(view.relations.length).fill(-1);
  const types = new Array(view.variables.length).fill("");
  return (state, fresh) => {
    const rows = new Set();
    view.variables.forEach(({ row }, v) => {
      const lead = state.lead[v];
      const face = state.seen[v] | (state.known[lead] << 1) | (Number(fresh.vars.has(v)) << 3);
      if (vars[v] !== face || types[v] !== state.short[lead]) rows.add(row);
      vars[v] = face;
      types[v] = state.short[lead];
    });
    view.relations.forEach(({ row }, rel) => {
      const face = (state.rel[rel] + 1) * 2 + Number(fresh.rels.has(rel));
      if (rels[rel] !== face) rows.add(row);
      rels[rel] = face;
    });
    return rows;
  };
}
