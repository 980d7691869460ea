// The four levels, each a list of lines: what a line looks like, and the stripe of its operators.
import { closestTo, fill, h } from "../../core/dom.js";
import { tokenElement } from "../../core/operators.js";
import { heads } from "./model.js";
import { wayOf } from "./marks.js";
/** @import { LoweringModel } from "./model.js" */
/**
 * @import { LoweringView } from "../../generated/lowering.js"
 * @param {string[]} hues
 */

const stripes = (hues) => {
  const stops = hues.map(
    (hue, i) => `var(--hue-${hue}) ${(100 * i) / hues.length}% ${(100 * (i + 1)) / hues.length}%`,
  );
  return `linear-gradient(to right, ${stops.join(", ")})`;
};

/**
 * An operator's number in its color.
 */
export const badge = ({ index, hue }) =>
  h(
    "span",
    {
      class: "op-badge",
      style: { "--hue": `var(--hue-${hue})`, "--fill": `var(--hue-${hue}-fill)` },
      "aria-hidden": "true",
    },
    String(index + 1),
  );

/**
 * @param {LoweringModel} model
 * @param {LoweringView} view
 */
export function createPanels(model, view, hooks) {
  /** @param {number[]} owners */
  const names = (owners) => owners.map((owner) => model.operators[owner].name).join(", ");

  /**
   * A line of a level; `first`: the numbers of its operators are written.
   * @param {string} level
   * @param {boolean} first
   * @param {HTMLElement | HTMLSpanElement} content
   * @param {number} at
   * @param {number[]} owners
   */
  function line(level, at, owners, first, content, attributes = {}) {
    const hues = owners.map((owner) => model.operators[owner].hue);
    const stripe = h("span", {
      class: "stripe",
      style: hues.length ? { background: stripes(hues), "--many": String(Math.min(4, hues.length)) } : null,
      "aria-hidden": "true",
    });
    const badges = h(
      "span",
      { class: "badges" },
      first && owners.map((owner) => badge(model.operators[owner])),
    );
    content.setAttribute("role", "gridcell");
    return h(
      "div",
      {
        ...attributes,
        class: `lv-line ${attributes.class ?? ""}`,
        role: "row",
        tabindex: -1,
        "aria-selected": false,
        "data-level": level,
        "data-at": at,
        title: owners.length ? names(owners) : null,
      },
      stripe,
      badges,
      content,
      owners.length > 0 && first && h("span", { class: "sr", role: "gridcell" }, ` (${names(owners)})`),
    );
  }

  function relay() {
    const first = heads(model.relay);
    return model.relay.map(({ row, depth, tokens, owners }) => {
      const parts = tokens.map(({ kind, text }) => tokenElement(view, kind, text, { class: `t${kind}` }));
      return line(
        "relay",
        row,
        owners,
        first[row],
        h("code", { class: "text", style: { "--in": String(depth) } }, parts),
      );
    });
  }

  function te() {
    const first = heads(model.te);
    return model.te.map(({ text, owners }, at) =>
      line("te", at, owners, first[at], h("code", { class: `text${owners.length ? "" : " given"}` }, text)),
    );
  }

  /** @param {number} step */
  function loops(step) {
    return model.steps[step].nest.map((part, at) => {
      const { block, depth, name, text, extent, how, owners, touched } = part;
      const attributes = {
        class: `${block ? "is-block" : "is-loop"}${touched ? " is-touched" : ""} way-${how || "block"}`,
        style: { "--in": String(depth) },
      };
      if (block)
        return line("loops", at, owners, true, h("code", { class: "text" }, text || name), attributes);
      const [sign, word] = wayOf(how);
      const turns = extent < 0 ? "?" : extent.toLocaleString("en");
      const content = h(
        "span",
        { class: "loop" },
        h("span", { class: "sr" }, "loop "),
        h(
          "span",
          { class: "loop-name" },
          (name.match(/[^_]*_|[^_]+/g) ?? []).map((part) => [part, h("wbr")]),
        ),
        h("span", { class: "loop-turns" }, ` × ${turns}`),
        word && h("span", { class: "loop-way" }, h("span", { "aria-hidden": "true" }, sign), ` ${word}`),
        h(
          "span",
          { class: "sr" },
          `, depth ${depth + 1}${touched ? ", what this step is about" : ""} (${names(owners)})`,
        ),
        h("span", {
          class: "loop-bar",
          style: { "--share": String(model.share(extent)) },
          "aria-hidden": "true",
        }),
      );
      return line("loops", at, owners, false, content, attributes);
    });
  }

  /** @param {string} level */
  const code = (level) => () => {
    const { lines, purposes, cut } = model.codes[level];
    const first = heads(lines);
    const rows = lines.map(({ text, purpose, depth, owners }, at) => {
      const kind = purposes[purpose];
      const content =
        purpose < 0
          ? h("code", { class: "text label" }, text)
          : h("code", { class: "text" }, wordsOf(text, kind));
      return line(level, at, owners, first[at], content, {
        style: { "--in": String(depth) },
        class: depth > 0 ? "in-loop" : "",
      });
    });
    if (cut)
      rows.push(
        h(
          "div",
          { class: "lv-line note", role: "row" },
          h("span", { role: "gridcell" }, `… ${cut.toLocaleString("en")} more lines`),
        ),
      );
    return rows;
  };

  /**
   * A line of code with the word in color that says what it does: what it begins with, or, in LLVM's text, what follows `=`.
   * @param {string} text
   * @param {string} kind
   */
  function wordsOf(text, kind) {
    const [, before, word, rest] = /^((?:%[\w.$-]+ = )?(?:@!?%p\d+ )?)([\w.]+)(.*)$/s.exec(text) ?? [
      null,
      "",
      "",
      text,
    ];
    return [before, h("span", { class: `mnemonic p-${kind}` }, word), rest];
  }

  const made = { relay, te, loops, ir: code("ir"), code: code("code") };
  /** A level as a list that has a line for each part. */
  function panel(level, title, note) {
    const list = h("div", {
      class: "lv-list",
      role: "grid",
      "aria-label": title,
      onfocusin: (event) => hooks.focus(level, closestTo(event, ".lv-line")),
      onclick: (event) => hooks.click(level, closestTo(event, ".lv-line")),
      onpointerover: (event) => hooks.hover(level, closestTo(event, ".lv-line")),
      onpointerleave: () => hooks.hover(level, null),
    });
    const head = h(
      "p",
      { class: "lv-head" },
      h("strong", null, title),
      note && h("span", { class: "lv-note" }, note),
    );
    const el = h("section", { class: `lv-panel lv-${level}`, "aria-label": title }, head, list);
    return {
      el,
      list,
      head,
      /** @param {number} step */
      draw: (step) => {
        fill(list, made[level](step));
        const top = list.firstElementChild;
        if (top) top.tabIndex = 0;
      },
    };
  }
  return { panel };
}
