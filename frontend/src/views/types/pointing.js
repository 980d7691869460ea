// Linked highlighting of variables and relations, from a row or from a sentence: a part of the TypesExplorer.
import { h } from "../../core/dom.js";
import { membersOf } from "./state.js";
/** @import { Hit } from "../../core/types.js" */

export const pointing = {
  /**
   * A name in a sentence; one that belongs to a single variable lights it in every column.
   * @param {string} name
   */
  named(name) {
    const v = this.byName.get(name) ?? -1;
    if (v < 0) return h("code", null, name);
    const enter = () => this.hovered({ row: -1, ref: v });
    return h(
      "code",
      { class: "named", onpointerenter: enter, onpointerleave: () => this.hovered(null) },
      name,
    );
  },

  /**
   * Linked highlighting: what the pointer or the focus is on, in every column.
   * @param {Partial<Hit> | null} hit
   */
  hovered(hit) {
    const v = hit ? Number(hit.target?.closest?.("[data-var]")?.dataset.var ?? hit.ref) : -1;
    const rel = hit
      ? Number(/** @type {any} */ (hit).rel ?? hit.target?.closest?.("[data-rel]")?.dataset.rel ?? -1)
      : -1;
    const vars = new Set(this.view.variables[v] ? membersOf(this.state, v) : []);
    const rels = new Set(this.view.variables[v] ? this.relsOf[v] : rel >= 0 ? [rel] : []);
    if (rel >= 0) for (const other of this.view.relations[rel].variables) vars.add(other);
    const before = this.hover;
    this.hover = vars.size || rels.size ? { vars, rels, hover: true } : null;
    this.rows.mark("hover", hit && hit.row >= 0 ? [hit.row] : []);
    if (!before && !this.hover) return;
    const linked = [
      ...[...vars].map((at) => this.view.variables[at].row),
      ...[...rels].map((at) => this.view.relations[at].row),
    ];
    this.rows.mark(
      "linked",
      linked.filter((row) => row >= 0),
    );
    this.rows.light(vars);
    this.wire();
    if (this.pane() === "graph" && this.view.variables.length < 60) this.drawPane();
  },
};
