// Linked highlighting of values, from a row, from the arena or from a sentence: a part of the MemoryExplorer.
import { h } from "../../core/dom.js";

export const pointing = {
  /**
   * A name in a sentence; one that belongs to a single value lights its row and leads there.
   * @param {string} name
   */
  named(name) {
    const n = this.model.named.get(name) ?? -1;
    const row = this.model.values[n]?.row ?? -1;
    if (row < 0) return h("code", null, name);
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
   * Linked highlighting: a value, and all others that have its buffer.
   * @param {number} value
   * @param {number} row
   */
  hovered(value, row, place = -1) {
    const life = place < 0 ? (this.variant.lifeOf[value] ?? -1) : place;
    this.rows.mark("hover", row >= 0 ? [row] : []);
    if (life === this.hover) return;
    this.hover = life;
    const { lives, buffers } = this.variant;
    const together =
      life < 0
        ? []
        : buffers[lives[life].buffer].lives.map((other) => this.model.values[lives[other].value]?.row ?? -1);
    this.rows.mark(
      "linked",
      together.filter((other) => other >= 0),
    );
    this.rows.light(value < 0 ? [] : [value]);
    this.arena.light(life);
  },
};
