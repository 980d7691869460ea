// The columns beside the program: stubs of far uses, patterns, kernels.
import { fill, h } from "../../core/dom.js";
import { AGAIN, FIRST, SECOND, groupName, wholeKernel } from "./groups.js";
/** @import { FusionModel } from "./model.js" */

const SHOWN = 4;

/** @param {FusionModel} model */
const list = (model, nodes) =>
  nodes
    .slice(0, SHOWN)
    .map((n) => model.title(n))
    .join(", ") + (nodes.length > SHOWN ? ` and ${nodes.length - SHOWN} more` : "");

/**
 * A number, shortly: 4.78 M.
 * @param {number} value
 */
export function amount(value) {
  for (const [unit, sign] of /** @type {[number, string][]} */ ([
    [1e12, " T"],
    [1e9, " G"],
    [1e6, " M"],
    [1e3, " k"],
  ]))
    if (value >= unit) return `${Number((value / unit).toPrecision(3))}${sign}`;
  return String(value);
}

/**
 * A size: 768 B, 8.19 kB.
 * @param {number} bytes
 */
export const size = (bytes) => `${amount(bytes)}${bytes < 1000 ? " " : ""}B`;

/**
 * A count and a noun.
 * @param {string} one
 * @param {number} n
 */
export const counted = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

/**
 * `now()` gives `{ variant, groups, entries }` of the step that is shown; `jump(row)` goes to a row.
 * @param {FusionModel} model
 */
export function fusionColumns(model, now, jump) {
  const { nodes, onRow, lanes, patterns } = model;

  /**
   * @param {string} sign
   * @param {string} word
   */
  function stub(sign, others, word) {
    const to = nodes[others[0]].row;
    const told = `${word} ${list(model, others)}, far from here`;
    return h(
      "button",
      {
        class: "stub",
        type: "button",
        tabindex: -1,
        title: told,
        "aria-label": told,
        onclick: () => jump(to),
      },
      sign,
      others.length > 1 ? String(others.length) : "",
    );
  }

  /** @param {number} row */
  function uses(row, cell) {
    const users = onRow[row].flatMap((n) => model.users[n]);
    const out = onRow[row].flatMap((n) => lanes.out.get(n) ?? []);
    const into = onRow[row].flatMap((n) => lanes.into.get(n) ?? []);
    fill(
      cell,
      users.length > 0 && h("span", { class: "sr" }, `used by ${list(model, users)}`),
      h(
        "span",
        { class: "stubs" },
        into.length > 0 && stub("↑", into, "uses"),
        out.length > 0 && stub("↓", out, "is used by"),
      ),
    );
  }

  /** @param {number} row */
  function pattern(row, cell) {
    const { variant } = now();
    fill(
      cell,
      onRow[row].map((n) => {
        const kind = patterns.get(variant.pattern[n]);
        const before = variant.changed.has(n) ? patterns.get(nodes[n].pattern) : null;
        if (!kind) return null;
        return h(
          "span",
          {
            class: `pattern${before ? " supposed" : ""}`,
            title: before ? `${kind.name}, not ${before.name}: ${kind.what}` : `${kind.name}: ${kind.what}`,
          },
          h("b", { "aria-hidden": "true" }, kind.letter),
          h("span", null, kind.name),
          before && h("s", null, h("span", { class: "sr" }, " instead of "), before.letter),
        );
      }),
    );
  }

  /**
   * Beside a kernel's second row, or shortly beside its only one: what it takes.
   * @param {boolean} short
   */
  function numbers(kernel, members, short) {
    const some = members.filter((n) => nodes[n].part).length;
    if (!kernel) return some > 1 && !short ? `${counted(some, "operator")} so far` : "";
    const traffic = size(kernel.read + kernel.written);
    return kernel.launches > 1 && !short ? `1 launch for ${kernel.launches}, ${traffic}` : traffic;
  }

  /** @param {number} row */
  function kernel(row, cell) {
    const { variant, groups, entries } = now();
    const entry = entries[row];
    cell.className = `cell c-kernel${entry.tint >= 0 ? ` k${entry.tint}` : ""}`;
    if (entry.root < 0) {
      fill(cell);
      return;
    }
    const members = groups.members[entry.root];
    const name = groupName(nodes, members);
    const whole = wholeKernel(variant, members, model.drawn);
    const parts = [];
    if (entry.part === FIRST) {
      parts.push(h("code", { title: name }, name));
      // The numbers have a row of their own where there is one.
      if (!entries[row + 1] || entries[row + 1].root !== entry.root)
        parts.push(h("span", { class: "soft" }, numbers(whole, members, true)));
    } else if (entry.part === SECOND)
      parts.push(
        h("span", { class: "sr" }, `in ${name}`),
        h("span", { class: "soft" }, numbers(whole, members, false)),
      );
    else if (entry.part === AGAIN)
      parts.push(
        h(
          "button",
          {
            class: "stub wide",
            type: "button",
            tabindex: -1,
            "aria-label": `in ${name}: go to its rows above`,
            title: `${name}: its rows above`,
            onclick: () => jump(entry.upper),
          },
          "↑ ",
          h("code", null, name),
        ),
      );
    else parts.push(h("span", { class: "sr" }, `in ${name}`));
    if (entry.lower >= 0)
      parts.push(
        h(
          "button",
          {
            class: "stub down",
            type: "button",
            tabindex: -1,
            "aria-label": `${name}: go to its next rows`,
            title: `${name}: its next rows`,
            onclick: () => jump(entry.lower),
          },
          "↓",
        ),
      );
    fill(cell, parts);
  }

  return [
    { id: "uses", title: "uses", width: "var(--w-uses)", draw: uses },
    { id: "pattern", title: "pattern", width: "var(--w-pattern)", draw: pattern },
    { id: "kernel", title: "kernel", width: "var(--w-kernel)", draw: kernel },
  ];
}
