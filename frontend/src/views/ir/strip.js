// The strip above the graph: where the chosen part is in the program, what belongs to it, and what the colors say.

import { fill, h } from "../../core/dom.js";
import { modesOf } from "../../graph/coloring.js";
/** @import { IrExplorer } from "./view.js" */

/** @param {IrExplorer} explorer */
export function createStrip(explorer) {
  const { model } = explorer;
  const crumbs = h("ol", { class: "crumbs" });
  /**
   * @param {string} label
   * @param {string} title
   * @param {() => void} run
   */
  const button = (label, title, run) =>
    h(
      "button",
      { class: "btn", type: "button", title, "aria-label": `${label}: ${title}`, onclick: run },
      label,
    );
  const up = button("↑ all", "everything from which the chosen node is computed (u)", () =>
    explorer.shown.setReach("up"),
  );
  const down = button("↓ all", "everything that is computed from the chosen node (Shift+u)", () =>
    explorer.shown.setReach("down"),
  );
  const paths = button("paths", "from the chosen node to the next one that you choose (p)", () =>
    explorer.shown.setPaths(),
  );
  const only = button("only", "leave everything else out of the graph (o)", () =>
    explorer.shown.setOnly(!explorer.chosen.only),
  );
  const modes = modesOf(model);
  const colors = h(
    "select",
    {
      class: "colors",
      title: "what the colors say (c)",
      "aria-label": "what the colors say",
      onchange: () => explorer.shown.setColors(colors.value),
    },
    modes.map(({ id, label, about }) => h("option", { value: id, title: about }, label)),
  );
  const el = h(
    "div",
    { class: "ir-strip" },
    h("nav", { "aria-label": "where the chosen part is" }, crumbs),
    h(
      "span",
      { class: "group", role: "group", "aria-label": "what belongs to the chosen node" },
      up,
      down,
      paths,
      only,
    ),
    modes.length > 1 ? colors : null,
    explorer.graph.controls,
  );

  /**
   * @param {number} id
   * @param {string} label
   * @param {boolean} last
   */
  function crumb(id, label, last) {
    const link = h(
      "button",
      { class: "link", type: "button", "aria-current": last ? "true" : null, onclick: () => explorer.go(id) },
      label,
    );
    return h("li", null, link);
  }

  return {
    el,
    modes: modes.map(({ id }) => id),
    update() {
      const { sel, reach, only: alone, anchor, by } = explorer.chosen;
      const node = sel >= 0 && sel < model.count;
      for (const [part, kind] of /** @type {[HTMLButtonElement, string][]} */ ([
        [up, "up"],
        [down, "down"],
        [paths, "paths"],
      ])) {
        part.setAttribute("aria-pressed", String(reach?.kind === kind || (kind === "paths" && anchor >= 0)));
        part.disabled = !node && reach?.kind !== kind;
      }
      only.disabled = !reach || reach.kind === "near";
      only.setAttribute("aria-pressed", String(Boolean(alone && reach)));
      colors.value = by;
      const path = pathOf(model, sel);
      fill(
        crumbs,
        crumb(-1, "program", !path.length),
        path.map((id, i) =>
          crumb(
            id,
            id < model.count ? model.name(id) || model.label(id) : model.groups[id - model.count].label,
            i === path.length - 1,
          ),
        ),
      );
      crumbs.scrollLeft = crumbs.scrollWidth;
    },
  };
}

/**
 * The groups around an item, outermost first, and itself; the function around everything is the program.
 * @param {number} id
 */
export function pathOf(model, id) {
  const { groups, group, count } = model;
  const path = [];
  if (id < 0) return path;
  for (let g = id < count ? group[id] : id - count; g >= 0; g = groups[g].parent) path.unshift(count + g);
  if (
    path.length &&
    groups[path[0] - count].kind === 0 &&
    groups.filter((g) => g.kind === 0 && g.parent < 0).length === 1
  )
    path.shift();
  if (id < count) path.push(id);
  return path;
}
