// The columns beside the program: how long each value is needed, and where it is.
import { fill, h } from "../../core/dom.js";
import { size } from "../fusion/columns.js";
import { COMPUTED } from "./model.js";
/**
 * @import { MemoryModel } from "./model.js"
 * @param {number} number
 */

export const bufferName = (number) => `b${number}`;
const steps = (from, to) => (from === to ? `in step ${from}` : `from step ${from} to step ${to}`);

/**
 * `now()` gives the variant that is shown; `jump(value)` goes to a value's row.
 * @param {MemoryModel} model
 */
export function memoryColumns(model, now, jump) {
  const { values, onRow, same } = model;

  /**
   * @param {number} at
   * @param {number} count
   */
  function bar(variant, n, at, count) {
    const life = variant.lives[variant.lifeOf[n]];
    const { tint } = variant.buffers[life.buffer];
    const ticks = life.reads.map((step) =>
      h("i", { style: { left: `${(100 * (step - life.made + 0.5)) / (life.last - life.made + 1)}%` } }),
    );
    const kept = life.last === variant.steps.length - 1;
    return h(
      "span",
      {
        class: `life-bar k${tint}${kept ? " kept" : ""}`,
        title: `${model.title(n)} is live ${steps(life.made, life.last)}${kept ? ": it is part of the result" : ""}`,
        style: { "--from": life.made, "--for": life.last - life.made + 1, "--at": at, "--of": count },
      },
      ticks,
    );
  }

  /** @param {number} row */
  function life(row, cell) {
    const variant = now();
    const computed = onRow[row].filter((n) => values[n].origin === COMPUTED);
    const stored = computed.filter((n) => variant.lifeOf[n] >= 0);
    if (stored.length) {
      fill(
        cell,
        stored.map((n, i) => bar(variant, n, i, stored.length)),
        stored.map((n) => {
          const { made, last } = variant.lives[variant.lifeOf[n]];
          return h("span", { class: "sr" }, `${model.title(n)} is live ${steps(made, last)}. `);
        }),
      );
    } else if (computed.length) {
      const step = variant.inside.get(computed[0]);
      if (step === undefined) fill(cell);
      else
        fill(
          cell,
          h("span", {
            class: "within",
            style: { "--from": step + 0.5 },
            title: `inside the kernel of step ${step}`,
          }),
          h("span", { class: "sr" }, `inside the kernel of step ${step}`),
        );
    } else if (onRow[row].length)
      fill(cell, h("span", { class: "given" }), h("span", { class: "sr" }, "live from the start"));
    else fill(cell);
  }

  function chip(variant, n) {
    const { buffer, bytes, before, rule } = variant.lives[variant.lifeOf[n]];
    const { tint, size: whole } = variant.buffers[buffer];
    const had = before >= 0 ? `after ${variant.lives[before].name}: ${rule}` : `a new buffer: ${rule}`;
    return h(
      "span",
      { class: "place", title: `${bufferName(buffer)} of ${size(whole)}, ${had}` },
      h("b", { class: `buf k${tint}` }, bufferName(buffer)),
      h("span", { class: "size" }, size(bytes)),
      before < 0 && h("span", { class: "fresh", title: "a new buffer" }, "new"),
      h("span", { class: "sr" }, `, ${had}`),
    );
  }

  /** @param {number} row */
  function place(row, cell) {
    const variant = now();
    const computed = onRow[row].filter((n) => values[n].origin === COMPUTED);
    const stored = computed.filter((n) => variant.lifeOf[n] >= 0);
    if (stored.length > 1) {
      const bytes = stored.reduce((sum, n) => sum + variant.lives[variant.lifeOf[n]].bytes, 0);
      const shown = stored.slice(0, 4).map((n) => {
        const { buffer } = variant.lives[variant.lifeOf[n]];
        return h("b", { class: `buf k${variant.buffers[buffer].tint}` }, bufferName(buffer));
      });
      fill(
        cell,
        h(
          "span",
          { class: "place" },
          shown,
          stored.length > shown.length && `+${stored.length - shown.length}`,
          h("span", { class: stored.length > 3 ? "size sr" : "size" }, size(bytes)),
        ),
      );
    } else if (stored.length) fill(cell, chip(variant, stored[0]));
    else if (computed.length)
      fill(
        cell,
        h(
          "span",
          { class: "never" },
          variant.inside.has(computed[0])
            ? `in kernel ${variant.inside.get(computed[0])}, not stored`
            : "not computed",
        ),
      );
    else if (onRow[row].length)
      fill(cell, h("span", { class: "soft" }, `given, ${size(values[onRow[row][0]].bytes)}`));
    else if (same.has(row)) {
      const n = same.get(row);
      fill(
        cell,
        h(
          "button",
          {
            class: "link as",
            type: "button",
            tabindex: -1,
            title: `the same bytes as ${model.title(n)}`,
            onclick: () => jump(n),
          },
          "as ",
          h("code", null, values[n].name || values[n].label),
        ),
      );
    } else fill(cell);
  }

  return [
    { id: "life", title: "live, step by step →", width: "minmax(150px, 1fr)", draw: life },
    { id: "place", title: "where", width: "var(--w-place)", draw: place },
  ];
}
