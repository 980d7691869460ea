// The wires over the rows: which relation mentions which variable, and which variables are one class.
import { link } from "../../core/curve.js";
import { s } from "../../core/dom.js";
import { UNSEEN, classes } from "./state.js";
/** @import { TypesView } from "../../generated/types.js" */

const LANE = 6;
const LANES = 4;
const SMALL = 48;

/** A lane for each class, so that no two brackets on one lane overlap: `[{ members, lane }]`, nearest first. */
export function lanes(groups, placeOf) {
  const free = [];
  const out = [];
  const spans = groups
    .map((members) =>
      members
        .map((v) => [v, placeOf(v)])
        .filter(([, y]) => y !== null)
        .sort((a, b) => a[1] - b[1]),
    )
    .filter((placed) => placed.length > 1)
    .sort((a, b) => a[0][1] - b[0][1]);
  for (const placed of spans) {
    let lane = free.findIndex((end) => end < placed[0][1]);
    if (lane < 0) lane = free.length;
    free[lane] = placed.at(-1)[1];
    if (lane < LANES) out.push({ placed, lane });
  }
  return out;
}

/**
 * Draws into an SVG laid over `rows.inner`; `draw(state, focus)` redraws for the window, `focus` lights.
 * @param {TypesView} view
 * @param {number} lineHeight
 */
export function createWires(view, rows, { varsOn, relsOn, relsOf }, lineHeight) {
  const svg = s("svg", { class: "wires", "aria-hidden": "true" });
  rows.inner.append(svg);
  const slotV = new Map(varsOn.flatMap((list, row) => list.map((v, i) => [v, [row, i]])));
  const slotR = new Map(relsOn.flatMap((list, row) => list.map((r, i) => [r, [row, i]])));

  function yOf([row, i]) {
    const place = rows.place(row);
    return place && place.top + i * lineHeight + lineHeight / 2;
  }

  let known = null;
  /** Where the columns are: the pills' left and right edges, the boxes' left edge. Measured anew after `moved()`. */
  const edges = () => (known ??= measure());

  function measure() {
    for (const row of rows.window()) {
      const node = rows.node(row);
      const [vars, rels] = [node?.querySelector(".c-vars"), node?.querySelector(".c-rels")];
      if (!vars || !rels || !vars.offsetWidth) continue;
      const origin = rows.inner.getBoundingClientRect().left;
      const [a, b] = [vars.getBoundingClientRect(), rels.getBoundingClientRect()];
      return { left: a.left - origin + 32, right: a.right - origin - 30, rel: b.left - origin };
    }
    return null;
  }

  /**
   * A wire whose other end is outside the window ends in a stub that points to it.
   * @param {boolean} up
   * @param {string} name
   */
  function stub(x, y, up, name) {
    return s("path", {
      class: `wire ${name}`,
      d: `M${x} ${y}C${x - 9} ${y} ${x - 11} ${y + (up ? -4 : 4)} ${x - 11} ${y + (up ? -13 : 13)}`,
    });
  }

  /** @param {string} name */
  function wire(x1, y1, x2, y2, name) {
    return s("path", { class: `wire ${name}`, d: link(x1, y1, x2, y2) });
  }

  function bracket({ placed, lane }, x, lit) {
    const at = x - 6 - lane * LANE;
    const ys = placed.map(([, y]) => y);
    const spine = `M${x} ${ys[0]}H${at + 4}Q${at} ${ys[0]} ${at} ${ys[0] + 4}V${ys.at(-1) - 4}Q${at} ${ys.at(-1)} ${at + 4} ${ys.at(-1)}H${x}`;
    return s("path", {
      class: `same${lit ? " lit" : ""}`,
      d:
        spine +
        ys
          .slice(1, -1)
          .map((y) => `M${at} ${y}H${x}`)
          .join(""),
    });
  }

  /** The relations on the rows in the window, those of the variables there, and those that are lit. */
  function shownRelations(state, focus) {
    const near = new Set(focus.rels);
    for (const row of rows.window()) {
      for (const rel of relsOn[row] ?? []) near.add(rel);
      for (const v of varsOn[row] ?? []) for (const rel of relsOf[v]) near.add(rel);
    }
    return [...near].filter((rel) => slotR.has(rel) && state.rel[rel] !== UNSEEN).sort((a, b) => a - b);
  }

  function draw(state, focus) {
    if (!svg.isConnected) rows.inner.append(svg);
    svg.replaceChildren();
    const x = edges();
    if (!x) return;
    svg.style.height = rows.inner.style.height;
    const [top, bottom] = [rows.port.top - 40, rows.port.top + rows.port.height + 40];
    const far = (y) => y < top || y > bottom;
    const back = [];
    const front = [];
    for (const rel of shownRelations(state, focus)) {
      const to = yOf(slotR.get(rel));
      for (const v of new Set(view.relations[rel].variables)) {
        const from = slotV.has(v) && state.seen[v] ? yOf(slotV.get(v)) : null;
        if (from === null || to === null) continue;
        const hot = focus.rels.has(rel);
        const name = hot ? (focus.hover ? "lit" : "hot") : "";
        if (far(to)) continue;
        (hot ? front : back).push(
          far(from) ? stub(x.rel, to, from < to, name) : wire(x.right, from, x.rel, to, name),
        );
      }
    }
    const all = classes(state);
    const some =
      view.variables.length <= SMALL ? all : all.filter((members) => members.some((v) => focus.vars.has(v)));
    const brackets = lanes(some, (v) => (slotV.has(v) ? yOf(slotV.get(v)) : null));
    svg.append(
      ...back,
      ...front,
      ...brackets.map((b) =>
        bracket(
          b,
          x.left,
          b.placed.some(([v]) => focus.vars.has(v)),
        ),
      ),
    );
  }
  return {
    draw,
    moved: () => {
      known = null;
    },
  };
}
