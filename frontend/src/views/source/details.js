// Everything about a node, a module or a line of the program, with links to what it belongs to.
import { h } from "../../core/dom.js";
import { rowText } from "../../core/rowmodel.js";
import { hasWeights } from "./model.js";
/** @import { Child } from "../../core/types.js" */
/** @import { SourceModel } from "./model.js" */

const MOST = 40; // links in a list before "and n more"

export const UNLINKED = "This line does not come from a node of the model: the importer or a pass added it.";

/**
 * @param {readonly (readonly [string, Child])[]} pairs
 */
const facts = (pairs) =>
  h(
    "dl",
    null,
    pairs.filter(([, value]) => value).map(([name, value]) => [h("dt", null, name), h("dd", null, value)]),
  );

/**
 * @param {string} title
 * @param {readonly number[]} ids
 * @param {(id: number) => Child} link
 */
const list = (title, ids, link) => [
  h("p", { class: "sub" }, title, " ", h("span", { class: "n" }, ids.length)),
  h(
    "ul",
    null,
    ids.slice(0, MOST).map((id) => h("li", null, link(id))),
  ),
  ids.length > MOST && h("p", { class: "soft" }, `and ${ids.length - MOST} more`),
];

/**
 * @param {readonly string[]} names
 */
const codes = (names) => names.map((name, i) => [i > 0 && ", ", h("code", null, name || "–")]);

/**
 * @param {SourceModel} model
 * @param {{ node: (node: number) => unknown, line: (row: number) => unknown }} go
 */
export function createDetails(model, go) {
  /** @param {number} node */
  const nodeLink = (node) => {
    const { op, name } = model.nodes[node];
    return h("button", { class: "link mono", type: "button", onclick: () => go.node(node) }, `${op} ${name}`);
  };
  /** @param {number} row */
  const lineLink = (row) =>
    h(
      "button",
      { class: "link mono", type: "button", onclick: () => go.line(row) },
      rowText(model.program.rows[row]),
    );

  /** @param {number} number */
  function nodeFacts(number) {
    const node = model.nodes[number];
    return [
      h("p", { class: "head" }, h("span", { class: "mono" }, node.op)),
      facts([
        ["node", node.name && h("code", null, node.name)],
        ["module", node.path && h("code", null, node.path)],
        ["location", node.location && h("code", null, node.location)],
        ["type", node.type && h("code", null, node.type)],
        ["operands", node.inputs.length > 0 && codes(node.inputs)],
        ["results", node.outputs.length > 0 && codes(node.outputs)],
        ...node.attributes.map(({ name, value }) => /** @type {const} */ ([name, h("code", null, value)])),
      ]),
      list("lines of the program", model.rowsOf[number], lineLink),
    ];
  }

  /** @param {number} row */
  function moduleFacts(row) {
    const module = model.moduleAt.get(row);
    const nodes = model.nodesAt(row);
    const number = nodes.length.toLocaleString("en");
    const heading =
      module && hasWeights(module, model.nodes)
        ? [h("p", { class: "head" }, `${number} weights`)]
        : [
            h("p", { class: "head" }, "module ", h("code", null, module?.path ?? "")),
            facts([["nodes", number]]),
          ];
    return [...heading, list("lines of the program", model.rowsFrom(nodes), lineLink)];
  }

  /** @param {number} row */
  function lineFacts(row) {
    return [
      h("p", { class: "head mono" }, rowText(model.program.rows[row])),
      model.nodesOf[row].length
        ? list("nodes of the model", model.nodesOf[row], nodeLink)
        : h("p", null, UNLINKED),
    ];
  }

  const hint = h(
    "p",
    { class: "soft" },
    "Choose a node to see what it became, or a line of the program to see where it came from.",
  );
  return { nodeFacts, moduleFacts, lineFacts, noFacts: () => [hint] };
}
