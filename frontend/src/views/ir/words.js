// Sentences about what is chosen: for the line above the panes, for tooltips, and for screen readers.

import { h } from "../../core/dom.js";
import { KIND_NAMES } from "../../graph/model.js";
import { duration, short } from "../../graph/numbers.js";
import { quoted } from "../../core/sentence.js";
/**
 * @import { IrExplorer } from "./view.js"
 * @param {string} text
 */

const LONGEST = 48; // letters of a name in a sentence
/** @param {string} text */
export const clipped = (text, most = LONGEST) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const code = (text) => h("code", { title: text.length > LONGEST ? text : null }, clipped(text));
/** @param {HTMLElement[]} parts */
const listed = (parts) =>
  parts.flatMap((part, i) => (i === 0 ? [part] : [i === parts.length - 1 ? " and " : ", ", part]));
/** @param {string[]} list */
const few = (list, most = 4) =>
  list.length > most ? [...list.slice(0, most), `${list.length - most} more`] : list;
/** @param {number} n */
const times = (n) => (n === 1 ? "once" : n === 2 ? "twice" : `${n} times`);

/**
 * The whole, as the first frame says it.
 * @param {IrExplorer} explorer
 */
export function sayAll({ view, chosen, model }) {
  const folded = chosen.folded.size ? " Press ▸ to open a block." : "";
  return [
    ...quoted(view.summary),
    h(
      "small",
      null,
      model.count ? `Choose a line or a node to see its type and cost.${folded}` : "There is nothing in it.",
    ),
  ];
}

/**
 * @param {IrExplorer} explorer
 * @param {number} id
 */
export function sayNode({ model }, id) {
  const name = model.name(id),
    from = [...new Set(model.operands[id])];
  const call = model.label(id);
  const what = name && name !== call ? [code(name), " is ", code(call)] : [code(call)];
  const operands = from.length
    ? [" of ", ...listed(few(from.map((u) => model.name(u) || model.label(u))).map(code))]
    : [];
  const users = model.users[id].length,
    uses = model.uses(id);
  const used = users
    ? `It is computed once and used ${times(uses)}${uses > 1 && users !== uses ? `, in ${users} place${users === 1 ? "" : "s"}` : ""}.`
    : "It is a result: nothing in the program uses it.";
  return [
    ...what,
    ...operands,
    ": ",
    code(model.type(id)),
    ".",
    h("small", null, uses > 1 || !users ? used : "", uses > 1 || !users ? " " : "", model.detail(id)),
  ];
}

/**
 * @param {IrExplorer} explorer
 * @param {number} g
 */
export function sayGroup({ model, totals, chosen }, g) {
  const { label, kind, module, times: n } = model.groups[g],
    sum = totals[g];
  const time = sum.time ? `, ${duration(sum.time)}` : "";
  return [
    h("strong", null, label),
    kind === 3
      ? `: the same block, repeated ${times(n)}`
      : module
        ? [": the module ", code(module)]
        : `: a ${KIND_NAMES[kind] ?? "group"}`,
    `, ${sum.calls} calls in total.`,
    h(
      "small",
      null,
      `${short(sum.params)} parameters, ${short(sum.flops, "FLOP")}${time}. ${chosen.folded.has(g) ? "Enter opens it, Shift+Enter all of it." : "Enter folds it."}`,
    ),
  ];
}

/**
 * What belongs to a node: everything above it, below it, or on the paths to another.
 * @param {IrExplorer} explorer
 */
export function sayReach({ model, chosen, shown }) {
  const { kind, root, other } = chosen.reach,
    nodes = [...shown.reached];
  const calls = nodes.filter((i) => model.operands[i].length).length,
    flops = nodes.reduce((n, i) => n + model.flops(i), 0);
  const name = (/** @type {number} */ i) => code(model.name(i) || model.label(i));
  const size = [
    `${calls} of ${model.view.totals.calls} calls`,
    flops ? `, ${short(flops, "FLOP")}` : "",
    ".",
  ];
  const hint = h(
    "small",
    null,
    "Press ",
    h("kbd", null, "o"),
    chosen.only ? " for the whole graph, " : " to see only these, ",
    h("kbd", null, "Esc"),
    " to end.",
  );
  if (kind === "up") return ["Everything from which ", name(root), " is computed: ", ...size, hint];
  if (kind === "down") return ["Everything that is computed from ", name(root), ": ", ...size, hint];
  const none =
    !model.operands[root].includes(other) && !model.users[root].includes(other) && nodes.length === 2;
  if (none) return ["No path leads from ", name(root), " to ", name(other), ", or back.", hint];
  return ["Everything on the paths between ", name(root), " and ", name(other), ": ", ...size, hint];
}

/**
 * Lines of a tooltip.
 * @param {IrExplorer} explorer
 */
export function tip({ model, totals }, id) {
  if (id >= model.count) {
    const g = id - model.count;
    return [
      model.groups[g].label + (model.groups[g].times > 1 ? ` × ${model.groups[g].times}` : ""),
      `${totals[g].calls} calls, ${short(totals[g].flops, "FLOP")}`,
    ];
  }
  const name = model.name(id),
    aside = model.operands[id].filter((u) => model.aside[u]).length,
    uses = model.uses(id);
  return [
    name && name !== model.label(id) ? `${name} = ${model.label(id)}` : model.label(id),
    model.short(id),
    ...(uses > 1 ? [`computed once, used ${times(uses)}`] : []),
    ...(aside ? [`reads ${aside} parameter${aside === 1 ? "" : "s"}`] : []),
  ];
}

/**
 * What a screen reader says of an item of the graph.
 * @param {IrExplorer} explorer
 */
export function describe({ model, totals, chosen, shown }, id) {
  const said = shown.coloring.note(id),
    note = said ? `, ${said}` : "";
  if (id >= model.count) {
    const g = id - model.count;
    return `${model.groups[g].label}, ${KIND_NAMES[model.groups[g].kind] ?? "group"}${model.groups[g].times > 1 ? `, ${model.groups[g].times} times` : ""}, ${totals[g].calls} calls${note}, ${chosen.folded.has(g) ? "folded" : "open"}`;
  }
  const called = (u) =>
    [model.label(u), model.name(u) === model.label(u) ? "" : model.name(u)].filter(Boolean).join(" ");
  const operands = model.operands[id].length
    ? `, operands ${few(model.operands[id].map(called)).join(", ")}`
    : "";
  const uses = model.uses(id);
  return `${called(id)}, ${model.type(id)}${operands}, ${uses ? `used ${times(uses)}` : "a result"}${note}`;
}
