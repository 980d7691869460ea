// The panel that says everything about one expression, or about a group, or, with nothing chosen, about the whole.

import { fill, h, s } from "../../core/dom.js";
import { operatorAddress } from "../../core/operators.js";
import { duration, short } from "../../graph/numbers.js";
import { outlineText } from "../../graph/shapes.js";
import { KIND_NAMES } from "../../graph/model.js";
import { valuesPane } from "./values.js";
import { clipped } from "./words.js";
/** @import { Family } from "../../generated/ir.js" */

const MOST = 40; // links in a list before "and n more"
/** @param {string} what */
const exact = (n, what) => `${n.toLocaleString("en")} ${what}`;

/**
 * The outline of a family, small, for legends and headings.
 * @param {Family} family
 */
export function familyMark({ shape, hue }, w = 26, height = 14) {
  const path = s("path", {
    d: outlineText(shape, 1, 1, w - 2, height - 2),
    style: { fill: `var(--hue-${hue}-fill)`, stroke: `var(--hue-${hue})` },
  });
  return s(
    "svg",
    { class: "fam", width: w, height, viewBox: `0 0 ${w} ${height}`, "aria-hidden": "true" },
    path,
  );
}

/** `go(id)` chooses a node or group (`model.count + g`); `toggle(g)` folds one. Returns `{ el, show(id, folded) }`. */
export function createDetails({ model, totals, go, toggle }) {
  const el = h("div", { class: "details", role: "region", "aria-label": "details", tabindex: 0 });
  /** @param {number} id */
  const link = (id) => {
    const name = id < model.count ? model.name(id) : "";
    const label = id < model.count ? model.label(id) : model.groups[id - model.count].label;
    return h(
      "button",
      { class: "link", type: "button", onclick: () => go(id) },
      name && name !== label ? h("span", { class: "mono", title: name }, clipped(name, 32), " ") : null,
      h("span", { class: "mono", title: label }, clipped(label, 32)),
    );
  };
  /** @param {string} title */
  const list = (title, ids, extra = (/** @type {any} */ _id, /** @type {number} */ _i) => null) => [
    h("div", { class: "sub" }, title, " ", h("span", { class: "n" }, ids.length)),
    h(
      "ul",
      null,
      ids
        .slice(0, MOST)
        .map((id, i) =>
          h(
            "li",
            null,
            extra(id, i),
            link(id),
            id < model.count ? h("span", { class: "soft mono" }, ` ${model.short(id)}`) : null,
          ),
        ),
    ),
    ids.length > MOST ? h("p", { class: "soft" }, `and ${ids.length - MOST} more`) : null,
  ];
  /** @param {any[]} rows */
  const facts = (rows) =>
    h(
      "dl",
      null,
      rows
        .filter(Boolean)
        .map(([name, value, title]) => [h("dt", null, name), h("dd", { title: title ?? null }, value)]),
    );

  function reference(label) {
    const href = operatorAddress(model.view, label);
    return href && [" ", h("a", { class: "reference", href }, "In the operator reference")];
  }

  /** @param {number} id */
  function ofNode(id) {
    const family = model.families[model.family(id)] ?? { name: "", shape: "rect", hue: "grey" };
    const name = model.name(id),
      label = model.label(id),
      uses = model.uses(id);
    return [
      h(
        "div",
        { class: "head" },
        familyMark(family),
        h("span", { class: "mono" }, label),
        name && name !== label ? h("span", { class: "soft mono" }, name) : null,
      ),
      model.detail(id) ? h("p", null, model.detail(id), reference(label)) : null,
      facts([
        ...importedRows(model.imported(id)),
        ["family", family.name],
        ["type", h("code", null, model.type(id))],
        ...attributeRows(model.attributes(id)),
        model.params(id) > 0 && [
          "parameters",
          short(model.params(id)),
          exact(model.params(id), "parameters"),
        ],
        model.flops(id) > 0 && [
          "operations",
          short(model.flops(id), "FLOP"),
          exact(model.flops(id), "floating-point operations"),
        ],
        model.bytes(id) > 0 && [
          "moved",
          short(model.bytes(id), "B"),
          exact(model.bytes(id), "bytes read and written"),
        ],
        model.flops(id) > 0 &&
          model.bytes(id) > 0 && [
            "intensity",
            `${(model.flops(id) / model.bytes(id)).toPrecision(3)} FLOP/B`,
            "arithmetic intensity: operations per byte of memory traffic",
          ],
        model.time(id) > 0 && [
          "measured",
          duration(model.time(id)),
          "the kernel in which this node costs most",
        ],
        model.device(id) && ["device", model.device(id)],
        uses > 1 && ["shared", `used ${uses} times, computed once`],
      ]),
      valuesPane(model.values(id)),
      model.operands[id].length
        ? list("operands", model.operands[id], (_, i) => h("span", { class: "num" }, i))
        : null,
      model.users[id].length
        ? list("used by", model.users[id])
        : h("p", { class: "soft" }, "It is a result: nothing in the program uses it."),
    ];
  }

  /**
   * @param {number} g
   * @param {boolean} folded
   */
  function ofGroup(g, folded) {
    const group = model.groups[g],
      sum = totals[g],
      all = model.view.totals;
    return [
      h(
        "div",
        { class: "head" },
        group.label,
        group.times > 1 ? h("span", { class: "soft" }, `× ${group.times}`) : null,
      ),
      h(
        "p",
        null,
        group.kind === 3
          ? `The same block, repeated ${group.times} times.`
          : group.module
            ? ["The operations of the module ", h("code", null, group.module), "."]
            : `A ${KIND_NAMES[group.kind] ?? "group"}.`,
      ),
      h(
        "p",
        null,
        h(
          "button",
          { class: "btn", type: "button", onclick: () => toggle(g) },
          folded ? "▸ open it" : "▾ fold it",
        ),
      ),
      facts([
        ["calls", String(sum.calls)],
        ["parameters", part(sum.params, all.params), exact(sum.params, "parameters")],
        ["operations", part(sum.flops, all.flops, "FLOP"), exact(sum.flops, "floating-point operations")],
        ["moved", part(sum.bytes, all.bytes, "B"), exact(sum.bytes, "bytes")],
        sum.time > 0 && ["measured", duration(sum.time)],
      ]),
    ];
  }

  function ofAll() {
    const { totals: all } = model.view;
    const costly = [...Array(model.count).keys()]
      .filter((i) => model.flops(i) > 0)
      .sort((a, b) => model.flops(b) - model.flops(a) || a - b)
      .slice(0, 6);
    const most = costly.length ? model.flops(costly[0]) : 1;
    return [
      h("div", { class: "head" }, "The whole program"),
      facts([
        ["calls", short(all.calls), exact(all.calls, "calls")],
        all.params > 0 && ["parameters", short(all.params), exact(all.params, "parameters")],
        all.flops > 0 && [
          "operations",
          short(all.flops, "FLOP"),
          exact(all.flops, "floating-point operations"),
        ],
        all.bytes > 0 && ["moved", short(all.bytes, "B"), exact(all.bytes, "bytes read and written")],
      ]),
      costly.length > 1
        ? [
            h("div", { class: "sub" }, "most operations"),
            h(
              "ul",
              { class: "costly" },
              costly.map((i) =>
                h(
                  "li",
                  null,
                  link(i),
                  h("span", { class: "soft" }, ` ${short(model.flops(i), "FLOP")}`),
                  h("i", { style: { width: `${(100 * model.flops(i)) / most}%` }, "aria-hidden": "true" }),
                ),
              ),
            ),
          ]
        : null,
    ];
  }

  return {
    el,
    /** @param {number} id */
    show(id, folded = false) {
      fill(el, id < 0 ? ofAll() : id < model.count ? ofNode(id) : ofGroup(id - model.count, folded));
      el.scrollTop = 0;
    },
  };
}

const part = (n, all, unit = "") =>
  all > 0 ? `${short(n, unit)} (${((100 * n) / all).toFixed(0)}%)` : short(n, unit);

/**
 * The node that an expression was imported from.
 * @param {import("../../generated/common.js").ModelNode | null} node
 */
function importedRows(node) {
  if (!node) return [];
  /** @type {[string, string][]} */
  const parts = [
    ["node", node.name === node.op ? node.op : `${node.name} (${node.op})`],
    ["module", node.path],
    ["location", node.location],
  ];
  return parts.filter(([, value]) => value).map(([name, value]) => [name, h("code", null, value)]);
}

/** "a=[1, 2], b=3" as rows of a list; commas inside brackets or quotes do not separate. */
export function attributeRows(text) {
  const rows = [];
  let depth = 0,
    quote = "",
    start = 0;
  /** @param {number} end */
  const push = (end) => {
    const [, name, value] = /^\s*([^=]*?)\s*=\s*(.*)$/s.exec(text.slice(start, end)) ?? [
      null,
      "attribute",
      text.slice(start, end).trim(),
    ];
    if (value || name !== "attribute") rows.push([name, h("code", null, value)]);
  };
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quote) quote = c === quote ? "" : quote;
    else if (c === '"' || c === "'") quote = c;
    else if ("[({".includes(c)) depth++;
    else if ("])}".includes(c)) depth--;
    else if (c === "," && depth === 0) {
      push(i);
      start = i + 1;
    }
  }
  if (text.slice(start).trim()) push(text.length);
  return rows;
}
