// What the view of a run must hold beyond its contract, before it is drawn.
import { need } from "../../core/check.js";
import { checkLowering } from "../lowering/check.js";

/** @param {import("../../generated/run.js").RunView} view */
export function checkRun({ launches, levels }) {
  let end = 0;
  launches.forEach(({ start, ns }, i) => {
    need(start >= end, `launches[${i}]`);
    end = start + ns;
  });
  for (const { view } of levels) checkLowering(view);
}
