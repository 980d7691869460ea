// What a pipeline view must hold beyond its contract, before it is drawn.
import { need } from "../../core/check.js";
import { checkCompare } from "../compare/check.js";
/** @import { Aligned, Stage } from "../../generated/pipeline.js" */

/** @param {import("../../generated/pipeline.js").PipelineView} view */
export function checkPipeline(view) {
  const { rows, items, stages, pipelines, ends } = view;
  items.forEach(({ stage, operands, kernel }, i) => {
    need(
      [...operands, ...(kernel < 0 ? [] : [kernel])].every((other) => items[other].stage === stage),
      `items[${i}]`,
    );
  });
  stages.forEach((stage, i) => {
    const { first, last, before, align, told, rewrites, ms } = stage;
    // An empty program ends before it begins.
    need(
      last >= first - 1 && last < rows.length && told >= rewrites.length && (ms === null || ms >= 0),
      `stages[${i}]`,
    );
    checkAlign(align, stage, before >= 0 ? stages[before] : null, `stages[${i}].align`);
  });
  for (const [p, { stages: list }] of pipelines.entries()) {
    need(
      list[0] === 0 && list.every((stage, i) => stages[stage].before === (i ? list[i - 1] : -1)),
      `pipelines[${p}]`,
    );
  }
  need(ends === null || pipelines.length === 2, "ends");
  if (ends) checkCompare(ends);
}

/**
 * @param {Aligned[]} align
 * @param {Stage} stage
 * @param {null | Stage} before
 * @param {string} where
 */
function checkAlign(align, stage, before, where) {
  /**
   * @param {number} row
   * @param {Stage | null} span
   */
  const inside = (row, span) => row === -1 || (span !== null && row >= span.first && row <= span.last);
  need(
    align.every(
      (pair) =>
        inside(pair.after, stage) && inside(pair.before, before) && (pair.before >= 0 || pair.after >= 0),
    ),
    where,
  );
}
