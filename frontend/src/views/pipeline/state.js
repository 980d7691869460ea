// What a link to the explorer holds: the pass, what is followed, what is open.
import { integer } from "../../core/links.js";
import { PANES, TABS } from "./aside.js";
/** @import { PipelineExplorer } from "./view.js" */
/** @import { State } from "../../core/types.js" */

/** @param {PipelineExplorer} explorer */
export function tokenOf(explorer) {
  const { only, ...found } = explorer.searched();
  const tab = explorer.tabs.selected;
  return {
    stage: explorer.at,
    pipe: explorer.pipe || "",
    row: explorer.selected(),
    follow: explorer.follow >= 0 ? explorer.follow : "",
    rw: explorer.rewrite >= 0 ? explorer.rewrite + 1 : "",
    lanes: explorer.lanes === null ? "" : Number(explorer.lanes),
    pane: explorer.paneTabs.selected === PANES[0].id ? "" : explorer.paneTabs.selected,
    only: explorer.only ? 1 : "",
    fold: explorer.tight === explorer.tightAtFirst ? "" : Number(explorer.tight),
    tab: explorer.narrow && tab !== "after" ? tab : "",
    ...found,
    rows: only ? "only" : "",
  };
}

/**
 * @param {PipelineExplorer} explorer
 * @param {State} state
 */
export function restore(explorer, state) {
  const pipe = integer(state.pipe, 0);
  explorer.only = state.only === "1";
  explorer.tight = state.fold ? state.fold === "1" : explorer.tightAtFirst;
  explorer.tabs.select(TABS.some(({ id }) => id === state.tab) ? state.tab : "after");
  explorer.lanes = state.lanes ? state.lanes === "1" : null;
  const follow = integer(state.follow, -1);
  explorer.paneTabs.select(PANES.some(({ id }) => id === state.pane) ? state.pane : PANES[0].id);
  explorer.setFollow(explorer.model.items[follow] ? follow : -1);
  const [to, at] = [explorer.model.pipelines[pipe] ? pipe : 0, integer(state.stage, explorer.model.start)];
  explorer.pipe = to;
  explorer.at = Math.max(0, Math.min(explorer.list.length - 1, at));
  explorer.show();
  const rewrite = integer(state.rw, 0) - 1;
  if (explorer.stage.rewrites[rewrite]) explorer.goRewrite(rewrite, true);
  explorer.finder.restore({ ...state, only: state.rows === "only" ? "1" : "" });
  const row = integer(state.row, -1);
  if (explorer.stage.pairs[row]) {
    explorer.rows.reveal(row);
    explorer.rows.select(row, { quiet: true });
  }
  explorer.place();
}
