// The rewrites inside the pass that is shown, one after the other: a part of the PipelineExplorer.
import { activeIn } from "../../core/dom.js";
import { PANES } from "./aside.js";
import { KEPT } from "./marks.js";
import { rewriteInWords } from "./rewrites.js";

export const inside = {
  /** @param {number} by */
  stepRewrite(by) {
    const { rewrites } = this.stage;
    if (!rewrites.length) return false;
    const to = this.rewrite < 0 && by < 0 ? rewrites.length - 1 : this.rewrite + by;
    this.goRewrite((to + rewrites.length) % rewrites.length);
  },

  /**
   * Selects a rewrite: its rows are tinted, and the first of them comes into the window.
   * @param {number} to
   */
  goRewrite(to, quiet = false) {
    const { rewrites, told, pairs } = this.stage;
    this.rewrite = to;
    const found = rewrites[to];
    this.mark();
    const rows = [...this.rewriteRows("before", found), ...this.rewriteRows("after", found)].sort(
      (a, b) => a - b,
    );
    const first = rows.find((i) => pairs[i].mark !== KEPT) ?? rows[0];
    if (first !== undefined) {
      this.rows.reveal(first);
      this.rows.scrollTo(first);
    }
    if (quiet) return this.drawPanes();
    if (this.paneTabs.selected !== PANES[0].id) this.paneTabs.select(PANES[0].id);
    const inside = this.panes.rewrites.contains(activeIn(this.root));
    this.drawPanes();
    this.graph.look([...found.after, ...found.before]);
    if (inside) this.panes.rewrites.querySelector("[aria-current]").focus({ preventScroll: true });
    this.shell.announce(rewriteInWords(found, to + 1, told));
    this.ctx.changed();
  },

  /**
   * The pairs of rows in which a rewrite's expressions stand, on one side.
   * @param {string} side
   */
  rewriteRows(side, rewrite) {
    const rows = (rewrite?.[side] ?? []).map((i) => this.model.items[i].row);
    return this.stage.rowsOf(rows, side);
  },
};
