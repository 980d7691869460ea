// What a fusion view must hold beyond its contract, before it is drawn.
import { need } from "../../core/check.js";
import { MERGED } from "./marks.js";

/** @param {import("../../generated/fusion.js").FusionView} view */
export function checkFusion(view) {
  view.functions.forEach(({ variants }, f) =>
    variants.forEach((variant, v) => {
      const where = `functions[${f}].variants[${v}]`;
      need(
        variant.steps.every(
          ({ mark, target, phase }) => (mark !== MERGED || target >= 0) && phase >= -1 && phase < 3,
        ),
        `${where}.steps`,
      );
      const { order } = variant;
      need(
        order.length === 0 || (order.length === view.rows.length && new Set(order).size === order.length),
        `${where}.order`,
      );
    }),
  );
}
