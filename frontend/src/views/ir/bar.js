// The tools above the panes, and the legend, which also filters.

import { h } from "../../core/dom.js";
import { familyMark } from "./details.js";
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
          () => explorer.setNear(r),
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
    () => explorer.setAside(!explorer.chosen.aside),
    { class: "btn wide" },
  );
  const blocks = model.groups.some((g) => g.kind !== 0 || g.parent >= 0) || model.groups.length > 1;
  const fold = h(
    "span",
    { class: "group wide" },
    button("fold", "fold all blocks", () => explorer.foldAll(true)),
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
      button("?", "keys (?)", () => explorer.help()),
    ),
  );

  return {
    el,
    update() {
      const { sel, near: now, aside: out } = explorer.chosen;
      const node = sel >= 0 && sel < model.count;
      for (const [r, b] of radii) {
        b.setAttribute("aria-pressed", String((now?.radius ?? 0) === r));
        b.disabled = r > 0 && !node && !now;
      }
      aside.setAttribute("aria-pressed", String(!out));
    },
  };
}

/**
 * Families that occur, with how many; pressing one leaves it in full colour and fades the others.
 * @param {IrExplorer} explorer
 */
export function createLegend(explorer) {
  const { model } = explorer,
    counts = new Map();
  for (let i = 0; i < model.count; i++) counts.set(model.family(i), (counts.get(model.family(i)) ?? 0) + 1);
  const buttons = [...counts.keys()]
    .sort((a, b) => a - b)
    .filter((f) => model.families[f])
    .map((f) => {
      const family = model.families[f];
      return [
        f,
        h(
          "button",
          {
            class: "fam-btn",
            type: "button",
            "aria-pressed": "false",
            title: `only ${family.name}`,
            onclick: () => {
              const next = new Set(explorer.chosen.families);
              if (!next.delete(f)) next.add(f);
              explorer.setFamilies(next);
            },
          },
          familyMark(family),
          family.name,
          h("small", null, counts.get(f)),
        ),
      ];
    });
  return {
    el: h(
      "div",
      { class: "ir-legend", role: "group", "aria-label": "operator families: press one to fade the others" },
      buttons.map(([, b]) => b),
    ),
    update() {
      for (const [f, b] of buttons) b.setAttribute("aria-pressed", String(explorer.chosen.families.has(f)));
    },
  };
}
