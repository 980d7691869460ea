// The views this bundle can draw, by the name that stands in the data.
import { mountEvaluation } from "./views/evaluation.js";
import { mountFusion } from "./views/fusion.js";
import { mountGradient } from "./views/gradient.js";
import { mountIr } from "./views/ir.js";
import { mountLowering } from "./views/lowering.js";
import { mountMachine } from "./views/machine.js";
import { mountMemory } from "./views/memory.js";
import { mountPartial } from "./views/partial.js";
import { mountPipeline } from "./views/pipeline.js";
import { mountRun } from "./views/run.js";
import { mountSharing } from "./views/sharing.js";
import { mountTypes } from "./views/types.js";

/** view name → mount(root, view, ctx) */
export const VIEWS = new Map([["types", mountTypes], ["ir", mountIr], ["evaluation", mountEvaluation], ["sharing", mountSharing], ["fusion", mountFusion], ["pipeline", mountPipeline], ["gradient", mountGradient], ["partial", mountPartial], ["memory", mountMemory], ["lowering", mountLowering], ["machine", mountMachine], ["run", mountRun]]);
