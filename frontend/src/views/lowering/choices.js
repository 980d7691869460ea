// The buttons above the levels: an operator of the kernel, and one of the two codes.
import { h } from "../../core/dom.js";
import { badge } from "./panels.js";
/** @import { LoweringExplorer } from "./view.js" */

/** @param {LoweringExplorer} explorer */
export function operatorChips(explorer) {
  return explorer.model.operators.map((operator) =>
    h(
      "button",
      {
        class: "op-chip",
        type: "button",
        "aria-pressed": false,
        title: operator.detail || operator.name,
        style: { "--hue": `var(--hue-${operator.hue})`, "--fill": `var(--hue-${operator.hue}-fill)` },
        onclick: () => explorer.toggle(operator.index),
        onpointerenter: () => explorer.point([operator.index]),
        onpointerleave: () => explorer.point(null),
      },
      badge(operator),
      h("span", null, operator.name),
    ),
  );
}

/**
 * Where there is room for one of the two codes, which one.
 * @param {LoweringExplorer} explorer
 * @param {{ relay: string; te: string; loops: string; code: string; }} titles
 */
export function addSwitches(explorer, titles) {
  return ["ir", "code"].flatMap((at) => {
    const buttons = ["ir", "code"].map((level) =>
      h(
        "button",
        {
          class: "lv-switch",
          type: "button",
          "data-level": level,
          onclick: () => {
            explorer.tabs.select(level, true);
            explorer.panels[level].el.querySelector(".lv-switch[aria-pressed=true]")?.focus();
          },
        },
        titles[level],
      ),
    );
    explorer.panels[at].head.prepend(
      h("span", { class: "lv-switches", role: "group", "aria-label": "which code" }, buttons),
    );
    return buttons;
  });
}
