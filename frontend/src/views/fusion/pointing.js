// Linked highlighting of operators, from a row or from a sentence: a part of the FusionExplorer.
import { h } from "../../core/dom.js";

export const pointing = {
  /**
   * A name in a sentence; one that belongs to a single operator lights its row and leads there.
   * @param {string} name
   */
  named(name) {
    const n = this.model.face(this.model.named.get(name) ?? -1);
    if (n < 0) return h("code", null, name);
    const { row } = this.model.nodes[n];
    return h(
      "code",
      {
        class: "named",
        onpointerenter: () => this.hovered(n, row),
        onpointerleave: () => this.hovered(-1, -1),
        onclick: () => this.visit(row),
      },
      name,
    );
  },

  /**
   * Linked highlighting: an operator, its operands and its users.
   * @param {number} n
   * @param {number} row
   */
  hovered(n, row) {
    this.rows.mark("hover", row >= 0 ? [row] : []);
    if (n === this.hover) return;
    this.hover = n;
    const { nodes, sources, users, face } = this.model;
    const near = face(n) < 0 ? [] : [...sources[face(n)], ...users[face(n)]];
    this.rows.mark(
      "linked",
      near.map((other) => nodes[other].row),
    );
    this.rows.light(n < 0 ? [] : [n]);
  },
};
