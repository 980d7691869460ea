// The tables of a run: its kernels, the slowest first, and its launches in order.
import { fill, h } from "../../core/dom.js";
import { tokenElement } from "../../core/operators.js";
import { duration } from "../lowering/model.js";
import { markOf } from "./charts.js";
import { percent, shapeOf, short, shortName } from "./model.js";
/** @import { RunModel } from "./model.js" */
/** @import { RunExplorer } from "./view.js" */

const LISTED = 2000; // launches of the table
const OPERATOR = 4;
const TYPE = 5;
const COLUMNS = [
  "",
  "kernel",
  "its result",
  "calls",
  "time",
  "of the run",
  "GFLOP/\u2060s",
  "operations per byte",
  "of its limit",
];

/** @param {RunExplorer} explorer */
export function kernelTable(explorer) {
  explorer.lines = explorer.model.kernels.map((kernel) => line(explorer, kernel));
  return h(
    "table",
    { class: "run-table", role: "grid", "aria-label": "the kernels, the slowest first" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        COLUMNS.map((name) => h("th", { scope: "col" }, name || h("span", { class: "sr" }, "number"))),
      ),
    ),
    h("tbody", null, explorer.lines),
  );
}

/** @param {RunExplorer} explorer */
function line(explorer, kernel) {
  const parts = [];
  let shape = "";
  for (const { kind, text: value } of kernel.tokens) {
    if (kind === TYPE) shape = shapeOf(value);
    else if (kind === OPERATOR)
      parts.push(parts.length > 0 && " · ", tokenElement(explorer.view, kind, value, { class: "t4" }));
  }
  for (const part of parts) if (part instanceof Element) part.textContent = shortName(part.textContent);
  /** @param {string} value */
  const number = (value) => h("td", { class: "n" }, value);
  return h(
    "tr",
    {
      tabindex: kernel.index === 0 ? 0 : -1,
      "data-kernel": kernel.index,
      "aria-selected": false,
      style: { "--hue": `var(--hue-${kernel.rule.hue})`, "--fill": `var(--hue-${kernel.rule.hue}-fill)` },
      onclick: () => explorer.choose(kernel.index, -1),
      ondblclick: () => explorer.open(kernel.index, true),
      onpointerenter: () => explorer.point(kernel.index, -1),
      onpointerleave: () => explorer.point(-1, -1),
      onfocus: () => explorer.kernel !== kernel.index && explorer.choose(kernel.index, -1),
    },
    h("td", { class: "n which" }, markOf(kernel.rule), " ", String(kernel.index + 1)),
    h("td", { class: "what" }, h("code", { title: kernel.name }, parts)),
    h("td", { class: "shape" }, shape),
    number(String(kernel.calls)),
    number(duration(kernel.ns)),
    h(
      "td",
      { class: "n share" },
      h("span", {
        class: "bar-of",
        style: { "--share": String(kernel.share / explorer.model.kernels[0].share) },
        "aria-hidden": "true",
      }),
      percent(kernel.share),
    ),
    number(kernel.flops ? short(kernel.rate) : "–"),
    number(kernel.flops ? short(kernel.intensity) : "–"),
    h(
      "td",
      { class: "limit" },
      h("b", null, percent(kernel.reached)),
      h("small", null, kernel.arithmetic ? " arithmetic" : " memory"),
    ),
  );
}

/**
 * Every launch in order, as a table: what the timeline draws.
 * @param {RunModel} model
 */
export function launchTable({ launches, kernels, total }) {
  let made = false;
  const body = h("div", { class: "run-scroll" });
  return h(
    "details",
    {
      class: "run-list",
      ontoggle: () => {
        if (made) return;
        made = true;
        fill(
          body,
          h(
            "table",
            { class: "run-table" },
            h(
              "thead",
              null,
              h(
                "tr",
                null,
                ["launch", "kernel", "begins at", "takes", "of the run"].map((name) =>
                  h("th", { scope: "col" }, name),
                ),
              ),
            ),
            h(
              "tbody",
              null,
              launches
                .slice(0, LISTED)
                .map(({ index, kernel, start, ns }) =>
                  h(
                    "tr",
                    null,
                    h("td", { class: "n" }, String(index + 1)),
                    h("td", null, `${kernel + 1} `, h("code", null, kernels[kernel].name)),
                    h("td", { class: "n" }, duration(start)),
                    h("td", { class: "n" }, duration(ns)),
                    h("td", { class: "n" }, percent(ns / total)),
                  ),
                ),
            ),
          ),
        );
      },
    },
    h(
      "summary",
      null,
      launches.length > LISTED
        ? `The first ${LISTED.toLocaleString("en")} of ${launches.length.toLocaleString("en")} launches as a table`
        : `The ${launches.length} ${launches.length === 1 ? "launch" : "launches"} as a table`,
    ),
    body,
  );
}
