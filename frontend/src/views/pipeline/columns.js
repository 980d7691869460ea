// The columns beside the program before: what became of the row, the program after, what it costs.
import { fill, h } from "../../core/dom.js";
import { tokenElement } from "../../core/operators.js";
import { amount, size } from "../fusion/columns.js";
import { differing, tokensOf } from "./align.js";
import { MARKS, MOVED, wordOf } from "./marks.js";
/** @import { PipelineModel } from "./model.js" */

/**
 * `uses` is the column of the lanes; `folded(i)` tells how many rows the folded block at row `i` hides, or 0.
 * @param {PipelineModel} model
 */
export function pipelineColumns(model, stage, folded, uses) {
  const { view } = model;
  const { pairs } = stage;

  function mark(i, cell) {
    const { id, sign } = MARKS[pairs[i].mark];
    fill(
      cell,
      h("span", { class: `sign s-${id}`, "aria-hidden": "true" }, sign),
      h("span", { class: id === "kept" ? "sr" : "word" }, wordOf(pairs[i].mark)),
    );
  }

  function after(i, cell) {
    const { before, after: row } = pairs[i];
    cell.classList.add("code");
    if (row < 0) return void fill(cell);
    cell.title = model.text(row);
    cell.style.setProperty("--depth", view.rows[row].depth);
    const tokens = tokensOf(view, row);
    const fresh =
      before >= 0 && before !== row ? differing(tokensOf(view, before), tokens, model.related)[1] : [];
    const hidden = folded(i);
    fill(
      cell,
      hidden > 0 && h("span", { class: "folded-note" }, noteOf(hidden)),
      tokens.map(({ kind, text, ref }, t) =>
        kind === 0 && ref < 0
          ? text
          : tokenElement(view, kind, text, {
              class: `t${kind}${fresh[t] ? " new-token" : ""}`,
              "data-ref": ref >= 0 ? ref : null,
            }),
      ),
    );
  }

  const costs = { flops: { show: amount, most: 1 }, bytes: { show: size, most: 1 } };
  for (const { before, after: row } of pairs)
    for (const id of ["flops", "bytes"])
      for (const side of [before, row])
        if (side >= 0) costs[id].most = Math.max(costs[id].most, model.cost[side][id]);

  /** @param {string} id */
  const drawCost = (id) => (i, cell) => {
    const { before, after: row, mark: how } = pairs[i];
    // What moved is counted where it is now.
    if (how === MOVED && row < 0) return void fill(cell);
    const was = before >= 0 ? model.cost[before][id] : 0;
    const now = row >= 0 ? model.cost[row][id] : 0;
    if (!was && !now) return void fill(cell);
    const { show, most } = costs[id];
    const width = (value) => ({ width: value ? `${Math.max(3, (100 * value) / most)}%` : "0" });
    const said = was === now || how === MOVED ? show(now) : `${show(was)} before, ${show(now)} after`;
    const gone = !now;
    fill(
      cell,
      h(
        "span",
        { class: "meter", title: `${id}: ${said}`, "aria-hidden": "true" },
        h("i", { class: "before", style: width(was) }),
        h("i", { class: "after", style: width(now) }),
      ),
      h(
        "span",
        { class: `amount${gone ? " gone" : ""}`, "aria-hidden": "true" },
        gone ? `−${show(was)}` : show(now),
      ),
      h("span", { class: "sr" }, said),
    );
  };

  return [
    { id: "mark", title: h("span", { class: "sr" }, "change"), width: "var(--w-mark)", draw: mark },
    { id: "after", title: stage.titles?.[1] ?? `after ${stage.name}`, width: "minmax(0, 1fr)", draw: after },
    uses,
    { id: "flops", title: "flops", width: "var(--w-cost)", draw: drawCost("flops") },
    { id: "bytes", title: "bytes", width: "var(--w-cost)", draw: drawCost("bytes") },
  ];
}

/** @param {number} hidden */
export const noteOf = (hidden) => `${hidden} more unchanged`;

/**
 * The class of each token of a row's old text: whether the new one still has it.
 * @param {PipelineModel} model
 */
export function oldTokens(model, { before, after }) {
  if (before < 0 || after < 0 || before === after) return null;
  const old = differing(tokensOf(model.view, before), tokensOf(model.view, after), model.related)[0];
  return (/** @type {number} */ k) => (old[k] ? "old-token" : "");
}
