// The legend of the graph's colors, which also filters: pressing an entry leaves its nodes in full color and fades the others.

import { fill, h } from "../../core/dom.js";
import { familyMark } from "./details.js";
/** @import { IrExplorer } from "./view.js" */

/** @param {IrExplorer} explorer */
export function createLegend(explorer) {
  const { model } = explorer;
  const el = h("div", { class: "ir-legend", role: "group" });
  /** @type {[number, HTMLElement][]} */
  let buttons = [];
  let drawn = null;

  function build() {
    const { coloring } = explorer.shown,
      counts = new Map();
    for (let i = 0; i < model.count; i++) {
      const at = coloring.classOf(i);
      counts.set(at, (counts.get(at) ?? 0) + 1);
    }
    // A scale is shown whole; of operators and devices, those that occur.
    const shown = coloring.unit ? coloring.classes.keys() : counts.keys();
    buttons = [...shown]
      .sort((a, b) => a - b)
      .filter((at) => coloring.classes[at])
      .map((at) => {
        const entry = coloring.classes[at];
        return [
          at,
          h(
            "button",
            {
              class: "fam-btn",
              type: "button",
              "aria-pressed": "false",
              title: `only ${entry.name}`,
              onclick: () => {
                const next = new Set(explorer.chosen.classes);
                if (!next.delete(at)) next.add(at);
                explorer.shown.setClasses(next);
              },
            },
            entry.hue
              ? familyMark(entry)
              : h("i", { class: "heat", style: { background: `var(--heat-${entry.heat})` } }),
            entry.name,
            coloring.unit ? null : h("small", null, counts.get(at)),
          ),
        ];
      });
    el.setAttribute("aria-label", `colors: ${coloring.about}; press one to fade the others`);
    fill(
      el,
      coloring.unit ? h("span", { class: "soft" }, `share of all ${coloring.label}`) : null,
      buttons.map(([, button]) => button),
    );
    drawn = coloring;
  }

  return {
    el,
    update() {
      if (drawn !== explorer.shown.coloring) build();
      for (const [at, button] of buttons)
        button.setAttribute("aria-pressed", String(explorer.chosen.classes.has(at)));
    },
  };
}
