// How to search, for the search box: what can be written, each with an example.
import { h } from "./dom.js";
import { KINDS } from "./rank.js";

/** @type {[string, string][]} */
const LINES = [
  ["add relu", "rows with both words; whole names come first, and names of attributes are not searched"],
  ['"nn.conv2d(%x"', "exactly this text"],
  ["*add*", "* stands for any characters"],
  ["/conv[12]d/", "a regular expression"],
  ["op:nn.conv2d", "calls of an operator"],
  ["name:%x", "where a name is defined or used"],
  ["strides=[2, 2]", "an attribute with this value"],
  ["attr:groups", "an attribute with any value"],
  ["type:float32", "a printed or inferred type"],
  ["type:(1, ?, …)", "a shape: ? is one dimension, … any number of them"],
  [
    "pattern: nn.relu(nn.conv2d(*))",
    'a dataflow pattern, to the end of the line: * is anything, | is “or”; the operands of add and multiply match in either order; is_op("…"), wildcard() and .has_attr({…}) also work',
  ],
];

/** @param {readonly string[]} fields what can stand before a colon in this explorer */
export function searchHelp(fields) {
  const known = new Set(["op", "name", "type", "attr", "is", "pattern", "text"]);
  const own = fields.filter((field) => !known.has(field));
  return h(
    "dl",
    null,
    LINES.map(([example, meaning]) => [h("dt", null, h("code", null, example)), h("dd", null, meaning)]),
    h("dt", null, h("code", null, "is:…")),
    h("dd", null, `a kind of row: ${KINDS.join(", ")}`),
    own.length > 0 && [
      h(
        "dt",
        null,
        own.map((field) => [h("code", null, `${field}:…`), " "]),
      ),
      h("dd", null, "other columns and properties of a row in this explorer"),
    ],
    h("dt", null, h("kbd", null, "Enter"), " ", h("kbd", null, "↓")),
    h("dd", null, "the next match, the list of matches; with Shift, the previous match"),
  );
}
