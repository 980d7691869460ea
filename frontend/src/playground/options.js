// The options of a view: the passes of a pipeline in their order, the arguments of @main, and how many steps are recorded.
import { fill, h } from "../core/dom.js";
/** @import { Description, Options } from "./types.js" */

const LIMITS = ["200", "1000", "5000", "20000"];
const NARROW = "(max-width: 620px)"; // as in style.css
/** The types of arguments that the page fills in. */
const FILLED = /^(Tensor|float|int|uint|bool)/;

/**
 * The names of a pipeline as texts: split at the commas outside parentheses and quotes.
 * @param {string} text
 */
export function splitPasses(text) {
  const parts = [];
  let depth = 0;
  let quote = "";
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quote) quote = c === quote ? "" : quote;
    else if (c === '"' || c === "'") quote = c;
    else if ("([{".includes(c)) depth++;
    else if (")]}".includes(c)) depth--;
    else if (c === "," && depth <= 0) {
      parts.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  parts.push(text.slice(start).trim());
  return parts.filter(Boolean);
}

export class ViewOptions {
  /** @type {Options} */
  values = {};
  /** @type {string[]} */
  names = [];
  /** @type {[string, string][]} */
  params = [];

  /**
   * @param {Description} description
   * @param {() => void} onChange
   */
  constructor(description, onChange) {
    this.description = description;
    this.onChange = onChange;
    this.el = h("div", { class: "options" });
    /** Whether the reader opened or closed the settings of a run. @type {boolean | undefined} */
    this.opened = undefined;
  }

  /**
   * @param {string} view
   * @param {Options} [values]
   */
  set(view, values) {
    if (values) this.values = { ...values };
    this.names = this.description.views.find(({ name }) => name === view)?.options ?? [];
    if (this.names.includes("passes") && !this.values.passes) this.values.passes = "FuseOps";
    this.draw();
  }

  /**
   * The parameters of @main, which the answers tell.
   * @param {[string, string][]} params
   */
  setParams(params) {
    if (JSON.stringify(params) === JSON.stringify(this.params)) return;
    this.params = params;
    if (this.names.includes("args")) this.draw();
  }

  /** What the view takes of the values. @returns {Options} */
  get chosen() {
    return Object.fromEntries(Object.entries(this.values).filter(([name]) => this.names.includes(name)));
  }

  draw() {
    fill(
      this.el,
      this.names.includes("passes") && this.passes("passes", "Passes"),
      this.names.includes("against") && this.values.passes && this.passes("against", "Compare with"),
      this.settings(),
    );
    this.el.hidden = !this.el.childElementCount;
  }

  /** @param {Options} values */
  change(values) {
    Object.assign(this.values, values);
    this.onChange();
  }

  /**
   * @param {"passes" | "against"} option
   * @param {string} label
   */
  passes(option, label) {
    const list = splitPasses(this.values[option] ?? "");
    const put = (/** @type {string[]} */ passes, focus = -1) => {
      this.change({ [option]: passes.join(", ") });
      this.draw();
      if (focus >= 0)
        /** @type {HTMLElement | undefined} */ (
          this.el.querySelectorAll(`[data-option="${option}"] input`)[focus]
        )?.focus();
    };
    const swap = (/** @type {number} */ i, /** @type {number} */ j) => {
      const next = [...list];
      [next[i], next[j]] = [next[j], next[i]];
      put(next, j);
    };
    /** @type {HTMLSelectElement} */
    const add = h(
      "select",
      {
        "aria-label": `add a pass: ${label.toLowerCase()}`,
        onchange: () => add.value && put([...list, add.value], list.length),
      },
      h(
        "option",
        { value: "" },
        list.length ? "add a pass …" : option === "against" ? "another pipeline …" : "choose a pass …",
      ),
      this.description.passes.map(({ usage, summary }) => {
        const name = usage.replace(/\(.*/, "");
        return h("option", { value: name, title: `${usage}: ${summary}` }, name);
      }),
    );
    return h(
      "fieldset",
      { "data-option": option },
      h("legend", null, label),
      h(
        "ol",
        { class: "passes" },
        list.map((text, i) =>
          h(
            "li",
            null,
            h("input", {
              value: text,
              "aria-label": `pass ${i + 1}`,
              title: this.describe(text),
              spellcheck: "false",
              size: Math.max(8, text.length),
              onchange: (/** @type {Event} */ event) =>
                put(
                  list.map((old, k) =>
                    k === i ? /** @type {HTMLInputElement} */ (event.target).value.trim() : old,
                  ).filter(Boolean),
                ),
            }),
            h("button", { class: "btn", type: "button", disabled: i === 0, "aria-label": `move ${text} forward`, onclick: () => swap(i, i - 1) }, "←"),
            h("button", { class: "btn", type: "button", disabled: i === list.length - 1, "aria-label": `move ${text} back`, onclick: () => swap(i, i + 1) }, "→"),
            h("button", { class: "btn", type: "button", "aria-label": `remove ${text}`, onclick: () => put(list.filter((_, k) => k !== i)) }, "✕"),
          ),
        ),
      ),
      add,
    ); // prettier-ignore
  }

  /** @param {string} text */
  describe(text) {
    const name = text.replace(/\(.*/, "");
    const pass = this.description.passes.find(({ usage }) => usage.replace(/\(.*/, "") === name);
    return pass ? `${pass.usage}: ${pass.summary}` : "";
  }

  /** The settings of a run: folded on a narrow page, unless the program cannot run without them. */
  settings() {
    const args = this.names.includes("args") && this.args();
    const limit = this.names.includes("limit") && this.limit();
    if (!args && !limit) return null;
    const needed =
      args && (this.values.args?.some(Boolean) || this.params.some(([, type]) => !FILLED.test(type)));
    const narrow = window.matchMedia(NARROW).matches;
    /** @type {HTMLDetailsElement} */
    const details = h(
      "details",
      { class: "settings", open: this.opened ?? (needed || !narrow) },
      h(
        "summary",
        { onclick: () => (this.opened = !details.open) },
        args && limit ? "Arguments and steps" : args ? "Arguments of @main" : "Steps",
      ),
      args,
      limit,
    );
    return details;
  }

  args() {
    if (!this.params.length) return null;
    const values = this.values.args ?? [];
    return h(
      "div",
      { class: "args", role: "group", "aria-label": "arguments of @main" },
      this.params.map(([name, type], i) =>
        h(
          "label",
          { class: "arg" },
          h("span", null, h("code", null, `%${name}`), h("span", { class: "type" }, type && `: ${type}`)),
          h("input", {
            value: values[i] ?? "",
            placeholder: FILLED.test(type) ? "filled in" : "required",
            title: "a number, nested lists such as [[1, 2], [3, 4]], or a Relay expression",
            spellcheck: "false",
            maxlength: 2000,
            oninput: (/** @type {Event} */ event) => {
              const args = this.params.map((_, k) => this.values.args?.[k] ?? "");
              args[i] = /** @type {HTMLInputElement} */ (event.target).value;
              this.change({ args });
            },
          }),
        ),
      ),
    );
  }

  limit() {
    const now = this.values.limit ?? "";
    /** @type {HTMLSelectElement} */
    const select = h(
      "select",
      { onchange: () => this.change({ limit: select.value }) },
      h("option", { value: "", selected: now === "" }, "the default number"),
      LIMITS.map((value) => h("option", { value, selected: now === value }, value)),
    );
    return h("label", { class: "limit" }, "Recorded steps ", select);
  }
}
