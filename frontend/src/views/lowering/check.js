// What a lowering view must hold beyond its contract, before it is drawn.
import { need } from "../../core/check.js";

/** @param {import("../../generated/lowering.js").LoweringView} view */
export function checkLowering({ times, steps, codes }) {
  need(times.length === 0 || times.length === steps.length, "times");
  need(codes.length <= 2, "codes");
}
