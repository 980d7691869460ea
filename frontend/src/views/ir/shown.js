// What is shown of the graph, and how: a part of it, what is faded, and what the colors say.

import { fill, h } from "../../core/dom.js";
import { createColoring } from "../../graph/coloring.js";
import { reachedBy } from "./reach.js";
/** @import { Reach } from "./reach.js" */
/** @import { IrExplorer } from "./view.js" */

export class Shown {
  /** By group, the nodes in it. @type {number[][] | null} */
  members = null;
  /** The nodes of the chosen reach. @type {Set<number> | null} */
  reached = null;

  /** @param {IrExplorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.coloring = createColoring("family", explorer.model, explorer.totals);
  }

  /** What alone is in the graph, or null where everything is. */
  part() {
    const { reach, only } = this.explorer.chosen;
    return reach && (only || reach.kind === "near") ? this.reached : null;
  }

  /** @param {number} radius */
  setNear(radius) {
    const { sel, reach } = this.explorer.chosen;
    const root = sel >= 0 && sel < this.explorer.model.count ? sel : reach?.root;
    this.setPart(radius && root !== undefined ? { kind: "near", root, radius } : null);
  }

  /**
   * Marks everything above or below the chosen node; again: nothing.
   * @param {"up" | "down"} kind
   */
  setReach(kind) {
    const { sel, reach } = this.explorer.chosen;
    const root = sel >= 0 && sel < this.explorer.model.count ? sel : reach?.root;
    if (root === undefined) return;
    this.setPart(reach?.kind === kind && reach.root === root ? null : { kind, root });
  }

  /** Marks the paths between two nodes: the first call chooses where they begin, the second where they end. */
  setPaths() {
    const { sel, reach, anchor } = this.explorer.chosen;
    if (reach?.kind === "paths") return this.setPart(null);
    if (sel < 0 || sel >= this.explorer.model.count) return undefined;
    if (anchor >= 0 && anchor !== sel) return this.setPart({ kind: "paths", root: anchor, other: sel });
    this.explorer.chosen.anchor = anchor === sel ? -1 : sel;
    this.explorer.strip.update();
    if (this.explorer.chosen.anchor >= 0) {
      const name = this.explorer.model.name(sel) || this.explorer.model.label(sel);
      fill(
        this.explorer.frame.say,
        "Paths from ",
        h("code", null, name),
        ": choose the node where they end, then press ",
        h("kbd", null, "p"),
        ".",
      );
      this.explorer.frame.announce(this.explorer.frame.say.textContent);
    }
    return undefined;
  }

  /** @param {boolean} only */
  setOnly(only) {
    this.setPart(this.explorer.chosen.reach, only);
  }

  /** @param {Reach | null} reach */
  setPart(reach, only = this.explorer.chosen.only && Boolean(reach)) {
    const before = this.part();
    this.explorer.chosen.reach = reach;
    this.explorer.chosen.only = only;
    this.explorer.chosen.anchor = -1;
    this.reached = reach && reachedBy(this.explorer.model, reach);
    this.fade();
    if (before || this.part()) this.explorer.draw({ keep: this.explorer.chosen.sel });
    this.explorer.graph.reveal(this.explorer.shownId(this.explorer.chosen.sel));
    this.explorer.tools.update();
    this.explorer.strip.update();
    this.explorer.say();
    if (!this.explorer.ready) return;
    this.explorer.frame.announce(this.explorer.frame.say.textContent);
    this.explorer.ctx.changed();
  }

  /** @param {boolean} aside */
  setAside(aside) {
    this.explorer.chosen.aside = aside;
    this.explorer.draw({ keep: this.explorer.shownId(this.explorer.chosen.sel) });
    this.explorer.tools.update();
    if (this.explorer.ready) this.explorer.ctx.changed();
  }

  /**
   * What the colors say.
   * @param {string} by
   */
  setColors(by) {
    if (!this.explorer.strip.modes.includes(by)) by = "family";
    const changed = by !== this.explorer.chosen.by;
    this.explorer.chosen.by = by;
    this.coloring = createColoring(by, this.explorer.model, this.explorer.totals);
    this.explorer.graph.color(this.coloring);
    if (changed) this.explorer.draw({ keep: this.explorer.shownId(this.explorer.chosen.sel), fresh: true });
    this.explorer.strip.update();
    this.setClasses(new Set());
  }

  /** @param {Set<number>} classes */
  setClasses(classes) {
    this.explorer.chosen.classes = classes;
    this.fade();
    this.explorer.legend.update();
    if (this.explorer.ready) this.explorer.ctx.changed();
  }

  /** Fades what the legend does not choose and what is out of reach. */
  fade() {
    const { coloring } = this,
      { model, chosen } = this.explorer,
      { classes } = chosen;
    const reached = this.part() ? null : this.reached;
    /** @param {number} id */
    const has = (id) =>
      (!classes.size || classes.has(coloring.classOf(id))) &&
      (!reached || id >= model.count || reached.has(id));
    const all = !classes.size && !reached;
    this.explorer.graph.dim((item) => {
      if (all || item.frame) return false;
      if (item.group < 0) return !has(item.id);
      if (coloring.unit && !has(item.id)) return true;
      return !this.membersOf(item.group).some(coloring.unit ? (i) => !reached || reached.has(i) : has);
    });
    const rows = all
      ? []
      : [...this.explorer.program.nodeOfRow].filter(([, i]) => !has(i)).map(([row]) => row);
    this.explorer.rows.mark(
      "faded",
      rows.filter((row) => this.explorer.rows.anchor(row) === row),
    );
  }

  /**
   * The first node that a group computes.
   * @param {number} group
   */
  firstOf(group) {
    const members = this.membersOf(group);
    return members.find((i) => this.explorer.model.operands[i].length) ?? members[0] ?? Infinity;
  }

  membersOf(group) {
    if (!this.members) {
      this.members = this.explorer.model.groups.map(() => []);
      for (let i = 0; i < this.explorer.model.count; i++)
        for (let g = this.explorer.model.group[i]; g >= 0; g = this.explorer.model.groups[g].parent)
          this.members[g].push(i);
    }
    return this.members[group];
  }
}
