// Linked highlighting of values, from a row or from a sentence: a part of the QuantizeExplorer.
import { h } from "../../core/dom.js";
/** @import { Hit } from "../../core/types.js" */

export const pointing = {
  /**
   * A name in a sentence leads to its row.
   * @param {string} name
   */
  nameIn(name) {
    const row = this.model.rowNamed(name.split(" ")[0], this.cursorRow());
    if (row < 0) return h("code", null, name);
    return h(
      "code",
      {
        class: "named",
        onpointerenter: () => this.rows.mark("linked", [row]),
        onpointerleave: () => this.rows.mark("linked", []),
        onclick: () => this.visit(row),
      },
      name,
    );
  },

  /**
   * Linked highlighting: a value wherever it is named, in both programs, and the row beside which it stands.
   * @param {Partial<Hit> | null} hit
   */
  hovered(hit) {
    const { items } = this.model;
    this.rows.mark("hover", hit && hit.row >= 0 ? [hit.row] : []);
    const refs = new Set();
    if (hit?.ref >= 0) refs.add(hit.ref);
    else if (hit) items.forEach(({ row }, ref) => row === hit.row && refs.add(ref));
    this.rows.mark(
      "linked",
      [...refs].map((ref) => this.model.rowOfItem(ref)).filter((row) => row >= 0 && row !== hit?.row),
    );
    this.rows.light([...refs]);
  },
};
