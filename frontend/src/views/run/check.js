// The parts of the view of a run, checked against frontend/FORMAT.md before anything is drawn.
import { checkCommon, isIndex, isIndexOrNone, isListOf, need } from "../../core/check.js";
import { SHAPES } from "../../graph/shapes.js";
import { checkLowering } from "../lowering/check.js";

const count = (value) => Number.isInteger(value) && value >= 0;
const positive = (value) => count(value) && value > 0;

export function checkRun(view) {
  const strings = view.strings.length;
  const text = (value) => isIndex(value, strings);
  const say = (value) => isListOf(value, text) && value.length > 0;
  const { machine, run, rules, kernels, launches, levels } = view;
  need(machine && text(machine.name) && text(machine.target) && [machine.threads, machine.flops, machine.bandwidth].every(positive), "machine");
  need(run && count(run.ns) && count(run.runs) && say(run.say) && say(run.why), "run");
  need(isListOf(rules, (r) => Array.isArray(r) && text(r[0]) && SHAPES.includes(r[1]) && /^[a-z]+$/.test(r[2])), "rules");
  need(Array.isArray(kernels) && kernels.length > 0, "kernels");
  kernels.forEach((kernel, i) => {
    const [row, name, rule, flops, traffic, ns, calls, least, arithmetic, told, why] = Array.isArray(kernel) ? kernel : [];
    const fine = isIndex(row, view.program.rows.length) && text(name) && isIndex(rule, rules.length) && [flops, traffic].every(count) && [ns, calls, least].every(positive);
    need(fine && isIndex(arithmetic, 2) && say(told) && say(why), `kernel ${i + 1}`);
  });
  let end = 0;
  need(Array.isArray(launches) && launches.length > 0, "launches");
  launches.forEach((launch, i) => {
    const [kernel, start, ns] = Array.isArray(launch) ? launch : [];
    need(isIndex(kernel, kernels.length) && count(start) && start >= end && positive(ns), `launch ${i + 1}`);
    end = start + ns;
  });
  need(isListOf(levels, (level) => Array.isArray(level) && isIndex(level[0], kernels.length) && level[1]?.view === "lowering"), "levels");
  for (const [, lowering] of levels) {
    checkCommon(lowering);
    checkLowering(lowering);
  }
  need(isIndexOrNone(view.start, kernels.length), "start");
}
