// From one change of a pass to the next, and what the marks of changes mean.
import { h } from "../../core/dom.js";
import { KEPT, MARKS, MOVED, wordOf } from "./marks.js";
/** @import { PipelineExplorer } from "./view.js" */

/**
 * The next row that changed, or with `mark` one that changed so; neighbours that changed alike count as one.
 * @param {PipelineExplorer} explorer
 * @param {number} by
 */
export function nextChange(explorer, by, mark = -1) {
  const { pairs } = explorer.stage;
  /** @param {number} i */
  const wanted = (i) => (mark < 0 ? pairs[i].mark !== KEPT : pairs[i].mark === mark);
  const starts = pairs
    .map((_, i) => i)
    .filter((i) => wanted(i) && !(i > 0 && wanted(i - 1) && pairs[i - 1].mark === pairs[i].mark));
  if (!starts.length) return;
  const from = explorer.rows.selected;
  const to =
    by > 0
      ? (starts.find((i) => i > from) ?? starts[0])
      : (starts.findLast((i) => from < 0 || i < from) ?? starts.at(-1));
  explorer.visit(to);
  explorer.shell.announce(
    `${wordOf(pairs[to].mark)}: ${explorer.model.text(pairs[to].after >= 0 ? pairs[to].after : pairs[to].before)}`,
  );
}

/** The marks and their meaning, for the help. */
export function legendOfMarks() {
  return h(
    "dl",
    null,
    MARKS.filter(({ sign }) => sign).map(({ id, sign, word }) => [
      h("dt", null, h("span", { class: `sign s-${id}` }, sign)),
      h(
        "dd",
        null,
        word,
        id === MARKS[MOVED].id && ": the same row at another place; it is shown twice, once on each side",
      ),
    ]),
  );
}
