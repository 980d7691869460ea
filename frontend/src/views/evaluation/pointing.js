// What a pointer does in values, frames and the heap: a part of the EvaluationExplorer.
import { closestTo } from "../../core/dom.js";

export const pointing = {
  /** @param {PointerEvent} event */
  clicked(event) {
    /** @param {string} name */
    const hit = (name) => closestTo(event, `[data-${name}]`)?.dataset[name];
    const object = hit("object");
    if (object !== undefined) this.ask("object", Number(object));
    else if (hit("step") !== undefined) this.jump(Number(hit("step")));
    else if (hit("frame") !== undefined) this.showFrame(Number(hit("frame")));
    else if (hit("follow") !== undefined) this.go(this.step);
    else if (closestTo(event, ".link[data-row]"))
      this.rows.select(Number(hit("row")), { byReader: true, focus: true });
  },

  /**
   * Linked highlighting: the same value wherever it stands.
   * @param {PointerEvent | FocusEvent} event
   */
  hovered(event) {
    const id = closestTo(event, "[data-object]")?.dataset.object ?? null;
    // A <title> inside a box would be read as part of what is written in it.
    this.heap.title = closestTo(event, ".box")?.dataset.said ?? "";
    if (id === this.lit) return;
    this.lit = id;
    for (const node of this.root.querySelectorAll("[data-object].is-lit")) node.classList.remove("is-lit");
    if (id !== null)
      for (const node of this.root.querySelectorAll(`[data-object="${Number(id)}"]`))
        node.classList.add("is-lit");
  },
};
