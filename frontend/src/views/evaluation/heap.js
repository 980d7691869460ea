// The heap: what the frames hold, drawn by identity. A value stands there once, however many names point at it.
import { closestTo, fill, h, s } from "../../core/dom.js";
import { KIND, isObject } from "./run.js";
import { KINDS } from "./marks.js";
import { cut, layout } from "./heap_layout.js";
import { reach, shape } from "./heap_shape.js";
import { keepInView } from "./frames.js";
/** @import { EvaluationView } from "../../generated/evaluation.js" */
/** @import { RecordedRun } from "./run.js" */
/** @import { EvaluationExplorer } from "./view.js" */
/** @import { KeyEvent } from "../../core/types.js" */

const PAST = 4;
const FLAGS = 3;
/** Of what nothing needs any more: so many pictures at most, of so many values at least. */
const OLD = 2;
const OLD_SIZE = 3;
/** Numbers and tensors that a function captured: so many are written in its box. */
const CAPTURED = 3;
const SMALLEST = 0.72;

/**
 * Values with parts: the others are said where they are named.
 * @param {EvaluationView} view
 * @param {number} value
 */
export const structured = (view, value) =>
  isObject(value) && (view.objects[value].parts.length > 0 || view.objects[value].kind === KIND.ref);

/**
 * How heap_shape sees an object at a step.
 * @param {EvaluationView} view
 * @param {RecordedRun} run
 * @param {number} step
 */
function seenBy(view, run, step) {
  const memo = new Map();
  const label = (v) => (isObject(v) ? view.objects[v].label : v);
  /** What has parts, the first few others, and how many more there are. */
  function fewer(parts) {
    const small = (part) => part.id < 0 || view.objects[part.id].parts.length === 0;
    const left = parts.filter(small).slice(CAPTURED);
    return left.length < 2
      ? parts
      : [
          ...parts.filter((part) => !left.includes(part)),
          { name: "", id: -1, text: `+${left.length}`, role: 0 },
        ];
  }

  return (id) => {
    if (memo.has(id)) return memo.get(id);
    const { kind } = view.objects[id];
    // A part may name what appears only later (a function that captured itself by way of another): not before its time.
    const all = run.parts(id, step).map(({ name, value, role }) => ({
      name: kind === KIND.closure ? name : "",
      id: isObject(value) && run.seen(value, step) ? value : -1,
      text: label(value),
      role,
    }));
    const parts = kind === KIND.closure ? fewer(all) : all;
    const past =
      kind === KIND.ref
        ? run
            .held(id, step)
            .slice(0, -1)
            .map(({ value }) => label(value))
        : [];
    const made = {
      id,
      kind,
      label: label(id),
      parts,
      past: past.length > PAST ? ["…", ...past.slice(-PAST)] : past,
    };
    memo.set(id, made);
    return made;
  };
}

/**
 * What the picture starts from, in the order in which it appeared: the arguments, what the frames of the stack hold, and
 * the result. A frame that took another's place (a tail call) brings what the first one there held, so that a list can
 * be seen being used up. Of what nothing needs any more only the largest are kept.
 * @param {EvaluationView} view
 * @param {RecordedRun} run
 * @param {number} step
 * @param {number[]} extra
 * @param {number} frame
 */
function rootsOf(view, run, step, frame, extra = []) {
  const out = new Set();
  const old = new Set();
  /**
   * @param {boolean} always
   * @param {any} value
   */
  const add = (value, always) => {
    if (!structured(view, value) || !run.seen(value, step)) return;
    if (always || !run.consumed(value, step)) out.add(value);
    else old.add(value);
  };
  for (const { value } of view.args) add(value, true);
  for (const at of run.stack(step)) {
    for (const { value } of run.environment(at, step)) add(value, at === frame);
    const first = run.origin(at);
    if (first !== at) for (const { value } of run.environment(first, step)) add(value, false);
  }
  if (frame >= 0) for (const { value } of run.environment(frame, step)) add(value, true);
  for (const { value } of run.events[step]?.names ?? []) add(value, true);
  if (step === view.steps.length - 1 && view.result !== null) add(view.result, true);
  for (const value of extra) add(value, true);
  return [
    ...out,
    ...largest(
      seenBy(view, run, step),
      [...old].filter((value) => !out.has(value)),
    ),
  ].sort((a, b) => a - b);
}

/** The largest of what nothing needs any more. */
function largest(get, old) {
  const { top, holder } = reach(
    get,
    old.sort((a, b) => a - b),
  );
  const size = new Map(top.map((id) => [id, 0]));
  for (const id of holder.keys()) {
    let root = id;
    for (let at = holder.get(id); at >= 0; at = holder.get(at)) root = at;
    size.set(root, size.get(root) + 1);
  }
  return top
    .filter((id) => size.get(id) >= OLD_SIZE)
    .sort((a, b) => size.get(b) - size.get(a) || a - b)
    .slice(0, OLD);
}

/**
 * Object → the names that point at it, in the shown frame.
 * @param {EvaluationView} view
 * @param {RecordedRun} run
 * @param {number} step
 * @param {number} frame
 */
function flags(view, run, step, frame) {
  const out = new Map();
  /**
   * @param {string} name
   * @param {any} value
   */
  const add = (value, name) => {
    if (isObject(value) && name) out.set(value, [...(out.get(value) ?? []), name]);
  };
  if (frame >= 0) for (const { name, value } of run.environment(frame, step)) add(value, run.nameOf(name));
  if (step === view.steps.length - 1 && Number.isInteger(view.result)) add(view.result, "result");
  return out;
}

/**
 * The picture at a step, apart from any drawing: what stands where, and how each value is marked.
 * @param {EvaluationView} view
 * @param {RecordedRun} run
 * @param {number} step
 * @param {number} frame
 */
export function picture(view, run, step, frame, { width, selected = -1 }) {
  const get = seenBy(view, run, step);
  const names = flags(view, run, step, frame);
  const { open, now } = run.opened(step);
  const fresh = new Set(run.events[step]?.objects ?? []);
  const roots = rootsOf(view, run, step, frame, selected >= 0 ? [selected] : []);
  const wanted = new Set(
    [...names.keys(), ...now, ...fresh, ...(selected >= 0 ? [selected] : [])].filter((id) =>
      structured(view, id),
    ),
  );
  const made = shape(get, roots, wanted);
  const state = (id) => {
    const words = [];
    if (now.has(id)) words.push("now");
    else if (open.has(id)) words.push("open");
    else if (run.consumed(id, step)) words.push("gone");
    if (fresh.has(id)) words.push("fresh");
    if (id === selected) words.push("chosen");
    return words;
  };
  const at = layout(made, width);
  const boxed = new Set(at.cells.flatMap((cell) => [cell.id, ...cell.segs.map((seg) => seg.list ?? -1)]));
  return { ...at, left: made.left, names, state, roots, boxed };
}

const SPOKEN = {
  now: "inspected now",
  gone: "no longer needed",
  open: "matched by a waiting frame",
  fresh: "new",
  chosen: "chosen",
};

/**
 * One line about a value in the picture, for those who do not see it.
 * @param {EvaluationExplorer} explorer
 */
export function spoken(explorer, at, id) {
  const { view, run } = explorer;
  const names = at.names.get(id) ?? [];
  const marks = at.state(id).map((mark) => SPOKEN[mark]);
  return [
    `#${id} ${run.say(id, explorer.step)}`,
    KINDS[view.objects[id].kind].word,
    names.length && `named ${names.join(", ")}`,
    ...marks,
  ]
    .filter(Boolean)
    .join(", ");
}

function drawSeg(cell, seg, at) {
  const out = [];
  const x = cell.x + seg.x;
  const own = seg.list ?? (seg.kind === "text" ? seg.id : cell.id);
  if (own !== cell.id && own >= 0)
    out.push(
      s("rect", {
        class: `piece ${at.state(own).join(" ")}`,
        "data-object": own,
        x: x + 2,
        y: cell.y + 3,
        width: seg.w - 4,
        height: cell.h - 6,
        rx: 3,
      }),
    );
  if (seg.kind === "dot")
    out.push(s("circle", { class: "dot", cx: x + seg.w - 10, cy: cell.y + cell.h / 2, r: 3 }));
  if (seg.shown) {
    const mark = own === cell.id || own < 0 ? "" : at.state(own).join(" ");
    out.push(
      s(
        "text",
        {
          class: `seg-${seg.kind} ${mark}`,
          "data-object": own >= 0 ? own : null,
          x: x + (seg.kind === "dot" ? seg.w - 13 : seg.w) / 2,
          y: cell.y + 16.5,
          "text-anchor": "middle",
        },
        `${seg.shown} `,
      ),
    );
  }
  if (seg.x > 0)
    out.unshift(s("line", { class: "split", x1: x, x2: x, y1: cell.y + 4, y2: cell.y + cell.h - 4 }));
  return out;
}

/** The names that point at values: a flag above each, or below it where the one beside it is in the way. */
function drawFlags(at) {
  const ends = new Map();
  const boxes = [...at.names]
    .filter(([id]) => at.boxed.has(id))
    .map(([id, names]) => [at.place.get(id), names]);
  return boxes
    .sort(([a], [b]) => a.y - b.y || a.x - b.x)
    .map(([box, names]) => {
      const label = cut(
        names.slice(0, FLAGS).join(" ") + (names.length > FLAGS ? " …" : ""),
        Math.max(9, Math.floor(box.w / 6)),
      );
      const under = box.x < (ends.get(box.y) ?? -Infinity);
      if (!under) ends.set(box.y, box.x + 20 + label.length * 7);
      const mark = under
        ? `M${box.x + 5} ${box.y + box.h + 10}h7l-3.5 -5z`
        : `M${box.x + 5} ${box.y - 10}h7l-3.5 5z`;
      return s(
        "g",
        { class: "flag" },
        s("path", { d: mark }),
        s("text", { x: box.x + 16, y: under ? box.y + box.h + 13 : box.y - 5 }, label),
      );
    });
}

/** @param {EvaluationExplorer} explorer */
function drawCell(explorer, at, cell) {
  if (cell.gap)
    return s(
      "g",
      { class: "box gap" },
      s("rect", { x: cell.x, y: cell.y, width: cell.w, height: cell.h, rx: 6 }),
      cell.segs.map((seg) => drawSeg(cell, seg, at)),
    );
  const kind = KINDS[explorer.view.objects[cell.id].kind];
  const round = kind.id === "closure" ? 12 : kind.id === "ref" ? 2 : 6;
  const marks = at.state(cell.id);
  const said = spoken(explorer, at, cell.id);
  // The name begins with what is seen, so that it can also be said to a voice control.
  const written = cell.segs
    .map((seg) => seg.shown)
    .filter(Boolean)
    .join(" ");
  return s(
    "g",
    {
      class: `box k-${kind.id} ${marks.join(" ")}`,
      "data-object": cell.id,
      role: "button",
      tabindex: -1,
      "aria-label": `${written}, ${said}`,
      "data-said": said,
    },
    s("rect", { class: "face", x: cell.x, y: cell.y, width: cell.w, height: cell.h, rx: round }),
    marks.includes("now") &&
      s("rect", {
        class: "halo",
        x: cell.x - 3.5,
        y: cell.y - 3.5,
        width: cell.w + 7,
        height: cell.h + 7,
        rx: round + 3,
      }),
    cell.segs.map((seg) => drawSeg(cell, seg, at)),
  );
}

/**
 * Draws the heap into `pane`; `explorer.chosen` is the object that the reader chose, or -1.
 * @param {EvaluationExplorer} explorer
 * @param {HTMLDivElement} pane
 */
export function drawHeap(explorer, pane) {
  const { view, run, step, frame } = explorer;
  const width = Math.max(260, (pane.clientWidth || 400) - 28);
  const at = picture(view, run, step, frame, { width, selected: explorer.chosen });
  const scale = Math.max(SMALLEST, Math.min(1, width / at.width));
  if (at.cells.length === 0) {
    fill(
      pane,
      h(
        "p",
        { class: "soft" },
        "No value with parts is live yet: no tree, list, tuple, function or reference.",
      ),
    );
    return at;
  }
  const svg = s("svg", {
    class: "heap",
    role: "group",
    "aria-label": `${at.roots.length} values with parts`,
    width: (at.width + 8) * scale,
    height: (at.height + 4) * scale,
    viewBox: `-4 0 ${at.width + 8} ${at.height + 4}`,
  });
  const arrow = s(
    "marker",
    { id: "rx-arrow", viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
    s("path", { class: "arrow", d: "M0 0L8 4L0 8z" }),
  );
  const dim = (id) => (id >= 0 && at.state(id).includes("gone") ? " gone" : "");
  svg.append(
    s("defs", null, arrow),
    ...at.edges.map((edge) =>
      s("path", {
        class: `edge ${edge.kind}${dim(edge.from)}`,
        d: edge.d,
        "marker-end": edge.kind === "shared" ? "url(#rx-arrow)" : null,
      }),
    ),
    ...at.cells.map((cell) => drawCell(explorer, at, cell)),
  );
  svg.append(...drawFlags(at));
  const top = pane.scrollTop;
  fill(pane, svg, at.left > 0 && h("p", { class: "soft" }, `and ${at.left} more values, not drawn`));
  pane.scrollTop = top;
  const first = svg.querySelector(".box.now, .box.chosen, .box.fresh") ?? svg.querySelector(".box[role]");
  if (first) first.setAttribute("tabindex", "0");
  show(
    pane,
    scale,
    at.cells.find(
      (cell) => cell.id >= 0 && at.state(cell.id).some((mark) => mark === "now" || mark === "chosen"),
    ),
  );
  return at;
}

/**
 * Scrolls until a cell is in the pane, in both directions.
 * @param {number} scale
 * @param {any} cell
 * @param {HTMLDivElement} pane
 */
function show(pane, scale, cell) {
  if (!cell) return;
  keepInView(pane, (cell.y - 24) * scale, (cell.h + 40) * scale);
  const [left, right] = [cell.x * scale, (cell.x + cell.w) * scale + 14];
  if (left < pane.scrollLeft || right > pane.scrollLeft + pane.clientWidth)
    pane.scrollLeft = Math.max(0, (left + right - pane.clientWidth) / 2);
}

/**
 * Arrow keys move between the boxes of the picture: to the nearest one in that direction.
 * @param {HTMLDivElement} pane
 * @param {KeyEvent} event
 */
export function walkHeap(pane, event) {
  const by = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
  const from = closestTo(event, ".box[role]");
  if (!by || !from) return false;
  /** @param {Element} node */
  const centre = (node) => {
    const box = /** @type {any} */ (node.querySelector(".face")).getBBox();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const [x, y] = centre(from);
  let best = null;
  let least = Infinity;
  for (const node of pane.querySelectorAll(".box[role]")) {
    const [nx, ny] = centre(node);
    const along = (nx - x) * by[0] + (ny - y) * by[1];
    const aside = Math.abs((nx - x) * by[1]) + Math.abs((ny - y) * by[0]);
    if (along > 1 && along + 3 * aside < least) [best, least] = [node, along + 3 * aside];
  }
  if (!best) return true;
  from.setAttribute("tabindex", "-1");
  best.setAttribute("tabindex", "0");
  best.focus({ preventScroll: true });
  const { x: left, y: top, width, height } = /** @type {any} */ (best.querySelector(".face")).getBBox();
  /** @type {any} */
  const svg = pane.querySelector(".heap");
  show(pane, svg.width.baseVal.value / svg.viewBox.baseVal.width, { x: left, y: top, w: width, h: height });
  return true;
}
