// In a notebook, runs the program again with other arguments or another limit. The kernel answers with a new view.
import { h } from "../../core/dom.js";
/** @import { EvaluationView } from "../../generated/evaluation.js" */
/** @import { Context } from "../../core/types.js" */

/**
 * Returns the function that opens the form; null where there is no kernel to answer.
 * @param {EvaluationView} view
 * @param {Context} ctx
 */
export function createAsk(view, ctx, shell) {
  if (!view.live || !ctx.ask) return null;
  const { limit, args } = view.live;
  return () => {
    const fields = args.map(({ name, text: value }) =>
      h("input", { type: "text", value, "aria-label": `argument ${name}`, spellcheck: "false" }),
    );
    const most = h("input", {
      type: "number",
      min: 1,
      step: 1,
      value: limit,
      "aria-label": "steps to record",
    });
    const told = h("p", { class: "notice", role: "alert", hidden: true });
    const stop = ctx.on("problem", (problem) => {
      told.hidden = !problem;
      told.textContent = problem;
    });
    const send = (event) => {
      event.preventDefault();
      told.hidden = true;
      ctx.ask({
        limit: Math.max(1, Math.round(Number(most.value)) || limit),
        args: fields.map((field) => field.value),
      });
    };
    const form = h(
      "form",
      { class: "ask-form", onsubmit: send },
      args.map(({ name }, i) => h("label", null, h("code", null, name), fields[i])),
      h("label", null, "steps to record", most),
      h("button", { class: "btn", type: "submit" }, "run"),
      told,
    );
    shell.popover("Run again", [form], stop);
  };
}
