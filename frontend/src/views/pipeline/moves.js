// From pass to pass along a pipeline.
/** @import { KeyEvent } from "../../core/types.js" */
/** @import { PipelineExplorer } from "./view.js" */

/**
 * Moves along this pipeline; past what changed nothing where the reader asked for changes only.
 * @param {PipelineExplorer} explorer
 * @param {string} name
 * @param {KeyEvent} event
 */
export function move(explorer, name, event) {
  const onStrip = Boolean(event?.target.closest?.(".shot"));
  const by = name === "back" || name === "last" ? -1 : 1;
  const from = { first: 0, last: explorer.list.length - 1, back: explorer.at - 1, forward: explorer.at + 1 }[
    name
  ];
  const keep = (at) => !explorer.only || !explorer.model.stages[explorer.list[at]].same;
  let to = from;
  while (to >= 0 && to < explorer.list.length && !keep(to)) to += by;
  if (to < 0 || to >= explorer.list.length || to === explorer.at) return false;
  explorer.goTo(explorer.pipe, to);
  if (onStrip) explorer.strip.focus(explorer.pipe, to);
  return true;
}
