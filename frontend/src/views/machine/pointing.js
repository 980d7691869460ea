// What a pointer does in code, registers and memory: a part of the MachineExplorer.
import { closestTo } from "../../core/dom.js";

export const pointing = {
  /** @param {PointerEvent} event */
  clicked(event) {
    const at = closestTo(
      event,
      "[data-object], [data-ins], [data-step], [data-frame], [data-follow], [data-all]",
    );
    if (!at) return;
    const { object, ins, fn, step, frame, follow, all } = at.dataset;
    if (object !== undefined) this.ask("object", Number(object));
    else if (ins !== undefined) this.runTo(fn === undefined ? this.fn.index : Number(fn), Number(ins));
    else if (step !== undefined) this.jump(Number(step));
    else if (frame !== undefined) this.showFrame(Number(frame));
    else if (follow !== undefined) this.go(this.step);
    else if (all !== undefined) {
      this.all = !this.all;
      this.drawSide();
      this.ctx.changed();
    }
  },

  /**
   * On to the next time that an instruction runs.
   * @param {number} number
   * @param {number} fn
   */
  runTo(fn, number) {
    const to = this.run.next(fn, number, this.step);
    if (to >= 0) this.jump(to);
    else {
      this.showFunction(fn);
      this.shell.announce("The recording has no execution of this instruction.");
    }
  },

  /**
   * Linked highlighting: a row and its instructions, an instruction and its rows, a value wherever it stands.
   * @param {PointerEvent | FocusEvent} event
   */
  hovered(event) {
    const ins = closestTo(event, ".vm-line")?.dataset.at;
    if (ins !== undefined) this.rows.mark("linked", this.fn.code[Number(ins)]?.rows ?? []);
    else this.rows.mark("linked", []);
    const id = closestTo(event, "[data-object]")?.dataset.object ?? null;
    if (id === this.lit) return;
    this.lit = id;
    for (const node of this.root.querySelectorAll("[data-object].is-lit")) node.classList.remove("is-lit");
    if (id !== null)
      for (const node of this.root.querySelectorAll(`[data-object="${Number(id)}"]`))
        node.classList.add("is-lit");
  },

  /** @param {number} row */
  light(row) {
    this.rows.mark("hover", row >= 0 ? [row] : []);
    const own = new Set(
      (this.run.fromRow.get(row) ?? [])
        .filter(({ fn }) => fn === this.fn.index)
        .map(({ number }) => String(number)),
    );
    for (const line of this.codePane.querySelectorAll(".vm-line"))
      line.classList.toggle("is-lit", own.has(line.dataset.at));
  },
};
