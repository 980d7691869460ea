// Both graphs side by side: what corresponds is chosen, lit and moved together. What differs has its sign before its
// label, and what is equal is faded.
import { h } from "../../core/dom.js";
import { createGraph } from "../../graph/draw.js";
import { layout, relayout } from "../../graph/layout.js";
import { createModel } from "../../graph/model.js";
import { asideAtStart, foldAtStart, specOf } from "../ir/spec.js";
import { FATES, KEPT } from "./marks.js";
import { otherSide } from "./model.js";
/** @import { CompareModel, SideName } from "./model.js" */
/** @import { Context } from "../../core/types.js" */

/**
 * `hooks`: `select(side, node)` and `hover(side, node)`, with -1 for none. Returns `{ el, show(), choose(nodes, still),
 * light(side, node), fit(), destroy() }`; nothing is laid out before the first `show()`.
 * @param {CompareModel} model
 * @param {Context} ctx
 * @param {{ select: (side: SideName, node: number) => void, hover: (side: SideName, node: number) => void }} hooks
 */
export function createGraphs(model, ctx, hooks) {
  const panes = { a: h("section", { class: "pane-graph" }), b: h("section", { class: "pane-graph" }) };
  const el = h("div", { class: "ir compare-graphs" }, panes.a, panes.b);
  /** @type {Record<SideName, GraphSide> | null} */
  let graphs = null;
  let chosen = /** @type {Record<SideName, number> | null} */ (null);
  let following = false;

  /** @param {SideName} side */
  function moved(side) {
    if (following || !graphs) return;
    following = true;
    follow(graphs[side], graphs[otherSide(side)], model.partners[side]);
    following = false;
  }

  function show() {
    if (graphs) return;
    const make = (/** @type {SideName} */ side) =>
      new GraphSide(model, ctx, side, {
        select: (node) => hooks.select(side, node),
        hover: (node) => hooks.hover(side, node),
        moved: () => moved(side),
      });
    const both = { a: make("a"), b: make("b") };
    for (const side of /** @type {SideName[]} */ (["a", "b"]))
      panes[side].append(
        h(
          "div",
          { class: "heading" },
          h("span", null, `${side.toUpperCase()}: ${model.sides[side].title}`),
          both[side].graph.controls,
        ),
        both[side].graph.el,
      );
    graphs = both;
    graphs.a.draw();
    graphs.b.draw();
    if (chosen) choose(chosen);
  }

  /**
   * Chooses a node of each program, -1 for none, and brings them into the windows, but not that in `still`.
   * @param {Record<SideName, number>} nodes
   * @param {SideName | ""} still
   */
  function choose(nodes, still = "") {
    chosen = nodes;
    if (!graphs) return;
    following = true;
    for (const side of /** @type {SideName[]} */ (["a", "b"]))
      graphs[side].select(nodes[side], side !== still);
    following = false;
  }

  /**
   * @param {SideName} side
   * @param {number} node
   */
  function light(side, node) {
    graphs?.[side].light(node);
    graphs?.[otherSide(side)].light(node < 0 ? -1 : model.partners[side][node]);
  }

  return {
    el,
    show,
    choose,
    light,
    get graphs() {
      return graphs;
    },
    destroy() {
      graphs?.a.graph.destroy();
      graphs?.b.graph.destroy();
    },
  };
}

/** The graph of one program. */
class GraphSide {
  /**
   * @param {CompareModel} model
   * @param {Context} ctx
   * @param {SideName} side
   * @param {{ select: (node: number) => void, hover: (node: number) => void, moved: () => void }} hooks
   */
  constructor(model, ctx, side, hooks) {
    this.model = model;
    this.side = side;
    const own = createModel(model.sides[side]);
    const { label } = own;
    /** @param {number} node */
    own.label = (node) => {
      const { sign } = FATES[model.fateOf(side, node)];
      return sign ? `${sign} ${label(node)}` : label(node);
    };
    this.own = own;
    this.folded = foldAtStart(own);
    this.aside = asideAtStart(own);
    this.placed = null;
    const node = (/** @type {number} */ id) => (id < own.count ? id : -1);
    this.graph = createGraph({
      model: own,
      ctx,
      hooks: {
        select: (/** @type {number} */ id) =>
          id < own.count ? hooks.select(id) : this.toggle(id - own.count),
        hover: (/** @type {number} */ id) => hooks.hover(node(id)),
        toggle: (/** @type {number} */ group) => this.toggle(group),
        describe: (/** @type {number} */ id) => this.describe(id),
        tip: (/** @type {number} */ id) =>
          [this.describe(id), id < own.count ? own.type(id) : ""].filter(Boolean),
        rank: (/** @type {number} */ group) => own.groups[group]?.first ?? group,
        moved: hooks.moved,
      },
    });
  }

  /** @param {number} id */
  describe(id) {
    const { own, model, side } = this;
    if (id >= own.count) return `${own.groups[id - own.count].label}, folded`;
    const { id: fate, word } = FATES[model.fateOf(side, id)];
    return `${own.name(id)} ${model.sides[side].nodes[id].label}${fate === "kept" ? "" : `, ${word}`}`.trim();
  }

  draw(keep = -1) {
    const { own, folded, aside, model, side } = this;
    const spec = specOf(own, { folded, aside, measure: this.graph.measure });
    this.placed = this.placed ? relayout(this.placed, spec) : layout(spec);
    this.graph.show(this.placed, { keep, label: `graph of ${side.toUpperCase()}` });
    const differs = new Set();
    for (let node = 0; node < own.count; node++)
      if (model.fateOf(side, node) !== KEPT) differs.add(this.placed.rep[node]);
    this.graph.dim((item) => !item.frame && !differs.has(item.id));
  }

  /** @param {number} group */
  toggle(group) {
    if (!this.folded.delete(group)) this.folded.add(group);
    this.draw(this.own.count + group);
  }

  /**
   * @param {number} node
   * @param {boolean} reveal
   */
  select(node, reveal) {
    let opened = false;
    for (let g = node < 0 ? -1 : this.own.group[node]; g >= 0; g = this.own.groups[g].parent)
      opened = this.folded.delete(g) || opened;
    if (opened) this.draw(this.shown(node));
    this.graph.setState({ selected: this.shown(node) });
    if (node >= 0 && reveal) this.graph.reveal(this.shown(node));
  }

  /** @param {number} node */
  light(node) {
    this.graph.setState({ hovered: this.shown(node) });
  }

  /** @param {number} node */
  shown(node) {
    return node < 0 ? -1 : (this.placed?.rep[node] ?? -1);
  }
}

/**
 * Moves the other graph so that what corresponds to the item in the middle of this one is at the same place.
 * @param {GraphSide} from
 * @param {GraphSide} to
 * @param {readonly number[]} partners
 */
function follow(from, to, partners) {
  const [width, height] = from.graph.size();
  if (!from.graph.scene || !to.graph.scene || !width) return;
  const { k, x, y } = from.graph.camera;
  const [cx, cy] = [(width / 2 - x) / k, (height / 2 - y) / k];
  let best = null;
  let near = Infinity;
  for (const item of from.graph.scene.items) {
    if (item.frame || item.id >= from.own.count) continue;
    const partner = partners[item.id];
    const at = partner >= 0 ? to.graph.scene.byId.get(to.shown(partner)) : null;
    const distance = Math.hypot(item.cx - cx, item.y - cy);
    if (!at || distance >= near) continue;
    near = distance;
    best = { item, at };
  }
  if (!best) return;
  const { item, at } = best;
  to.graph.move({ k, x: item.cx * k + x - at.cx * k, y: item.y * k + y - at.y * k }, "zoom");
}
