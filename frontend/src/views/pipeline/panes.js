// The panes below the rows: the life of one expression, and the totals of every stage.
import { fill, h } from "../../core/dom.js";
import { amount, counted, size } from "../fusion/columns.js";
import { MARKS, TOTALS, wordOf } from "./marks.js";
/** @import { PipelineModel } from "./model.js" */

/** @typedef {{ name: string, show: (value: number) => string, of: (stage: any) => any, sum?: boolean }} Metric */

const MOST_NAMES = 4;

/** `[first, …, and n more]` of a list of texts, as code. */
function names(list) {
  const each = [...new Set(list)];
  return [
    each.slice(0, MOST_NAMES).map((name, i) => [i > 0 && ", ", h("code", null, name)]),
    each.length > MOST_NAMES && ` and ${each.length - MOST_NAMES} more`,
  ];
}

/**
 * The mark of a moment of a life, in a word: it may also have split, or have become one with others.
 * @param {PipelineModel} model
 */
function word(model, { mark, items }, previous) {
  if (mark === null) return "given";
  if (!items.length) return "removed";
  const merged = items.some((i) => model.items[i].from.length > 1);
  const split = previous?.items.length && items.length > previous.items.length;
  return `${MARKS[mark].word}${merged ? ", several became one" : split ? `, now ${items.length} expressions` : ""}`;
}

/**
 * The history of the followed expression; `onGo(stage, item)` goes to a moment of it.
 * @param {PipelineModel} model
 * @param {HTMLElement} pane
 */
export function drawHistory(model, pane, { lives, stage, follow, onGo, onStop }) {
  if (follow < 0) {
    fill(
      pane,
      h("p", { class: "heading" }, "One expression, followed"),
      h(
        "p",
        { class: "soft" },
        "Choose a row, or a name in it, to see its name after each pass, what it came from and what it became.",
      ),
    );
    return;
  }
  /**
   * What it is called where that is not plain from the line, and the line where it is another one than before.
   * @param {string} line
   */
  const details = (items, line) => {
    const apart =
      items.length > 1 || (items.length === 1 && model.main(model.items[items[0]].row) !== items[0]);
    return (
      (apart || line) &&
      h(
        "div",
        { class: "called" },
        (apart || !line) && names(items.map((item) => model.title(item))),
        line && h("code", { class: "line" }, line),
      )
    );
  };
  const entry = ({ stage: index, items, mark }, i, life) => {
    const at = model.stages[index];
    const previous = life[i - 1];
    const id = mark === null ? "kept" : MARKS[mark].id;
    const row = items.map((item) => model.items[item].row).find((r) => r >= 0) ?? -1;
    const told = model.text(row);
    const news = items.length > 0 && !at.same && (!previous || told !== model.text(previous.row ?? -1));
    life[i].row = row;
    return h(
      "li",
      { class: at.same ? "idle" : "" },
      h(
        "button",
        {
          class: "entry",
          type: "button",
          "aria-current": index === stage ? "step" : null,
          onclick: () => onGo(index, items[0] ?? -1),
        },
        h(
          "span",
          { class: `sign s-${id}`, "aria-hidden": "true" },
          mark === null ? "●" : MARKS[mark].sign || "·",
        ),
        h("span", { class: "where" }, at.name),
        h("span", { class: "note" }, word(model, life[i], previous)),
      ),
      details(items, news ? told : ""),
    );
  };
  fill(
    pane,
    h(
      "p",
      { class: "heading" },
      "The history of ",
      h("code", null, model.title(follow)),
      h("button", { class: "link stop", type: "button", onclick: onStop }, "stop following"),
    ),
    lives.map((life, p) => [
      model.pipelines.length > 1 && h("p", { class: "soft pipe" }, model.pipelines[p].name),
      life.length
        ? h("ol", { class: "chain story" }, life.map(entry))
        : h("p", { class: "soft" }, "It does not occur in this pipeline."),
    ]),
  );
  // The moment that is shown comes into the pane, without moving the page.
  const now = pane.querySelector("[aria-current]");
  if (!now) return;
  const [a, b] = [pane.getBoundingClientRect(), now.getBoundingClientRect()];
  if (b.top < a.top || b.bottom > a.bottom) pane.scrollTop += b.top - a.top - a.height / 2;
}

/** "72 → 41", or one number where it does not change. */
const span = (values, show) =>
  values[0] === values.at(-1) ? show(values[0]) : `${show(values[0])} → ${show(values.at(-1))}`;
const milliseconds = (ms) => `${ms >= 100 ? Math.round(ms) : Number(ms.toPrecision(2))} ms`;

/**
 * A chart for each total: a bar a stage, the pipelines side by side, on one scale.
 * @param {PipelineModel} model
 * @param {HTMLElement} pane
 */
export function drawTotals(model, pane, { pipe, at, onGo }) {
  /** @type {Metric[]} */
  const metrics = TOTALS.map(({ id, word: name }) => ({
    name,
    show: id === "bytes" ? size : amount,
    of: (stage) => stage.totals[id],
  }));
  if (model.stages.some(({ ms }) => ms !== null))
    metrics.push({ name: "time", show: milliseconds, of: (stage) => stage.ms ?? 0, sum: true });
  const chart = (/** @type {Metric} */ { name, show, of, sum }) => {
    const values = model.pipelines.map(({ list }) => list.map((index) => of(model.stages[index])));
    const most = Math.max(...values.flat());
    if (!most) return null;
    /** @param {number} p */
    const bars = (list, p) =>
      h(
        "span",
        {
          class: "columns",
          role: "img",
          "aria-label": `${name}${model.pipelines.length > 1 ? `, ${model.pipelines[p].name}` : ""}: ${list.map((value, i) => `${model.stages[model.pipelines[p].list[i]].name} ${show(value)}`).join(", ")}`,
        },
        list.map((value, i) =>
          h(
            "i",
            {
              class: `${p === pipe && i === at ? "now" : ""}${value === list[i - 1] && i > 0 && !sum ? " even" : ""}`,
              title: `${model.stages[model.pipelines[p].list[i]].name}: ${show(value)}`,
              onclick: () => onGo(p, i),
            },
            h("b", { style: { height: `${value ? Math.max(3, (100 * value) / most) : 0}%` } }),
          ),
        ),
      );
    const whole = (list) => (sum ? show(list.reduce((total, value) => total + value, 0)) : span(list, show));
    return h(
      "div",
      { class: "chart-line" },
      h("span", { class: "chart-name" }, name),
      values.map((list, p) =>
        h(
          "span",
          { class: "chart-of" },
          bars(list, p),
          h(
            "span",
            { class: "chart-numbers" },
            whole(list),
            p === pipe &&
              (sum || list.some((value) => value !== list[0])) &&
              h("b", null, ` ${sum ? "this pass" : "now"} ${show(list[at])}`),
          ),
        ),
      ),
    );
  };
  fill(
    pane,
    h("p", { class: "heading" }, "Totals after each pass"),
    h(
      "div",
      { class: `charts of-${model.pipelines.length}` },
      model.pipelines.length > 1 &&
        h(
          "div",
          { class: "chart-line soft" },
          h("span"),
          model.pipelines.map(({ name }) => h("span", { class: "chart-of" }, name)),
        ),
      metrics.map(chart),
    ),
    h(
      "p",
      { class: "soft" },
      `Kernels are fused functions. FLOPs are floating-point operations; bytes are those that operators read and write${model.stages.some(({ totals }) => totals.kernels > 0) ? ", or kernels where there are any" : ""}.`,
    ),
  );
}

/**
 * What the pass that is shown changed, as buttons that go to the next such row.
 * @param {HTMLSpanElement} el
 */
export function drawChanges(el, stage, onMark) {
  const buttons = stage.counts.map((n, mark) =>
    mark > 0 && n > 0
      ? h(
          "button",
          {
            type: "button",
            title: `go to the next row: ${wordOf(mark)}`,
            onclick: () => onMark(mark),
          },
          h("span", { class: `sign s-${MARKS[mark].id}`, "aria-hidden": "true" }, MARKS[mark].sign),
          wordOf(mark),
          " ",
          h("span", { class: "n" }, String(n)),
        )
      : null,
  );
  fill(
    el,
    buttons,
    stage.gone.length > 0 &&
      h("span", { class: "soft" }, `${counted(stage.gone.length, "expression")} eliminated`),
  );
}
