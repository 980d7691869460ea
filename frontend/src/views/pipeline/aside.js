// What stands below the rows: the rewrites inside the pass, one expression's history and the totals, one at a time; and the graph beside them.
import { h } from "../../core/dom.js";
import { createTabs } from "../../core/tabs.js";
import { createGraphPane } from "./graph.js";
import { drawHistory, drawTotals } from "./panes.js";
import { drawRewrites } from "./rewrites.js";
/** @import { PipelineModel } from "./model.js" */
/** @import { PipelineExplorer } from "./view.js" */

export const PANES = [
  { id: "rewrites", label: "Rewrites" },
  { id: "history", label: "History" },
  { id: "totals", label: "Totals" },
];
export const ON_ROWS = [
  { id: "before", label: "Before" },
  { id: "after", label: "After" },
  { id: "uses", label: "Uses" },
  { id: "cost", label: "Cost" },
];
export const TABS = [...ON_ROWS, PANES[0], { id: "graph", label: "Graph" }, ...PANES.slice(1)];

/**
 * `onPane(id)` and `onTab(id)` are called when the reader chooses a pane, or a tab on a phone; `onPick(item)` and `onHover(item)` in the graph.
 * @param {PipelineModel} model
 */
export function createAside(model, { onPane, onTab, onPick, onHover }) {
  const panes = Object.fromEntries(
    PANES.map(({ id, label }) => [
      id,
      h("section", { class: `pane ${id}`, tabindex: 0, "aria-label": label.toLowerCase() }),
    ]),
  );
  const tabs = createTabs({
    label: "about this pass",
    className: "pane-tabs",
    items: PANES.map((item) => ({ ...item, pane: panes[item.id] })),
    onSelect: (id, byReader) => byReader && onPane(id),
  });
  const narrowTabs = createTabs({
    label: "what to show",
    className: "narrow tight",
    items: TABS,
    selected: "after",
    onSelect: (id, byReader) => byReader && onTab(id),
  });
  const graph = createGraphPane(model, { onPick, onHover });
  const graphPane = h(
    "section",
    { class: "pane graph-pane", "aria-label": "graph" },
    h("p", { class: "heading" }, "The values as a graph"),
    graph.el,
  );
  return {
    el: h("div", { class: "panes" }, h("div", { class: "side" }, tabs.el, Object.values(panes)), graphPane),
    panes,
    tabs,
    narrowTabs,
    graph,
  };
}

/**
 * Draws the pane that is open: rewrites, history or totals.
 * @param {PipelineExplorer} explorer
 */
export function drawAside(explorer) {
  const { model, pipe, at } = explorer;
  const { rewrites, told } = explorer.stage;
  explorer.paneTabs.button("rewrites").textContent = rewrites.length
    ? `Rewrites ${told.toLocaleString("en")}`
    : "Rewrites";
  const { panes } = explorer;
  if (!panes.rewrites.hidden)
    drawRewrites(panes.rewrites, {
      stage: explorer.stage,
      tree: model.tree,
      at: explorer.rewrite,
      onGo: (to) => explorer.goRewrite(to),
    });
  if (!panes.history.hidden)
    drawHistory(model, panes.history, {
      lives: explorer.lives,
      stage: explorer.stage.index,
      follow: explorer.follow,
      onStop: () => {
        explorer.followItem(-1);
        explorer.focus();
      },
      onGo: (stage, item) =>
        explorer.moment(
          stage,
          item,
          explorer.list.includes(stage)
            ? pipe
            : model.pipelines.findIndex(({ list }) => list.includes(stage)),
        ),
    });
  if (!panes.totals.hidden)
    drawTotals(model, panes.totals, { pipe, at, onGo: (p, i) => explorer.goTo(p, i) });
}
