// The node of an imported model from which a line of the program came, in words.
import { h } from "./dom.js";
/** @import { ModelNode } from "../generated/common.js" */

/** The event by which rows tell the frame around them of the node of the chosen line, or of none. */
export const CHOSEN = "rx-imported";

/**
 * "Conv conv1, encoder.layer.3, model.py:17"; empty without a node.
 * @param {ModelNode | null | undefined} node
 */
export const importedText = (node) =>
  node
    ? [`${node.op} ${node.name}`.trim(), node.path, node.location].filter((part) => part !== "").join(", ")
    : "";

/**
 * What the frame says of a chosen line.
 * @param {ModelNode} node
 */
export const importedNote = ({ op, name, path, location }) => [
  "from the node ",
  h("code", null, name || op),
  name && op !== name ? ` (${op})` : "",
  path ? [" of the module ", h("code", null, path)] : "",
  location ? `, ${location}` : "",
];
