// What a memory view must hold beyond its contract, before it is drawn.
import { need } from "../../core/check.js";

/** @param {import("../../generated/memory.js").MemoryView} view */
export function checkMemory(view) {
  need(view.grid.length === view.axes.reduce((product, { choices }) => product * choices.length, 1), "grid");
  view.variants.forEach(({ lives }, v) =>
    lives.forEach(({ made, last }, i) => need(last >= made, `variants[${v}].lives[${i}]`)),
  );
}
