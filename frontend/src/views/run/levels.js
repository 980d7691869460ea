// One kernel of the run at every level: a choice of the kernels that the page has so, and the explorer of the chosen one.
import { fill, h, text } from "../../core/dom.js";
import { LATER } from "../../core/later.js";
import { mountLowering } from "../lowering/view.js";
import { percent } from "./model.js";
/** @import { RunExplorer } from "./view.js" */

export class KernelLevels {
  /** Stops listening for problems of Python. @type {() => void} */
  stop = LATER;

  /** @param {RunExplorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.opened = -1; // the kernel whose levels are drawn
    this.inner = null;
    this.choices = h("div", {
      class: "lowering-ops",
      role: "group",
      "aria-label": "kernels that this page shows at every level",
    });
    this.host = h("div", { class: "run-inner" });
    this.el = h("div", { class: "run-levels" }, this.choices, this.host);
  }

  /**
   * @param {number} kernel
   * @param {{}} state
   */
  open(kernel, state) {
    const { explorer } = this;
    const { levels, kernels } = explorer.model;
    const to = kernel >= 0 ? kernel : ([...levels.keys()][0] ?? -1);
    explorer.kernel = to;
    const chip = (index) => {
      const { rule } = kernels[index];
      return h(
        "button",
        {
          class: "op-chip",
          type: "button",
          "aria-pressed": index === to,
          title: kernels[index].name,
          style: { "--hue": `var(--hue-${rule.hue})`, "--fill": `var(--hue-${rule.hue}-fill)` },
          onclick: () => explorer.open(index, true),
        },
        h("span", { class: "op-badge" }, String(index + 1)),
        h("span", null, `${percent(kernels[index].share)} of the run`),
      );
    };
    fill(this.choices, h("span", { class: "what" }, "kernels"), [...levels.keys()].map(chip));
    explorer.light();
    if (this.opened === to && this.inner && levels.has(to)) {
      if (Object.keys(state).length > 0) this.inner.restore(state);
      return;
    }
    this.close();
    this.opened = to;
    if (!levels.has(to)) {
      if (to >= 0 && this.ask(to)) return;
      fill(
        this.host,
        h(
          "p",
          { class: "run-none" },
          to < 0
            ? "This page shows no kernel at every level."
            : `This page does not show kernel ${to + 1} at every level. It shows: ${[...levels.keys()].map((n) => n + 1).join(", ") || "none"}. In a notebook, explore takes kernel="${kernels[to].name}" for this one.`,
        ),
      );
      return;
    }
    const root = h("div", { class: "run-kernel" });
    fill(this.host, root);
    this.inner = mountLowering(root, levels.get(to), { ...explorer.ctx, state });
  }

  /**
   * In a notebook, Python makes the levels of one more kernel; the answer is a new view, which opens here.
   * @param {number} kernel
   */
  ask(kernel) {
    const { view, ctx } = this.explorer;
    if (!view.live || !ctx.ask) return false;
    const told = h(
      "p",
      { class: "run-none", role: "status" },
      `Python is lowering kernel ${kernel + 1}. This takes a second or two.`,
    );
    fill(this.host, told);
    this.stop?.();
    this.stop = ctx.on("problem", (problem) => {
      if (problem) text(told, problem);
    });
    // The state, which names the kernel, is sent a moment after a change: the new view begins with it.
    setTimeout(() => ctx.ask({ kernel }), 400);
    return true;
  }

  close() {
    this.inner?.destroy();
    this.inner = null;
    this.opened = -1;
    fill(this.host);
  }

  focus() {
    const shown = /** @type {HTMLElement} */ (this.host.firstElementChild ?? this.host);
    shown.focus?.({ preventScroll: true });
  }

  destroy() {
    this.stop?.();
    this.close();
  }
}
