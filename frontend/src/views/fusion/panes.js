// The panes beside the rows: why, the tree of post-dominators, the list of kernels.
import { fill, h, s } from "../../core/dom.js";
import { sentence } from "../../core/sentence.js";
import { amount, counted, size } from "./columns.js";
import { PARTS } from "./marks.js";
import { treeLines, treeWindow } from "./tree.js";
/** @import { FusionModel } from "./model.js" */

const MOST_ON_WAY = 60;
const MOST_KERNELS = 400;
const TREE_LINE = 24;
const TREE_STEP = 15;

const role = (n, { asked, target, obstacle }) =>
  n === obstacle ? PARTS.obstacle : n === asked ? PARTS.asked : n === target ? PARTS.target : PARTS.way;

/** @param {FusionModel} model */
function letter(model, variant, n) {
  const kind = model.patterns.get(variant.pattern[n]);
  return kind
    ? h("b", { class: "letter", title: `${kind.name}: ${kind.what}`, "aria-hidden": "true" }, kind.letter)
    : null;
}

/**
 * The decision laid out: the nodes on the way with their patterns, what stands in it, the rule.
 * @param {FusionModel} model
 */
export function drawWhy(model, pane, state, onNode) {
  const { variant, asked, target, obstacle } = state;
  const { rule } = variant.steps[state.step];
  if (asked < 0) {
    fill(pane, h("p", { class: "ask" }, "The patterns"), patternList(model));
    return;
  }
  const way = state.way.slice(0, MOST_ON_WAY);
  const entry = (n) => {
    const part = role(n, state);
    const kind = model.patterns.get(variant.pattern[n]);
    return h(
      "li",
      { class: part.id },
      h(
        "button",
        { class: "entry", type: "button", onclick: () => onNode(n) },
        h("span", { class: `sign ${part.id}`, "aria-hidden": "true" }, part.sign),
        letter(model, variant, n),
        h("code", null, model.title(n)),
        h("span", { class: "note" }, part.id === "way" ? (kind?.name ?? "") : part.word),
      ),
    );
  };
  const kinds = [...new Set([asked, obstacle, target].filter((n) => n >= 0).map((n) => variant.pattern[n]))];
  fill(
    pane,
    h("p", { class: "ask" }, target >= 0 ? "The paths to the post-dominator" : "What it is"),
    h("ol", { class: "chain way" }, way.map(entry)),
    state.way.length > way.length && h("p", { class: "soft" }, `and ${state.way.length - way.length} more`),
    rule.length > 0 && h("p", { class: "rule soft" }, sentence(rule)),
    patternList(model, kinds),
  );
}

/**
 * Patterns with what they mean.
 * @param {FusionModel} model
 */
export function patternList(model, only = [...model.patterns.keys()]) {
  return h(
    "dl",
    { class: "patterns" },
    only
      .filter((number) => model.patterns.has(number))
      .map((number) => {
        const { letter: sign, name, what } = model.patterns.get(number);
        return [h("dt", null, h("b", { class: "letter" }, sign), name), h("dd", null, what)];
      }),
  );
}

/**
 * The tree of post-dominators around the node in question, the result on top.
 * @param {FusionModel} model
 */
export function drawTree(model, pane, state, onNode) {
  const { variant, asked, target } = state;
  const lines = (variant.tree ??= treeLines(model, variant));
  if (!variant.above.some((at) => at >= 0)) {
    fill(
      pane,
      h(
        "p",
        { class: "soft" },
        "The pass had nothing to decide in this function, so it computed no post-dominators.",
      ),
    );
    return;
  }
  const { from, to } = treeWindow(
    lines,
    [asked, target].filter((n) => n >= 0),
  );
  const shown = lines.slice(from, to);
  const deepest = shown.reduce((most, line) => Math.max(most, line.depth), 0);
  const x = (line) => 8 + line.depth * TREE_STEP;
  const y = (i) => (i - from) * TREE_LINE + TREE_LINE / 2;
  const svg = s("svg", {
    class: "tree-lines",
    width: 16 + deepest * TREE_STEP,
    height: shown.length * TREE_LINE,
    "aria-hidden": "true",
  });
  shown.forEach((line, at) => {
    if (line.parent < 0) return;
    const hot = line.node === asked && lines[line.parent].node === target;
    const [x1, y1, x2, y2] = [x(lines[line.parent]), y(line.parent), x(line), y(at + from)];
    svg.append(
      s("path", {
        class: `tree-edge${hot ? " hot" : ""}`,
        d: x1 === x2 ? `M${x1} ${y1}V${y2}` : `M${x1} ${y1}V${y2 - 7}Q${x1} ${y2} ${x1 + 7} ${y2}H${x2}`,
      }),
    );
  });
  shown.forEach((line, at) => {
    const name = line.node === asked ? "asked" : line.node === target ? "target" : "";
    svg.append(
      s("circle", { class: `dot ${name}`, cx: x(line), cy: y(at + from), r: name === "target" ? 5.6 : 4 }),
    );
    if (name === "target")
      svg.append(s("circle", { class: "dot target core", cx: x(line), cy: y(at + from), r: 2.2 }));
  });
  const entry = (line) => {
    const up = variant.above[line.node];
    const part = line.node === asked ? PARTS.asked : line.node === target ? PARTS.target : null;
    return h(
      "li",
      null,
      h(
        "button",
        {
          class: `name${part ? ` ${part.id}` : ""}`,
          type: "button",
          style: { "--at": `${24 + line.depth * TREE_STEP}px` },
          "aria-current": part?.id === "asked" ? "step" : null,
          "aria-label": `${model.title(line.node)}${up >= 0 ? `, post-dominated by ${model.title(up)}` : ""}${part ? `, ${part.word}` : ""}`,
          onclick: () => onNode(line.node),
        },
        h("code", null, model.title(line.node)),
      ),
    );
  };
  fill(
    pane,
    h("p", { class: "soft" }, "Each node is the parent of those that it immediately post-dominates."),
    from > 0 && h("p", { class: "soft" }, `… ${from} above`),
    h(
      "div",
      { class: "tree-box" },
      svg,
      h("ol", { class: "tree-names", "aria-label": "tree of post-dominators" }, shown.map(entry)),
    ),
    to < lines.length && h("p", { class: "soft" }, `… ${lines.length - to} below`),
  );
  if (asked >= 0) reveal(pane, pane.querySelector("button.asked") ?? pane.querySelector("button.target"));
}

/** Brings an element of a pane into it, without moving the page. */
function reveal(pane, node) {
  if (!node) return;
  const [a, b] = [pane.getBoundingClientRect(), node.getBoundingClientRect()];
  if (b.top < a.top || b.bottom > a.bottom) pane.scrollTop += b.top - a.top - a.height / 2;
}

/**
 * Every kernel at the end, with what its operators take alone and what it takes; drawn once for a variant.
 * @param {FusionModel} model
 */
export function drawKernels(model, pane, { variant, asked }, onNode) {
  const here = asked >= 0 ? variant.kernelOf[asked] : -1;
  if (pane.rxVariant !== variant) drawTable(model, pane, variant, onNode);
  pane.rxVariant = variant;
  pane.querySelector("tbody.here")?.classList.remove("here");
  const body = pane.querySelectorAll("tbody")[here];
  body?.classList.add("here");
  reveal(pane, body);
}

/** @param {FusionModel} model */
function drawTable(model, pane, variant, onNode) {
  const { kernels, launches, bytes } = variant;
  const longest = kernels.reduce((most, { alone }) => Math.max(most, alone), 1);
  const row = (kernel) => {
    const { name, launches, alone, read, written, flops, result } = kernel;
    const bytes = read + written;
    return h(
      "tbody",
      null,
      h(
        "tr",
        null,
        h(
          "th",
          { scope: "rowgroup", colspan: 4 },
          h(
            "button",
            { class: "entry", type: "button", title: name, onclick: () => onNode(result) },
            h("span", { class: `swatch k${variant.tint[result]}`, "aria-hidden": "true" }),
            h("code", null, name),
          ),
        ),
      ),
      h(
        "tr",
        null,
        h("td", { class: "bar-cell" }, meter(alone, bytes, longest)),
        h("td", null, launches > 1 ? `${launches} → 1` : "1"),
        h("td", null, traffic(alone, bytes)),
        h("td", null, amount(flops)),
      ),
    );
  };
  /**
   * @param {string} text
   * @param {string} title
   */
  const head = (text, title = null) => h("th", { scope: "col", title }, text);
  fill(
    pane,
    h(
      "table",
      { class: "kernels" },
      h(
        "caption",
        { class: "soft" },
        `At the end: ${counted(kernels.length, "kernel")}. Before: one kernel for each operator.`,
      ),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          head("kernel"),
          head("launches", "before → after"),
          head("bytes", "read and written: before → after"),
          head("flops", "floating-point operations"),
        ),
      ),
      kernels.slice(0, MOST_KERNELS).map(row),
      h(
        "tfoot",
        null,
        h(
          "tr",
          null,
          h(
            "th",
            { scope: "row" },
            kernels.length > MOST_KERNELS ? `all, ${kernels.length - MOST_KERNELS} not shown` : "all",
          ),
          h("td", null, `${launches.before} → ${launches.after}`),
          h("td", null, traffic(bytes.before, bytes.after)),
          h("td", null, amount(kernels.reduce((sum, { flops }) => sum + flops, 0))),
        ),
      ),
    ),
  );
}

const traffic = (before, after) => (before === after ? size(after) : `${size(before)} → ${size(after)}`);

function meter(before, after, longest) {
  const bar = (bytes) => `${Math.max(2, (100 * bytes) / longest)}%`;
  return h(
    "span",
    { class: "meter", "aria-hidden": "true" },
    h("i", { class: "before", style: { width: bar(before) } }),
    h("i", { class: "after", style: { width: bar(after) } }),
  );
}
