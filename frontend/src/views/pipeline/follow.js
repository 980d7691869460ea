// One expression followed through all passes, from a row, a name in it or the graph: a part of the PipelineExplorer.

import { closestTo } from "../../core/dom.js";
export const following = {
  clicked(event) {
    const node = closestTo(event, ".row");
    if (!node || closestTo(event, "button, a")) return;
    const ref = closestTo(event, "[data-ref]");
    const { before, after } = this.stage.pairs[Number(node.dataset.row)];
    const { model } = this;
    const [first, second] = closestTo(event, ".cell.code:not(.c-after)") ? [before, after] : [after, before];
    const item = ref ? Number(ref.dataset.ref) : model.main(first >= 0 ? first : second);
    if (model.items[item]) this.followItem(item);
  },

  followRow(i) {
    const pair = this.stage.pairs[i];
    if (!pair) return false;
    const item =
      [pair.after, pair.before].map((row) => this.model.main(row)).find((found) => found >= 0) ?? -1;
    if (item < 0) return false;
    this.followItem(item);
    return true;
  },

  /**
   * The reader went to a row: its value is lit in the graph too.
   * @param {number} row
   */
  chosen(row) {
    const pair = this.stage.pairs[row];
    if (pair) {
      const item = this.model.main(pair.after >= 0 ? pair.after : pair.before);
      this.point(item, -1);
      this.graph.look([item]);
    }
    this.ctx.changed();
  },

  followItem(item) {
    if (item === this.follow) return;
    this.setFollow(item);
    if (item >= 0) this.paneTabs.select("history");
    this.drawStrip();
    this.mark();
    this.drawPanes();
    this.strip.look();
    const stages = this.lives[this.pipe].filter(({ items }) => items.length).length;
    this.shell.announce(
      item < 0
        ? "No expression is followed."
        : `${this.model.title(item)} is followed: it is in ${stages} of ${this.list.length} stages.`,
    );
    this.ctx.changed();
  },

  setFollow(item) {
    const { model } = this;
    this.follow = item;
    this.kin = item >= 0 ? model.kin(item) : new Set();
    this.lives = model.pipelines.map(({ list }) => (item >= 0 ? model.history(this.kin, list, item) : []));
    this.names = item >= 0 ? model.pipelines.map(({ list }, p) => model.names(this.lives[p], list)) : null;
  },

  /** The rows that hold the expression that is followed, or one of `kin`, on either side. */
  rowsOfKin(kin = null) {
    return this.stage.rowsOf([...(kin ?? this.kin)].map((i) => this.model.items[i].row));
  },

  mark() {
    this.rows.mark("kin", this.rowsOfKin());
    const rewrite = this.stage.rewrites[this.rewrite];
    this.rows.mark("rw-before", this.rewriteRows("before", rewrite));
    this.rows.mark("rw-after", this.rewriteRows("after", rewrite));
    this.lanesDrawn.draw(this.kin);
    this.markPointed();
  },

  /** Marks what the pointer is on, in the rows and in the graph. */
  markPointed() {
    const pointed = this.pointed >= 0 ? this.model.kin(this.pointed) : new Set();
    this.rows.mark("linked", this.rowsOfKin(pointed));
    this.rows.light([...this.kin, ...pointed]);
    this.drawGraph();
  },

  hovered(hit) {
    const pair = hit ? this.stage.pairs[hit.row] : null;
    this.point(
      !hit ? -1 : hit.ref >= 0 ? hit.ref : this.model.main(pair.after >= 0 ? pair.after : pair.before),
      hit ? hit.row : -1,
    );
  },

  /**
   * Linked highlighting, from a row or from the graph.
   * @param {number} row
   */
  point(item, row) {
    this.rows.mark("hover", row >= 0 ? [row] : []);
    if (item === this.pointed) return;
    this.pointed = this.model.items[item] ? item : -1;
    this.markPointed();
  },

  /** A node of the graph was chosen: it is followed, and its row comes into the window. */
  picked(item) {
    this.followItem(item);
    if (this.narrow) return;
    const [row] = this.rowsOfKin(new Set([item]));
    if (row === undefined) return;
    this.rows.reveal(row);
    this.rows.select(row, { byReader: true });
  },

  drawGraph() {
    const rewrite = this.stage.rewrites[this.rewrite];
    this.graph.draw({
      stage: this.stage,
      kin: this.kin,
      pointed: this.pointed,
      lit: new Set(rewrite ? [...rewrite.before, ...rewrite.after] : []),
    });
  },

  /** Goes to a moment of the life of what is followed: Esc comes back. */
  moment(stage, item, pipe) {
    this.ctx.places.remember();
    this.transport.stop();
    this.goTo(pipe, this.model.pipelines[pipe].list.indexOf(stage));
    const row = this.model.items[item]?.row ?? -1;
    this.visit(
      this.stage.pairs.findIndex(({ before, after }) => (row >= 0 ? after === row : this.rowOfKin(before))),
    );
  },

  /** @param {number} row */
  rowOfKin(row) {
    return row >= 0 && this.model.onRow[row].some((i) => this.kin.has(i));
  },
};
