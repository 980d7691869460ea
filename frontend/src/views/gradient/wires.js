// What is drawn over the rows: who uses what, downwards; and over these uses, upwards, how far the backward pass has gone.
import { path } from "d3-path";
import { s } from "../../core/dom.js";
import { rowIndex, rowsAround } from "../fusion/lanes.js";
/** @import { GradientModel } from "./model.js" */

const LEFT = 18;
const LANE = 15;
const DOT = 4.6;
const BEND = 22;

/**
 * `draw(step)` draws what is in the window; `moved()` when columns moved.
 * @param {GradientModel} model
 * @param {number} lineHeight
 */
export function createWires(model, rows, lineHeight) {
  const { values, lanes, items, steps } = model;
  const trunksNear = rowIndex(lanes.trunks, ({ node, users }) => [
    values[node].row,
    Math.max(...users.map((user) => values[user].row)),
  ]);
  const itemsNear = rowIndex(items, ({ row }) => [row, row]);
  const svg = s("svg", { class: "wires gradient-wires", "aria-hidden": "true" });
  rows.inner.append(svg);
  let left = null;
  let known = false;

  function measure() {
    known = true;
    left = null;
    for (const row of rows.window()) {
      const cell = rows.node(row)?.querySelector(".c-uses");
      if (!cell?.offsetWidth) continue;
      left = cell.getBoundingClientRect().left - rows.inner.getBoundingClientRect().left;
      return;
    }
  }

  /**
   * The middle of a row's first line, or null for one that is not shown.
   * @param {number} v
   */
  function y(v) {
    const place = rows.place(values[v].row);
    return place && place.top + lineHeight / 2;
  }
  /** @param {number} v */
  const x = (v) => left + LEFT + lanes.lane.get(v) * LANE;

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

  /**
   * A use: at rest; gone back; or being gone back now, with a head at the value that is handed something.
   * @param {number} step
   */
  function wires(step, far) {
    const out = [];
    for (const trunk of trunksNear(...rowsAround(rows))) {
      const from = y(trunk.node);
      if (from === null) continue;
      for (const user of trunk.users) {
        const to = y(user);
        if (to === null || to <= from || far(from, to)) continue;
        const went = model.wentBack(trunk.node, user);
        const state = went < 0 ? "idle" : went === step ? "hot" : went < step ? "gone" : "";
        const at = x(trunk.node);
        out.push([state, s("path", { class: `use ${state}`, d: branch(at, from, x(user), to) })]);
        if (state === "hot")
          out.push([state, s("path", { class: "head", d: `M${at} ${from + DOT}l-4.4 8h8.8Z` })]);
      }
    }
    const order = ["idle", "", "gone", "hot"];
    return out.sort((a, b) => order.indexOf(a[0]) - order.indexOf(b[0])).map(([, wire]) => wire);
  }

  /** @param {number} step */
  function draw(step) {
    if (!svg.isConnected) rows.inner.append(svg);
    svg.replaceChildren();
    if (!known) measure();
    if (left === null) return;
    svg.style.height = rows.inner.style.height;
    const { top: from, height } = rows.port;
    const [top, bottom] = [from - 60, from + height + 60];
    const far = (a, b) => b < top || a > bottom;
    svg.append(...wires(step, far));
    const { value: at, to } = steps[step];
    const handed = new Set(to.map(({ value }) => value));
    for (const { node } of itemsNear(...rowsAround(rows))) {
      const up = y(node);
      if (up === null || far(up, up)) continue;
      const state =
        node === at ? "asked" : handed.has(node) ? "target" : model.wholeAt[node] <= step ? "reached" : "";
      svg.append(
        s("circle", { class: `dot ${state}`, cx: x(node), cy: up, r: state === "target" ? DOT + 1.4 : DOT }),
      );
    }
  }
  return {
    draw,
    moved: () => {
      known = false;
    },
  };
}
