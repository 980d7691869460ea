// One explorer in several forms, each an explorer of its own: one is there at a time, with its own state.
import { h } from "./dom.js";
import { createTabs } from "./tabs.js";
/** @import { Context, Drawing, State } from "./types.js" */

/** A form: `mount` draws it. @typedef {{ id: string, label: string, mount: (root: HTMLElement, ctx: Context) => Drawing }} Form */

/**
 * Mounts the first form, or the one that the state names: in a token, `key` has the id of any other than the first.
 * `ctx.other()` leads a form to the next one.
 * @param {HTMLElement} root
 * @param {Context} ctx
 * @param {{ label: string, key: string, forms: readonly Form[] }} options
 * @returns {Drawing}
 */
export function mountForms(root, ctx, { label, key, forms }) {
  const stage = h("div", { class: "rx" });
  /** @type {Drawing | null} */
  let drawn = null;
  let form = "";
  /** @param {string} theme */
  const dress = (theme) => {
    stage.dataset.theme = theme;
  };

  /**
   * @param {string} id
   * @param {State} state
   */
  function show(id, state) {
    form = id;
    drawn?.destroy();
    stage.replaceChildren();
    for (const name of stage.getAttributeNames())
      if (name !== "class" && name !== "data-theme") stage.removeAttribute(name);
    const found = forms.find((one) => one.id === id) ?? forms[0];
    drawn = found.mount(stage, { ...ctx, state, other });
  }

  function other() {
    const next = forms[(forms.findIndex(({ id }) => id === form) + 1) % forms.length].id;
    tabs.select(next);
    show(next, {});
    ctx.changed();
    /** @type {HTMLElement | null} */ (stage.querySelector(".rx, [tabindex]"))?.focus({
      preventScroll: true,
    });
  }

  const tabs = createTabs({
    label,
    className: "forms",
    items: forms,
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
  const wanted = (state) => forms.find(({ id }) => id === state[key])?.id ?? forms[0].id;
  tabs.select(wanted(ctx.state));
  show(wanted(ctx.state), ctx.state);

  return {
    token: () => ({ [key]: form === forms[0].id ? "" : form, ...drawn?.token() }),
    restore(state) {
      if (wanted(state) === form) return drawn?.restore(state);
      tabs.select(wanted(state));
      show(wanted(state), state);
    },
    destroy() {
      off?.();
      drawn?.destroy();
      root.replaceChildren();
    },
  };
}
