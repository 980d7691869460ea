// Two ways to run one program, where both can: the virtual machine, and the graph executor with its storage plan.
import { h } from "../../core/dom.js";
import { formatList } from "../../core/links.js";
import { createTabs } from "../../core/tabs.js";
import { mountMemory } from "../memory/view.js";
/** @import { MachineView } from "../../generated/machine.js" */
/** @import { Context, State } from "../../core/types.js" */

const BINDINGS = [3, 4];
/**
 * The kernels, which are written out in the program, are folded at first: their values never leave them.
 * @param {Pick<MachineView, "rows">} view
 */
const folded = (view) =>
  formatList(view.rows.flatMap((row, i) => (BINDINGS.includes(row.kind) && row.end > i ? [i] : [])));

const FORMS = [
  { id: "vm", label: "virtual machine" },
  { id: "graph", label: "graph executor: storage plan" },
];

/**
 * Mounts `mountMachine(root, view, ctx)`, and the memory explorer of the plan beside it, one at a time.
 * @param {MachineView} view
 * @param {Context} ctx
 */
export function mountForms(root, view, ctx, mountMachine) {
  const stage = h("div", { class: "rx" });
  let drawn = null;
  let form = "";
  /** @param {string} theme */
  const dress = (theme) => {
    stage.dataset.theme = theme;
  };

  /**
   * @param {string} id
   * @param {{}} state
   */
  function show(id, state) {
    form = id;
    drawn?.destroy();
    stage.replaceChildren();
    for (const name of [...stage.getAttributeNames()])
      if (name !== "class" && name !== "data-theme") stage.removeAttribute(name);
    const own = { ...ctx, state: id === "graph" ? { fold: folded(view.plan), ...state } : state };
    drawn = id === "graph" ? mountMemory(stage, view.plan, own) : mountMachine(stage, view, own);
  }

  const tabs = createTabs({
    label: "which executor",
    className: "forms",
    items: FORMS,
    onSelect: (id, byReader) => {
      if (!byReader || id === form) return;
      show(id, {});
      ctx.changed();
    },
  });
  root.classList.add("has-forms");
  root.append(tabs.el, stage);
  dress(root.dataset.theme ?? "light");
  const off = ctx.on("theme", dress);
  /** @param {State} state */
  const wanted = (state) => (state.form === "graph" ? "graph" : "vm");
  tabs.select(wanted(ctx.state));
  show(wanted(ctx.state), ctx.state);

  return {
    token: () => ({ form: form === "graph" ? "graph" : "", ...drawn.token() }),
    restore(state) {
      if (wanted(state) === form) drawn.restore(state);
      else {
        tabs.select(wanted(state));
        show(wanted(state), state);
      }
    },
    destroy() {
      off?.();
      drawn.destroy();
      root.replaceChildren();
    },
  };
}
