// The tools above the panes.

import { h } from "../../core/dom.js";
/** @import { IrExplorer } from "./view.js" */

/** @param {IrExplorer} explorer */
export function createTools(explorer) {
  const { model } = explorer;
  /**
   * @param {string | number} label
   * @param {string} title
   * @param {() => void} run
   */
  const button = (label, title, run, extra = {}) =>
    h(
      "button",
      { class: "btn", type: "button", title, "aria-label": `${label}: ${title}`, onclick: run, ...extra },
      label,
    );
  /** @type {[string, number][]} */
  const choices = [
    ["all", 0],
    ["1", 1],
    ["2", 2],
    ["3", 3],
  ];
  const radii = choices.map(
    ([label, r]) =>
      /** @type {[number, HTMLButtonElement]} */ ([
        r,
        button(
          label,
          r ? `only what is within ${r} edge${r > 1 ? "s" : ""} of the chosen node` : "the whole graph",
          () => explorer.shown.setNear(r),
        ),
      ]),
  );
  const near = h(
    "span",
    { class: "seg wide" },
    "neighbors",
    h(
      "span",
      { class: "group", role: "group", "aria-label": "neighbors shown" },
      radii.map(([, b]) => b),
    ),
  );
  const hasAside = model.aside.some(Boolean);
  const aside = button(
    "weights",
    "show weights and other side inputs in the graph",
    () => explorer.shown.setAside(!explorer.chosen.aside),
    { class: "btn wide" },
  );
  const blocks = model.groups.some((g) => g.kind !== 0 || g.parent >= 0) || model.groups.length > 1;
  const fold = h(
    "span",
    { class: "group wide" },
    button("fold", "fold all blocks", () => explorer.foldAll(true)),
    button("−1", "fold the innermost level", () => explorer.foldLevel(true)),
    button("+1", "open one more level", () => explorer.foldLevel(false)),
    button("unfold", "open all blocks", () => explorer.foldAll(false)),
  );
  const el = h(
    "span",
    { class: "ir-tools" },
    blocks ? fold : null,
    near,
    hasAside ? aside : null,
    h("span", { class: "spring" }),
    h(
      "span",
      { class: "group" },
      button("find", "find (/)", () => explorer.finder.search.open()),
      button("link", "a link to this state", () => explorer.share()),
      button("save", "save or print what is shown", () => explorer.save()),
      button("?", "keys (?)", () => explorer.help()),
    ),
  );

  return {
    el,
    update() {
      const { sel, reach, aside: out } = explorer.chosen;
      const now = reach?.kind === "near" ? reach : null;
      const node = sel >= 0 && sel < model.count;
      for (const [r, b] of radii) {
        b.setAttribute("aria-pressed", String((now?.radius ?? 0) === r));
        b.disabled = r > 0 && !node && !now;
      }
      aside.setAttribute("aria-pressed", String(!out));
    },
  };
}
