// Derived from the dataclasses of relay_explorer/views by `make views`.
import { mountCompare } from "../views/compare/view.js";
import { mountCosts } from "../views/costs/view.js";
import { mountEvaluation } from "../views/evaluation/view.js";
import { mountFusion } from "../views/fusion/view.js";
import { mountGradient } from "../views/gradient/view.js";
import { mountIr } from "../views/ir/view.js";
import { mountLowering } from "../views/lowering/view.js";
import { mountMachine } from "../views/machine/view.js";
import { mountMemory } from "../views/memory/view.js";
import { mountPartial } from "../views/partial/view.js";
import { mountPipeline } from "../views/pipeline/view.js";
import { mountQuantize } from "../views/quantize/view.js";
import { mountRun } from "../views/run/view.js";
import { mountSharing } from "../views/sharing/view.js";
import { mountSource } from "../views/source/view.js";
import { mountTypes } from "../views/types/view.js";

/** @import { Mount } from "../core/types.js" */

export const VIEWS = new Map(/** @type {[string, Mount][]} */ ([
  ["compare", mountCompare],
  ["costs", mountCosts],
  ["evaluation", mountEvaluation],
  ["fusion", mountFusion],
  ["gradient", mountGradient],
  ["ir", mountIr],
  ["lowering", mountLowering],
  ["machine", mountMachine],
  ["memory", mountMemory],
  ["partial", mountPartial],
  ["pipeline", mountPipeline],
  ["quantize", mountQuantize],
  ["run", mountRun],
  ["sharing", mountSharing],
  ["source", mountSource],
  ["types", mountTypes],
]));
