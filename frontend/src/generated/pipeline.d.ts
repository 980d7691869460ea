// Derived from the dataclasses of relay_explorer/views by `make views`.
import type * as common from "./common.js";
import type * as compare from "./compare.js";

/**
 * A program going through passes; two pipelines where they are compared. `tree` is the URL below which the files
 * of the package are shown, `ends` the final programs of two pipelines side by side.
 */
export interface PipelineView extends common.BaseView {
  view: "pipeline";
  items: PipelineItem[];
  stages: Stage[];
  pipelines: Pipeline[];
  tree: string;
  ends: compare.CompareView | null;
}

/**
 * An expression of a stage, and those of the stage before from which it came. In the graph it is `part` (see
 * `Part`), computed from `operands`, in the kernel whose function is the item `kernel`.
 */
export interface PipelineItem {
  stage: number;
  row: number;
  label: string;
  came_from: number[];
  mark: number;
  flops: number;
  bytes: number;
  part: number;
  operands: number[];
  kernel: number;
}

/**
 * The program after a pass. `align` has pairs of rows, the stage before's and its own, with their fate; `ms` is
 * None where pages must not depend on the machine. `rewrites` are the first of the `told` rewrites that the pass
 * reported. `text` is the pass in the text of a pipeline, where it is not its name.
 */
export interface Stage {
  name: string;
  what: string;
  source: string;
  before: number;
  first: number;
  last: number;
  same: boolean;
  say: string[];
  align: Aligned[];
  gone: number[];
  totals: StageTotals;
  ms: number | null;
  rewrites: RewriteStep[];
  told: number;
  text: string | null;
}

/** A pipeline's name, and its stages; each begins with stage 0. */
export interface Pipeline {
  name: string;
  stages: number[];
}

/**
 * Two rows side by side, of the stage before and of this one (-1: none on that side), and their fate. A row that
 * moved occurs twice, once on each side.
 */
export interface Aligned {
  before: number;
  after: number;
  fate: number;
}

/** A stage's size and cost. */
export interface StageTotals {
  expressions: number;
  operators: number;
  kernels: number;
  flops: number;
  bytes: number;
}

/**
 * A rewrite inside a pass: the sentence of its rule, the rule's name, its file in the package ("" for a reader's
 * own rule) and line; the items of the stage before that it matched and the items of this stage that resulted;
 * what it matched and what replaced it, in a line each ("": nothing), and `how` they are related if it is a
 * decision instead of a rewrite.
 */
export interface RewriteStep {
  rule: string;
  name: string;
  path: string;
  line: number;
  before: number[];
  after: number[];
  was: string;
  how: string;
  became: string;
}
