// What is drawn over the rows: who uses what, in lanes; the arc from the operator in question to its post-dominator;
// and a line for each kernel whose rows are not together.
import { path } from "d3-path";
import { s } from "../../core/dom.js";
import { glyphPath } from "../../core/glyphs.js";
import { rowIndex, rowsAround } from "./lanes.js";
/** @import { FusionModel } from "./model.js" */

/** The first lane's distance from the column's edge, and the distance between lanes. */
const LEFT = 30;
const LANE = 15;
const DOT = 4.6;
const BEND = 24;
/** An arc of less than this is one curve; a longer one runs straight in between. */
const SHORT = 160;
/** The same for the lanes of the kernels. */
const KERNEL_LEFT = 9;
const KERNEL_LANE = 7;

/**
 * `draw({ groups, variant, groupLanes, asked, target, obstacle, way })` draws what is in the window; `moved()` when columns moved.
 * @param {FusionModel} model
 * @param {number} lineHeight
 */
export function createWires(model, rows, lineHeight) {
  const { nodes, lanes, items, drawn } = model;
  const trunksNear = rowIndex(lanes.trunks, ({ node, users }) => [
    nodes[node].row,
    Math.max(...users.map((user) => nodes[user].row)),
  ]);
  const itemsNear = rowIndex(items, ({ row }) => [row, row]);
  const svg = s("svg", { class: "wires fusion-wires", "aria-hidden": "true" });
  rows.inner.append(svg);
  let edges = null;
  let known = false;

  function measure() {
    known = true;
    edges = null;
    for (const row of rows.window()) {
      const node = rows.node(row);
      if (!node) continue;
      const origin = rows.inner.getBoundingClientRect().left;
      /** @param {string} name */
      const left = (name) => {
        const cell = node.querySelector(name);
        return cell?.offsetWidth ? cell.getBoundingClientRect().left - origin : null;
      };
      edges = { uses: left(".c-uses"), kernel: left(".c-kernel") };
      return;
    }
  }

  /**
   * The middle of a row, or null for one that a folded block holds or that the search left out.
   * @param {number} row
   */
  function y(row) {
    const place = rows.place(row);
    return place && place.top + lineHeight / 2;
  }
  const x = (n) => edges.uses + LEFT + lanes.lane.get(n) * LANE;

  /** From a lane at `from` down, then over to a dot. */
  function branch(laneX, fromY, dotX, dotY) {
    const line = path();
    const bend = Math.min(BEND, dotY - fromY);
    line.moveTo(laneX, fromY);
    if (laneX === dotX) line.lineTo(dotX, dotY);
    else {
      line.lineTo(laneX, dotY - bend);
      line.bezierCurveTo(laneX, dotY - bend * 0.4, dotX, dotY - bend * 0.6, dotX, dotY);
    }
    return line.toString();
  }

  function trunkPaths(trunk, hot, far) {
    const from = y(nodes[trunk.node].row);
    if (from === null) return [];
    const at = x(trunk.node);
    return trunk.users.flatMap((user) => {
      const to = y(nodes[user].row);
      if (to === null || to <= from || far(from, to)) return [];
      const on = hot.has(trunk.node) && hot.has(user);
      return [[on, s("path", { class: `use${on ? " hot" : ""}`, d: branch(at, from, x(user), to) })]];
    });
  }

  function dot(n, state) {
    const [at, up] = [x(n), y(nodes[n].row)];
    const name =
      n === state.obstacle ? "obstacle" : n === state.asked ? "asked" : n === state.target ? "target" : "";
    /** @type {SVGElement[]} */
    const out = [
      s("circle", { class: `dot ${name}`, cx: at, cy: up, r: name === "target" ? DOT + 1.6 : DOT }),
    ];
    if (name === "target") out.push(s("circle", { class: "dot target core", cx: at, cy: up, r: 2.4 }));
    if (name === "obstacle")
      out.push(s("path", { class: "obstacle-cross", d: glyphPath("cross", at, up, 5) }));
    return out;
  }

  /** The dashed arc on the left, with a head that points at the target. */
  function arc(asked, target) {
    if (!drawn(asked) || !drawn(target)) return [];
    const [from, to] = [y(nodes[asked].row), y(nodes[target].row)];
    if (from === null || to === null || from === to) return [];
    const [x1, x2] = [x(asked) - DOT - 3, x(target) - DOT - 5];
    const out = edges.uses + 4;
    const line = path();
    const bow = 60;
    const down = to > from ? 1 : -1;
    line.moveTo(x1, from);
    if (Math.abs(to - from) < SHORT)
      line.bezierCurveTo(out - 4, from + down * 4, out - 4, to - down * 4, x2, to);
    else {
      line.bezierCurveTo(out, from + down * bow * 0.1, out, from + down * bow * 0.4, out, from + down * bow);
      line.lineTo(out, to - down * bow);
      line.bezierCurveTo(out, to - down * bow * 0.4, out, to - down * bow * 0.1, x2, to);
    }
    return [
      s("path", { class: "dominator", d: line.toString() }),
      s("path", { class: "dominator head", d: `M${x2 + 1} ${to}l-7.5 ${-3.4 - down}l2.2 ${3.4}l-1 ${4}Z` }),
    ];
  }

  /** The groups that are not together: a line along all their rows, a foot at each. */
  function kernelLines({ groups, variant, groupLanes }, far) {
    const out = [];
    for (const [root, lane] of groupLanes) {
      const at = edges.kernel + KERNEL_LEFT + lane * KERNEL_LANE;
      const ys = groups.members[root]
        .filter(drawn)
        .map((n) => y(nodes[n].row))
        .filter((up) => up !== null)
        .sort((a, b) => a - b);
      if (ys.length < 2 || far(ys[0], ys.at(-1))) continue;
      const name = `kernel-line k${variant.tint[root]}`;
      out.push(
        s("path", { class: name, d: `M${at} ${ys[0]}V${ys.at(-1)}` }),
        s("path", { class: `${name} foot`, d: ys.map((up) => `M${at} ${up - 9}v18`).join("") }),
      );
    }
    return out;
  }

  function draw(state) {
    if (!svg.isConnected) rows.inner.append(svg);
    svg.replaceChildren();
    if (!known) measure();
    if (!edges) return;
    svg.style.height = rows.inner.style.height;
    const { top: from, height } = rows.port;
    const [top, bottom] = [from - 60, from + height + 60];
    const far = (a, b) => b < top || a > bottom;
    if (edges.uses !== null) {
      const hot = new Set(state.way);
      const around = rowsAround(rows);
      const wires = trunksNear(...around)
        .flatMap((trunk) => trunkPaths(trunk, hot, far))
        .sort((a, b) => Number(a[0]) - Number(b[0]));
      svg.append(
        ...wires.map(([, wire]) => wire),
        ...(state.target >= 0 ? arc(state.asked, state.target) : []),
      );
      for (const { node, row } of itemsNear(...around)) {
        const at = y(row);
        if (at !== null && !far(at, at)) svg.append(...dot(node, state));
      }
    }
    if (edges.kernel !== null) svg.append(...kernelLines(state, far));
  }
  return {
    draw,
    moved: () => {
      known = false;
    },
  };
}
