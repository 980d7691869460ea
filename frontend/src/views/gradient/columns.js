// The columns beside the program: stubs of far uses, what is kept, the derivative, the lines of the backward pass.
import { fill, h } from "../../core/dom.js";
import { size } from "../fusion/columns.js";
import { SHAPE } from "./marks.js";
import { keeping } from "./model.js";
/** @import { GradientModel } from "./model.js" */

const WORDS = { held: "stored", now: "used now", freed: "freed", given: "given" };
const SIGNS = { held: "■", now: "■", freed: "□", given: "", shape: "" };

/**
 * A line of the backward pass, as tokens.
 * @param {GradientModel} model
 * @param {number} n
 */
export function lineCode(model, n) {
  const { tokens } = model.lines[n];
  return h(
    "code",
    null,
    tokens.map(({ kind, text, ref }) =>
      kind === 0 && ref < 0
        ? text
        : h("span", { class: `t${kind}`, "data-ref": ref >= 0 ? ref : null }, text),
    ),
  );
}

/**
 * `now()` gives the step that is shown; `jump(row)` goes to a row.
 * @param {GradientModel} model
 */
export function gradientColumns(model, now, jump) {
  const { values, lines, onRow, lanes, beside } = model;

  /**
   * @param {string} sign
   * @param {string} word
   */
  function stub(sign, others, word) {
    const told = `${word} ${others.map(model.title).join(", ")}, far from here`;
    return h(
      "button",
      {
        class: "stub",
        type: "button",
        tabindex: -1,
        title: told,
        "aria-label": told,
        onclick: () => jump(values[others[0]].row),
      },
      sign,
      others.length > 1 ? String(others.length) : "",
    );
  }

  /** @param {number} row */
  function uses(row, cell) {
    const v = onRow[row];
    if (v < 0) return;
    const [into, out] = [lanes.into.get(v) ?? [], lanes.out.get(v) ?? []];
    const { users } = values[v];
    fill(
      cell,
      users.length > 0 && h("span", { class: "sr" }, `used by ${users.map(model.title).join(", ")}`),
      h(
        "span",
        { class: "stubs" },
        into.length > 0 && stub("↑", into, "uses"),
        out.length > 0 && stub("↓", out, "is used by"),
      ),
    );
  }

  /** @param {number} row */
  function kept(row, cell) {
    const v = onRow[row];
    const state = v < 0 ? "" : keeping(model, v, now());
    cell.className = `cell c-kept ${state}`;
    if (!state) return fill(cell);
    if (state === "shape")
      return fill(
        cell,
        h("span", { class: "soft", title: "the backward pass uses only its shape" }, "shape"),
      );
    const told = `${WORDS[state]}: ${state === "given" ? "the backward pass uses its elements, and the caller holds it" : `${size(values[v].bytes)} of elements`}`;
    fill(
      cell,
      h("span", { class: "sign", "aria-hidden": "true" }, SIGNS[state]),
      h(
        "span",
        { title: told },
        state === "given" ? "given" : size(values[v].bytes),
        state !== "given" && h("span", { class: "sr" }, `, ${WORDS[state]}`),
      ),
    );
  }

  /** @param {number} row */
  function whole(row, cell) {
    const v = onRow[row];
    const there = v >= 0 && model.wholeAt[v] <= now();
    cell.className = `cell c-whole${there ? "" : " later"}`;
    if (v < 0 || model.wholeAt[v] === model.never)
      return fill(
        cell,
        v >= 0 && h("span", { class: "soft", title: "no derivative: the result does not depend on it" }, "–"),
      );
    const { line } = values[v];
    fill(
      cell,
      line < 0
        ? h("span", { class: "soft" }, there ? "in parts" : "·")
        : h(
            "code",
            { "data-ref": values.length + line, title: `the derivative by ${values[v].name}` },
            lines[line].name,
          ),
    );
  }

  /** @param {number} row */
  function added(row, cell) {
    const v = onRow[row];
    const step = now();
    fill(
      cell,
      v >= 0 &&
        beside[v].map((n) => {
          const at = model.addedAt[n];
          const state = at > step ? "later" : at === step ? "now" : "there";
          const role = ["begins", "sum", "", "zeros"][lines[n].role];
          return h(
            "div",
            {
              class: `line ${state}`,
              "data-ref": values.length + n,
              title: `${lines[n].name}: ${lines[n].type}`,
            },
            h(
              "span",
              { class: "tag" },
              role === "sum" ? "+" : role === "zeros" ? "0" : role === "begins" ? "1" : "",
            ),
            lineCode(model, n),
            state === "later" && h("span", { class: "sr" }, " (later)"),
          );
        }),
    );
  }

  return [
    { id: "uses", title: "uses", width: "var(--w-uses)", draw: uses },
    { id: "kept", title: "stored", width: "var(--w-kept)", draw: kept },
    { id: "whole", title: "derivative", width: "var(--w-whole)", draw: whole },
    {
      id: "added",
      title: "backward pass ↑",
      width: "var(--w-added)",
      /** @param {number} row */
      lines: (row) => (onRow[row] < 0 ? 0 : beside[onRow[row]].length),
      draw: added,
    },
  ];
}

/**
 * The rows whose cells differ between two steps.
 * @param {GradientModel} model
 */
export function changedRows(model, from, to) {
  const found = new Set();
  const [low, high] = from < to ? [from, to] : [to, from];
  /** @param {number} v */
  const touch = (v) => v >= 0 && found.add(model.values[v].row);
  for (let step = Math.max(0, low); step <= high; step++) {
    const { value, added, to: handed } = model.steps[step];
    touch(value);
    for (const n of added) {
      touch(model.lines[n].value);
      for (const use of model.lines[n].uses) if (use.how !== SHAPE) touch(use.value);
    }
    for (const { value: v } of handed) touch(v);
  }
  return found;
}
