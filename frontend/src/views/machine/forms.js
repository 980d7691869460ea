// Two ways to run one program, where both can: the virtual machine, and the graph executor with its storage plan.
import { mountForms } from "../../core/forms.js";
import { formatList } from "../../core/links.js";
import { mountMemory } from "../memory/view.js";
/** @import { MachineView } from "../../generated/machine.js" */
/** @import { Context, Mount } from "../../core/types.js" */

const BINDINGS = [3, 4];
/**
 * The kernels, which are written out in the program, are folded at first: their values never leave them.
 * @param {Pick<MachineView, "rows">} view
 */
const folded = (view) =>
  formatList(view.rows.flatMap((row, i) => (BINDINGS.includes(row.kind) && row.end > i ? [i] : [])));

/**
 * Mounts `mountMachine(root, view, ctx)`, and the memory explorer of the plan beside it.
 * @param {HTMLElement} root
 * @param {MachineView} view
 * @param {Context} ctx
 * @param {Mount} mountMachine
 */
export const mountExecutors = (root, view, ctx, mountMachine) =>
  mountForms(root, ctx, {
    label: "which executor",
    key: "form",
    forms: [
      { id: "vm", label: "virtual machine", mount: (stage, own) => mountMachine(stage, view, own) },
      {
        id: "graph",
        label: "graph executor: storage plan",
        mount: (stage, own) =>
          mountMemory(stage, /** @type {any} */ (view.plan), {
            ...own,
            state: { fold: folded(/** @type {any} */ (view.plan)), ...own.state },
          }),
      },
    ],
  });
