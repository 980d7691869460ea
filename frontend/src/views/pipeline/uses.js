// Who uses what in the program after a pass, in lanes beside its rows, as in the fusion explorer.
import { fill, h } from "../../core/dom.js";
import { FAR, LANES, layoutLanes } from "../fusion/lanes.js";
import { createWires } from "../fusion/wires.js";
import { COMPUTED } from "./marks.js";
/** @import { PipelineModel } from "./model.js" */

const SHOWN = 3;
const NOTHING = {
  groups: null,
  variant: null,
  groupLanes: new Map(),
  asked: -1,
  target: -1,
  obstacle: -1,
  way: [],
};

/**
 * What the lanes of a stage are drawn from: one value a row, that of its main expression.
 * @param {PipelineModel} model
 */
export function usesOf(model, stage) {
  const nodes = [];
  const items = [];
  const faces = new Map();
  stage.pairs.forEach(({ after }, row) => {
    if (after < 0) return;
    const own = model.onRow[after].filter(
      (i) => model.items[i].part === COMPUTED && model.items[i].stage === stage.items,
    );
    const main = model.main(after);
    const node = own.includes(main) ? main : own.at(-1);
    if (node === undefined) return;
    nodes[node] = { row };
    items.push({ node, row });
    for (const i of own) faces.set(i, node);
  });
  const users = new Map(items.map(({ node }) => [node, new Set()]));
  for (const [i, face] of faces) {
    for (const operand of model.items[i].operands) {
      const source = faces.get(operand);
      if (source !== undefined && source !== face) users.get(source).add(face);
    }
  }
  const usersOf = (node) => [...(users.get(node) ?? [])];
  return {
    nodes,
    items,
    usersOf,
    drawn: (n) => nodes[n] !== undefined,
    lanes: layoutLanes(items, usersOf, { lanes: LANES, far: FAR }),
  };
}

/**
 * The column of the lanes; `jump(row)` goes to a row.
 * @param {PipelineModel} model
 */
export function usesColumn(model, uses, jump) {
  const at = new Map(uses.items.map(({ node, row }) => [row, node]));
  const list = (nodes) =>
    nodes
      .slice(0, SHOWN)
      .map((n) => model.title(n))
      .join(", ") + (nodes.length > SHOWN ? ` and ${nodes.length - SHOWN} more` : "");
  /**
   * @param {string} sign
   * @param {string} word
   */
  const stub = (sign, others, word) => {
    const told = `${word} ${list(others)}, far from here`;
    return h(
      "button",
      {
        class: "stub",
        type: "button",
        tabindex: -1,
        title: told,
        "aria-label": told,
        onclick: () => jump(uses.nodes[others[0]].row),
      },
      sign,
      others.length > 1 ? String(others.length) : "",
    );
  };
  /** @param {number} row */
  function draw(row, cell) {
    const node = at.get(row);
    if (node === undefined) return void fill(cell);
    const users = uses.usersOf(node);
    const [out, into] = [uses.lanes.out.get(node) ?? [], uses.lanes.into.get(node) ?? []];
    fill(
      cell,
      users.length > 0 && h("span", { class: "sr" }, `used by ${list(users)}`),
      h(
        "span",
        { class: "stubs" },
        into.length > 0 && stub("↑", into, "uses"),
        out.length > 0 && stub("↓", out, "is used by"),
      ),
    );
  }
  return { id: "uses", title: "uses", width: "var(--w-uses)", draw };
}

/**
 * The lanes over the rows: `draw(kin)` draws them, with the paths between the followed values; `moved()` when columns moved.
 * @param {number} lineHeight
 */
export function createLanes(uses, rows, lineHeight) {
  const wires = createWires(uses, rows, lineHeight);
  return { draw: (kin) => wires.draw({ ...NOTHING, way: [...kin] }), moved: wires.moved };
}
