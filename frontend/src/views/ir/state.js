// The state of the explorer as a token's object, and back. Unknown keys and bad values are ignored.

import { formatList, integer, parseList } from "../../core/links.js";
import { formatReach, parseNear, parseReach, reachedBy } from "./reach.js";
/** @import { IrExplorer } from "./view.js" */
/** @import { State } from "../../core/types.js" */

const same = (a, b) => a.size === b.size && [...a].every((x) => b.has(x));

/** @param {IrExplorer} explorer */
export function writeState(explorer) {
  const { chosen, model, startFolds, graph, tabs, finder } = explorer;
  const { query, scope, only } = finder.search.state();
  const { k, x, y } = graph.camera,
    [w, height] = graph.size();
  const looked = graph.placed && !graph.atFit && w > 0;
  return {
    sel: chosen.sel < 0 ? "" : chosen.sel < model.count ? chosen.sel : `g${chosen.sel - model.count}`,
    fold: same(chosen.folded, startFolds) ? "" : formatList(chosen.folded) || "none",
    near: chosen.reach?.kind === "near" ? `${chosen.reach.root}.${chosen.reach.radius}` : "",
    reach: formatReach(chosen.reach),
    part: chosen.only && chosen.reach ? 1 : "",
    weights: chosen.aside === explorer.startAside ? "" : chosen.aside ? "0" : "1",
    by: chosen.by === "family" ? "" : chosen.by,
    fam: formatList(chosen.classes),
    zoom: looked
      ? [k.toFixed(3), Math.round((w / 2 - x) / k), Math.round((height / 2 - y) / k)].join("_")
      : "",
    tab: tabs.selected === "graph" ? "" : tabs.selected,
    q: query,
    in: query && scope !== "all" ? scope : "",
    only: only ? 1 : "",
  };
}

/**
 * @param {IrExplorer} explorer
 * @param {State} state
 */
export function readState(explorer, state) {
  const { chosen, model, startFolds } = explorer;
  const count = model.groups.length;
  explorer.startAside ??= chosen.aside;
  chosen.sel = chosenId(state.sel, model);
  chosen.reach = parseReach(state.reach, model) ?? parseNear(state.near, model);
  chosen.only = chosen.reach !== null && state.part === "1";
  chosen.anchor = -1;
  explorer.shown.reached = chosen.reach && reachedBy(model, chosen.reach);
  chosen.aside = state.weights === "1" ? false : state.weights === "0" ? true : explorer.startAside;
  const folded =
    state.fold === undefined || state.fold === ""
      ? startFolds
      : new Set(parseList(state.fold === "none" ? "" : state.fold).filter((g) => g < count));
  explorer.rows.setFolded(explorer.program.lists);
  explorer.finder.restore(state);
  explorer.setFolded(new Set(folded));
  explorer.shown.setColors(state.by ?? "family");
  explorer.shown.setClasses(
    new Set(parseList(state.fam).filter((at) => at < explorer.shown.coloring.classes.length)),
  );
  explorer.tabs.select(["program", "graph", "details"].includes(state.tab) ? state.tab : "graph");
  explorer.open(chosen.sel);
  if (chosen.sel < 0) explorer.graph.fit();
  explorer.select(chosen.sel, { quiet: true });
  look(explorer, state.zoom);
  explorer.tools.update();
}

/** @param {string} text */
function chosenId(text, model) {
  const group = /^g(\d{1,9})$/.exec(text ?? "");
  if (group) return Number(group[1]) < model.groups.length ? model.count + Number(group[1]) : -1;
  const id = integer(text, -1);
  return id >= 0 && id < model.count ? id : -1;
}

/**
 * @param {IrExplorer} explorer
 * @param {string} text
 */
function look({ graph }, text) {
  const match = /^(\d{1,2}(?:\.\d{1,6})?)_(-?\d{1,8})_(-?\d{1,8})$/.exec(text ?? "");
  if (match) graph.lookAt(Number(match[1]), Number(match[2]), Number(match[3]));
}
