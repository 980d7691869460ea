// What the view of a quantization must hold beyond its contract, before it is drawn.
import { need } from "../../core/check.js";

/** @param {import("../../generated/quantize.js").QuantizeView} view */
export function checkQuantize({ split, rows, states, integers, axes, variants, steps }) {
  need(split <= rows.length && integers.length === rows.length - split, "integers");
  need(states.length === split, "states");
  variants.forEach(({ choice }, i) =>
    need(
      choice.length === axes.length && choice.every((option, axis) => option < axes[axis].options.length),
      `variants[${i}].choice`,
    ),
  );
  steps.forEach(({ phase }, i) => need(i === 0 || phase >= steps[i - 1].phase, `steps[${i}].phase`));
}
