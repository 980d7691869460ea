// What a machine view must hold beyond its contract, before it is drawn.
import { need } from "../../core/check.js";
import { checkMemory } from "../memory/check.js";

/** @param {import("../../generated/machine.js").MachineView} view */
export function checkMachine({ functions, frames, steps, plan }) {
  /** @param {number} frame */
  const of = (frame) => functions[frames[frame].function];
  steps.forEach(({ frame, number, following, changes }, i) => {
    need(number < of(frame).code.length && following < of(frame).code.length, `steps[${i}]`);
    for (const change of changes)
      need(change.tag !== "w" || change.register < of(change.frame).registers, `steps[${i}].changes`);
  });
  if (plan) checkMemory(plan);
}
