// The costs view: beside each call its operations, its bytes, and the operations for each byte; below, the same for each operator.
import { fill, h } from "../../core/dom.js";
import { LATER } from "../../core/later.js";
import { Explorer } from "../../core/explorer.js";
import { Finder } from "../../core/finder.js";
import { commonKeys, rowKeys } from "../../core/keys.js";
import { integer } from "../../core/links.js";
import { createRows } from "../../core/rows.js";
import { addStyle } from "../../core/style.js";
/** @import { CallCost, CostsView, OperatorCost } from "../../generated/costs.js" */
/** @import { Child, Context, State } from "../../core/types.js" */

addStyle(`
.rx .cost-grid .cell:not(.code) { align-self: center; font: 13px/1.5 var(--ui); white-space: nowrap; overflow: hidden; text-overflow: ellipsis; font-variant-numeric: tabular-nums; }
.cost-bar { display: inline-block; width: 5em; height: 10px; margin-inline-end: 8px; vertical-align: -1px; background: linear-gradient(to right, var(--hue-blue) var(--share), transparent var(--share)); outline: 1px solid var(--line); }
.cost-scroll { flex: 1; max-height: 11em; overflow: auto; }
.cost-table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; white-space: nowrap; }
.cost-table :is(th, td) { padding: 2px 12px 2px 0; text-align: right; }
.cost-table :is(th, td):first-child { text-align: left; }
.cost-table tr[aria-selected="true"] { background: var(--hover); }
.rx .cost-grid .row.is-same { box-shadow: inset 4px 0 0 var(--accent); }
@container rx (max-width: 620px) { .cost-bar { display: none; } .rx .cost-grid .grid-head > :not(:first-child) { padding-inline: 0; font-size: 11px; line-height: 1.15; white-space: normal; } .rx .cost-grid .cell:not(.code) { padding-inline: 0; font-size: 12px; } .cost-table :is(th, td) { padding-inline-end: 8px; font-size: 12px; } }
`);

/** @type {[number, string][]} */
const UNITS = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];
/** @type {[string[], string][]} */
const KEYS = [
  [["↑", "↓"], "line"],
  [["/"], "find"],
  [["Esc"], "back"],
  [["?"], "keys"],
];

/**
 * "25.6 M", "812".
 * @param {number} value
 */
export function amount(value) {
  const [unit, sign] = UNITS.find(([size]) => value >= size) ?? [1, ""];
  return sign ? `${Number((value / unit).toPrecision(3))} ${sign}` : value.toLocaleString("en");
}

/** @param {OperatorCost | CallCost} cost */
const intensity = ({ flops, bytes }) =>
  bytes ? Number((flops / bytes).toPrecision(2)).toLocaleString("en") : "";

/**
 * @param {import("../../generated/costs.js").CostsView} view
 * @param {HTMLElement} root
 * @param {Context} ctx
 */
export function mountCosts(root, view, ctx) {
  return new CostsExplorer(root, view, ctx).begin();
}

/** @extends {Explorer<CostsView>} */
export class CostsExplorer extends Explorer {
  /** @type {Map<number, CallCost>} */
  byRow = LATER;
  /** @type {number} */
  operator = LATER;
  /** @type {HTMLTableRowElement[]} */
  lines = LATER;

  build() {
    const { view } = this;
    this.byRow = new Map(view.calls.map((call) => [call.row, call]));
    this.operator = -1;
    this.frameOf("Costs, call by call");
    this.shell.bar.append(this.tools());
    const most = Math.max(1, ...view.calls.map(({ flops }) => flops));
    /**
     * @param {string} id
     * @param {string} title
     * @param {(call: CallCost) => Child} write
     */
    const column = (id, title, write) => ({
      id,
      title,
      width: "minmax(46px, 0.4fr)",
      /** @param {number} row */
      draw: (row, cell) => {
        const call = this.byRow.get(row);
        fill(cell, call && write(call));
      },
    });
    this.rows = createRows({
      view,
      label: `program of ${view.title}, with the operations and memory traffic of each call`,
      fit: true,
      foldLists: true,
      columns: [
        column("flops", "FLOPs", (call) => [
          h("i", { class: "cost-bar", style: { "--share": `${(100 * call.flops) / most}%` } }),
          amount(call.flops),
        ]),
        column("bytes", "bytes", ({ bytes }) => amount(bytes)),
        column("intensity", "FLOPs per byte", intensity),
      ],
      hooks: { select: (row, byReader) => byReader && this.choose(this.byRow.get(row)?.operator ?? -1) },
    });
    this.lines = view.operators.map((operator, i) =>
      h(
        "tr",
        { "aria-selected": false },
        h(
          "td",
          null,
          h(
            "button",
            { class: "link", type: "button", onclick: () => this.choose(i === this.operator ? -1 : i) },
            operator.name,
          ),
        ),
        [
          operator.calls.toLocaleString("en"),
          amount(operator.flops),
          amount(operator.bytes),
          intensity(operator),
        ].map((text) => h("td", null, text)),
      ),
    );
    const head = ["operator", "calls", "FLOPs", "bytes", "FLOPs per byte"].map((text) =>
      h("th", { scope: "col" }, text),
    );
    this.rows.el.classList.add("cost-grid");
    this.finder = new Finder(this, {
      scopes: [
        { id: "all", label: "anywhere" },
        { id: "op", label: "operators" },
      ],
      placeholder: "find an operator, a name, an attribute",
    });
    this.search = this.finder.search;
    this.shell.body.append(this.search.el, this.rows.el);
    this.shell.foot.append(
      h(
        "div",
        { class: "cost-scroll", tabindex: 0, role: "region", "aria-label": "costs by operator" },
        h(
          "table",
          { class: "cost-table" },
          h("thead", null, h("tr", null, head)),
          h("tbody", null, this.lines),
        ),
      ),
      this.hints(KEYS),
    );
    fill(this.shell.say, view.summary);
    this.rows.setColumns();
    this.listen([
      rowKeys((by) => this.rows.move(by, Math.max(0, this.rows.selected))),
      ...commonKeys(this, { fold: null, back: "back" }),
    ]);
  }

  /**
   * Marks the calls of an operator; -1: of none.
   * @param {number} operator
   */
  choose(operator) {
    this.operator = operator;
    this.rows.mark(
      "same",
      this.view.calls.filter((call) => call.operator === operator).map(({ row }) => row),
    );
    this.lines.forEach((line, i) => line.setAttribute("aria-selected", String(i === operator)));
    this.ctx.changed();
  }

  token() {
    return { op: this.operator >= 0 ? this.operator : "", row: this.selected(), ...this.searched() };
  }

  /** @param {State} state */
  restore(state) {
    const [operator, row] = [integer(state.op, -1), integer(state.row, -1)];
    const costliest = this.view.calls.reduce((best, call) => (call.flops > best.flops ? call : best), {
      row: -1,
      flops: 0,
    });
    this.finder?.restore(state);
    this.rows.select(this.view.rows[row] ? row : -1, { quiet: true });
    if (!this.view.rows[row] && costliest.row >= 0) this.rows.scrollTo(costliest.row);
    this.choose(this.view.operators[operator] ? operator : -1);
  }
}
