// The rows of the stage that is shown: the program before and after a pass, side by side.
import { fill } from "../../core/dom.js";
import { scale } from "../../core/fit.js";
import { createRows } from "../../core/rows.js";
import { alignedView, stretches } from "./align.js";
import { noteOf, oldTokens, pipelineColumns } from "./columns.js";
import { MARKS } from "./marks.js";
import { createLanes, usesColumn, usesOf } from "./uses.js";
/** @import { PipelineExplorer } from "./view.js" */

const LINE = 27 * scale();

/**
 * The rows of the stage that is shown, drawn anew.
 * @param {PipelineExplorer} explorer
 */
export function buildRows(explorer) {
  const { model, stage, view } = explorer;
  const inside = explorer.rows?.el.contains(explorer.active);
  explorer.rows?.destroy();
  let rows = null;
  explorer.blocks = stretches(stage.pairs, ({ after }) => model.text(after).trim().length < 2);
  const aligned = alignedView(view, stage.pairs, explorer.blocks);
  const blocks = new Map(explorer.blocks);
  const before = stage.before >= 0 ? model.stages[stage.before].name : "";
  explorer.uses = usesOf(model, stage);
  explorer.lanesDrawn = null;
  explorer.rows = rows = createRows({
    view: aligned,
    label: `${view.title}: ${before ? `before and after ${stage.name}` : stage.name}`,
    title:
      stage.titles?.[0] ??
      (before ? `before${before === "as given" ? "" : `: after ${before}`}` : stage.name),
    note: (_, hidden) => noteOf(hidden),
    tokenClass: (i) => oldTokens(model, stage.pairs[i]),
    columns: pipelineColumns(
      model,
      stage,
      (i) => (rows?.folded.has(i) ? blocks.get(i) - i : 0),
      usesColumn(model, explorer.uses, (row) => explorer.visit(row)),
    ),
    hooks: {
      select: (row, byReader) => byReader && explorer.chosen(row),
      hover: (hit) => explorer.hovered(hit),
      activate: (i) => explorer.followRow(i),
      layout: (columns) => {
        if (columns) explorer.lanesDrawn?.moved();
        explorer.lanesDrawn?.draw(explorer.kin);
      },
    },
  });
  rows.el.classList.add("pipeline-grid");
  rows.el.classList.toggle("first", stage.before < 0);
  explorer.lanesDrawn = createLanes(explorer.uses, rows, LINE);
  // Before the columns: with them the rows are drawn, once.
  rows.setFolded(explorer.tight ? [...blocks.keys()] : []);
  explorer.columns();
  MARKS.forEach(({ id }, mark) =>
    rows.mark(
      id,
      stage.pairs.map((_, i) => i).filter((i) => stage.pairs[i].mark === mark),
    ),
  );
  rows.mark(
    "void",
    stage.pairs.map((_, i) => i).filter((i) => stage.pairs[i].before < 0),
  );
  rows.mark(
    "ended",
    stage.pairs.map((_, i) => i).filter((i) => stage.pairs[i].after < 0),
  );
  fill(explorer.holder, rows.el);
  if (explorer.search.state().query) explorer.search.run();
  if (inside) explorer.focus();
}

/** @param {PipelineExplorer} explorer */
export function showColumns(explorer) {
  const cost = explorer.model.costly ? ["flops", "bytes"] : [];
  const first = explorer.stage.before < 0;
  const lanes = explorer.lanesOn() ? ["uses"] : [];
  if (!explorer.narrow)
    explorer.rows.setColumns(first ? [...lanes, ...cost] : ["mark", "after", ...lanes, ...cost]);
  else
    explorer.rows.setColumns(
      {
        before: first ? [] : ["mark"],
        after: ["mark", "after"],
        uses: ["after", "uses"],
        cost: ["after", ...cost],
      }[explorer.tabs.selected] ?? ["mark", "after"],
    );
  explorer.choices.show();
  explorer.lanesDrawn.moved();
  explorer.lanesDrawn.draw(explorer.kin);
}
