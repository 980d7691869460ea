// A measured run: every kernel under the roof that the machine sets it, every launch in time, and each kernel that the
// page has at every level. What is pointed at, or chosen, is lit in all of them.
import { closestTo, fill, h, text } from "../../core/dom.js";
import { LATER } from "../../core/later.js";
import { Explorer } from "../../core/explorer.js";
import { both, commonKeys, key, onButton } from "../../core/keys.js";
import { integer } from "../../core/links.js";
import { sentence, sentenceText } from "../../core/sentence.js";
import { addStyle } from "../../core/style.js";
import { createTabs } from "../../core/tabs.js";
import { tokenElement } from "../../core/operators.js";
import { mountLowering } from "../lowering/view.js";
import { duration } from "../lowering/model.js";
import { beyondRoof, createRoofline, createRules, markOf } from "./charts.js";
import { checkRun } from "./check.js";
import { createFinder } from "./find.js";
import { createModel, nextLaunch, percent, shapeOf, short, shortName, sumOf } from "./model.js";
import { createRunTimeline, rangeWords } from "./timeline.js";
import css from "./style.css";
/** @import { RunView } from "../../generated/run.js" */
/** @import { Binding, Context, State } from "../../core/types.js" */

addStyle(css);

/** @type {[string[], string][]} */
const KEYS = [
  [["↑", "↓"], "kernel"],
  [["←", "→"], "launch"],
  [["Enter"], "its levels"],
  [["/"], "find"],
  [["?"], "keys"],
];
const LISTED = 2000; // launches of the table
const MERGED = 300; // launches from which on some bars may stand for several
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

/**
 * @param {HTMLElement} root
 * @param {RunView} view
 * @param {Context} ctx
 */
export function mountRun(root, view, ctx) {
  checkRun(view);
  return new RunExplorer(root, view, ctx).begin();
}

/** @extends {Explorer<RunView>} */
export class RunExplorer extends Explorer {
  /** @type {HTMLSpanElement} */
  facts = LATER;
  /** @type {ReturnType<typeof createRoofline>} */
  roofline = LATER;
  /** @type {ReturnType<typeof createRunTimeline>} */
  time = LATER;
  /** @type {HTMLDivElement} */
  runPane = LATER;
  /** What the selected part of the timeline adds up to. @type {HTMLDivElement} */
  part = LATER;
  /** @type {HTMLDivElement} */
  choices = LATER;
  /** @type {HTMLDivElement} */
  host = LATER;
  /** @type {HTMLDivElement} */
  levelsPane = LATER;
  /** @type {ReturnType<typeof createTabs>} */
  tabs = LATER;
  /** @type {{ kernel: number; launch: number; } | null | null} */
  pointed = LATER;
  /** @type {() => void} */
  stop = LATER;

  /**
   * @param {HTMLElement} root
   * @param {RunView} view
   * @param {Context} ctx
   */
  constructor(root, view, ctx) {
    super(root, view, ctx);
    this.model = createModel(view);
    this.kernel = -1;
    this.launch = -1;
    this.opened = -1; // the kernel whose levels are drawn
    this.inner = null;
  }

  // --- building -------------------------------------------------------------------------------------

  build() {
    const { ctx, model } = this;
    this.frameOf("A run: its kernels and where the time goes");
    this.facts = h(
      "span",
      { class: "count grow" },
      `${duration(model.ns)} per run · ${model.launches.length.toLocaleString("en")} ${model.launches.length === 1 ? "launch" : "launches"} · ${model.machine.name}`,
    );
    this.shell.bar.append(this.facts, this.tools());
    const hooks = {
      point: (kernel, launch) => this.point(kernel, launch),
      choose: (kernel, launch) => this.choose(kernel, launch),
      open: (kernel) => this.open(kernel, true),
    };
    this.roofline = createRoofline(model, hooks);
    this.time = createRunTimeline(model, {
      ...hooks,
      select: (range) => this.selectedPart(range),
      chosen: () => this.launch,
    });
    this.part = h("div", { class: "run-part-sum", role: "status", hidden: true });
    this.lines = model.kernels.map((kernel) => this.row(kernel));
    const table = h(
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
      h("tbody", null, this.lines),
    );
    /**
     * @param {string} className
     * @param {string} title
     * @param {string} note
     */
    const pane = (className, title, note, tools, ...content) =>
      h(
        "section",
        { class: `run-part ${className}`, "aria-label": title },
        h("p", { class: "lv-head" }, h("strong", null, title), h("span", { class: "lv-note" }, note), tools),
        content,
      );
    this.runPane = h(
      "div",
      { class: "parts run-body" },
      pane(
        "run-roof",
        "Roofline",
        "each mark is a kernel; its size is its share of the time",
        null,
        this.roofline.svg,
        beyondRoof(model),
      ),
      pane("run-kernels", "Kernels", "", null, h("div", { class: "run-scroll" }, table)),
      pane(
        "run-timeline",
        "Timeline",
        `each bar is a launch${model.launches.length > MERGED ? ", or several that are too short to see" : ""}; the filled part is the least time that the machine allows`,
        this.zoomTools(),
        this.time.el,
        this.part,
        this.listed(),
      ),
    );
    this.choices = h("div", {
      class: "lowering-ops",
      role: "group",
      "aria-label": "kernels that this page shows at every level",
    });
    this.host = h("div", { class: "run-inner" });
    this.levelsPane = h("div", { class: "run-levels" }, this.choices, this.host);
    this.tabs = createTabs({
      label: "the run, or one kernel of it",
      items: [
        { id: "run", label: "The run", pane: this.runPane },
        { id: "levels", label: "One kernel at every level", pane: this.levelsPane },
      ],
      onSelect: (id, byReader) => {
        this.shell.foot.hidden = id === "levels"; // the kernel's has its own
        this.root.classList.toggle("shows-levels", id === "levels");
        if (byReader && id === "levels") this.open(this.kernel, false);
        if (byReader) ctx.changed();
      },
    });
    this.finder = createFinder(this);
    this.search = this.finder.search;
    this.shell.body.append(this.search.el, this.tabs.el, this.runPane, this.levelsPane);
    this.shell.foot.append(createRules(model), this.hints(KEYS));
    this.listen(this.bindings());
  }

  row(kernel) {
    const parts = [];
    let shape = "";
    for (const { kind, text: value } of kernel.tokens) {
      if (kind === TYPE) shape = shapeOf(value);
      else if (kind === OPERATOR)
        parts.push(parts.length > 0 && " · ", tokenElement(this.view, kind, value, { class: "t4" }));
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
        onclick: () => this.choose(kernel.index, -1),
        ondblclick: () => this.open(kernel.index, true),
        onpointerenter: () => this.point(kernel.index, -1),
        onpointerleave: () => this.point(-1, -1),
        onfocus: () => this.kernel !== kernel.index && this.choose(kernel.index, -1),
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
          style: { "--share": String(kernel.share / this.model.kernels[0].share) },
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

  /** What the wheel, Shift and the keys do to the timeline, as buttons. */
  zoomTools() {
    const { time, model } = this;
    const last = model.launches.length - 1;
    if (last < 1) return null;
    const around = Math.max(1, Math.round(last / 12));
    const at = () => Math.max(0, this.launch);
    return h(
      "span",
      { class: "group run-zoom", role: "group", "aria-label": "timeline" },
      this.button("+", "magnify the timeline (+)", () => time.zoom(0.6)),
      this.button("−", "show more of the timeline (-)", () => time.zoom(1 / 0.6)),
      this.button("select", "select a part of the timeline (Shift and drag)", () =>
        time.select([Math.max(0, at() - around), Math.min(last, at() + around)]),
      ),
    );
  }

  /** @param {[number, number] | null} range first and last launch */
  selectedPart(range) {
    this.part.hidden = !range;
    if (!range) return fill(this.part);
    return fill(
      this.part,
      h("span", null, rangeWords(sumOf(this.model, range), range)),
      this.button("magnify", "magnify the selected part", () => this.time.show()),
      this.button("✕", "clear the selection (Esc)", () => this.time.select(null)),
    );
  }

  /** Every launch in order, as a table: what the timeline draws. */
  listed() {
    const { launches, kernels, total } = this.model;
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

  bindings() {
    /**
     * Only where the run is shown, not a kernel.
     * @param {Binding} binding
     */
    const inRun = ({ run, ...binding }) => ({
      ...binding,
      run: (event) => (this.tabs.selected === "run" ? run(event) : false),
    });
    return [
      {
        ...inRun(
          both(["ArrowDown", "ArrowUp"], "the next kernel by time; the previous one", (by) => this.walk(by)),
        ),
        shown: ["↓", "↑"],
      },
      {
        ...inRun(
          both(["ArrowRight", "ArrowLeft"], "the next launch of the run; the previous one", (by) =>
            this.along(by),
          ),
        ),
        shown: ["→", "←"],
      },
      inRun(
        key("Enter", "this kernel at every level", (event) =>
          onButton(event) || closestTo(event, "summary") ? false : this.open(this.kernel, true),
        ),
      ),
      ...commonKeys(this, { fold: null, back: "back to the run; no kernel" }),
    ];
  }

  // --- state ----------------------------------------------------------------------------------------

  token() {
    const levels = this.tabs.selected === "levels";
    return {
      pane: levels ? "levels" : "",
      kernel: this.kernel >= 0 ? this.kernel + 1 : "",
      launch: !levels && this.launch >= 0 ? this.launch + 1 : "",
      ...(levels && this.inner ? this.inner.token() : this.searched()),
    };
  }

  /** @param {State} state */
  restore(state) {
    const { kernels, launches } = this.model;
    this.kernel = integer(state.kernel, this.model.start + 1) - 1;
    if (!kernels[this.kernel]) this.kernel = -1;
    this.launch = integer(state.launch, 0) - 1;
    if (launches[this.launch]?.kernel !== this.kernel) this.launch = -1;
    if (
      state.pane === "levels" ||
      (state.pane === undefined && state.kernel === undefined && this.model.start >= 0)
    ) {
      this.tabs.select("levels");
      this.openAt(this.kernel, state);
    } else {
      this.tabs.select("run");
      this.finder?.restore(state);
    }
    this.light();
  }

  // --- the run --------------------------------------------------------------------------------------

  /**
   * @param {number} kernel
   * @param {number} launch
   */
  point(kernel, launch) {
    if (this.pointed?.kernel === kernel && this.pointed?.launch === launch) return;
    this.pointed = kernel >= 0 ? { kernel, launch } : null;
    this.light();
  }

  /**
   * @param {number} kernel
   * @param {number} launch
   */
  choose(kernel, launch) {
    this.kernel = kernel;
    this.launch = launch;
    this.pointed = null;
    this.light();
    const named =
      kernel >= 0
        ? `${sentenceText(this.model.kernels[kernel].say)} ${sentenceText(this.model.kernels[kernel].why)}`
        : sentenceText(this.model.say);
    this.shell.announce(launch >= 0 ? `${this.launchText(launch)} ${named}` : named);
    this.ctx.changed();
  }

  /** @param {number} launch */
  launchText(launch) {
    const { start, ns } = this.model.launches[launch];
    return `Launch ${launch + 1} of ${this.model.launches.length}: from ${duration(start)} on, for ${duration(ns)}.`;
  }

  light() {
    const { kernel, launch } = this.pointed ?? this;
    this.roofline.light(kernel);
    this.time.light(kernel, launch);
    for (const [index, row] of this.lines.entries()) {
      row.classList.toggle("is-lit", index === kernel);
      row.setAttribute("aria-selected", String(index === this.kernel));
      row.tabIndex = index === Math.max(0, this.kernel) ? 0 : -1;
    }
    const found = this.model.kernels[kernel];
    const told = found ?? this.model;
    const opens = found && !this.pointed && this.model.levels.has(kernel) && this.tabs.selected === "run";
    fill(
      this.shell.say,
      sentence(told.say),
      opens && [
        " ",
        h(
          "button",
          { class: "link", type: "button", onclick: () => this.open(kernel, true) },
          "See it at every level",
        ),
      ],
      h("small", null, launch >= 0 && found && `${this.launchText(launch)} `, sentence(told.why)),
    );
  }

  /** @param {number} by */
  walk(by) {
    const to = Math.max(
      0,
      Math.min(
        this.lines.length - 1,
        this.kernel < 0 ? (by > 0 ? 0 : this.lines.length - 1) : this.kernel + by,
      ),
    );
    this.visit(to);
  }

  /**
   * Chooses a kernel and brings its line into the window.
   * @param {number} kernel
   */
  visit(kernel) {
    if (this.tabs.selected !== "run") this.tabs.select("run", true);
    this.choose(kernel, -1);
    const row = this.lines[kernel];
    row.focus({ preventScroll: true });
    const list = row.closest(".run-scroll");
    if (
      row.offsetTop < list.scrollTop + 24 ||
      row.offsetTop + row.offsetHeight > list.scrollTop + list.clientHeight
    )
      list.scrollTop = row.offsetTop - list.clientHeight / 2;
  }

  /** @param {number} by */
  along(by) {
    const { launches } = this.model;
    const from =
      this.launch >= 0
        ? this.launch + by
        : this.kernel >= 0
          ? nextLaunch(launches, this.kernel, by > 0 ? -1 : launches.length)
          : by > 0
            ? 0
            : launches.length - 1;
    const to = Math.max(0, Math.min(launches.length - 1, from));
    this.choose(launches[to].kernel, to);
  }

  // --- one kernel at every level --------------------------------------------------------------------

  /**
   * @param {number} kernel
   * @param {boolean} byReader
   */
  open(kernel, byReader) {
    const { levels } = this.model;
    if (byReader && kernel < 0) return false;
    const to = kernel >= 0 ? kernel : ([...levels.keys()][0] ?? -1);
    if (this.tabs.selected !== "levels") this.tabs.select("levels");
    this.openAt(to, {});
    if (byReader) (this.host.firstElementChild ?? this.host).focus?.({ preventScroll: true });
    this.ctx.changed();
  }

  /**
   * @param {number} kernel
   * @param {{}} state
   */
  openAt(kernel, state) {
    const { levels, kernels } = this.model;
    const to = kernel >= 0 ? kernel : ([...levels.keys()][0] ?? -1);
    this.kernel = to;
    const chip = (index) => {
      const { rule } = kernels[index];
      return h(
        "button",
        {
          class: "op-chip",
          type: "button",
          "aria-pressed": index === to,
          title: kernels[index].name,
          style: { "--hue": `var(--hue-${rule.hue})`, "--fill": `var(--hue-${rule.hue}-fill)` },
          onclick: () => this.open(index, true),
        },
        h("span", { class: "op-badge" }, String(index + 1)),
        h("span", null, `${percent(kernels[index].share)} of the run`),
      );
    };
    fill(this.choices, h("span", { class: "what" }, "kernels"), [...levels.keys()].map(chip));
    this.light();
    if (this.opened === to && this.inner && levels.has(to)) {
      if (Object.keys(state).length > 0) this.inner.restore(state);
      return;
    }
    this.close();
    this.opened = to;
    if (!levels.has(to)) {
      if (to >= 0 && this.ask(to)) return;
      fill(
        this.host,
        h(
          "p",
          { class: "run-none" },
          to < 0
            ? "This page shows no kernel at every level."
            : `This page does not show kernel ${to + 1} at every level. It shows: ${[...levels.keys()].map((n) => n + 1).join(", ") || "none"}. In a notebook, explore takes kernel="${kernels[to].name}" for this one.`,
        ),
      );
      return;
    }
    const root = h("div", { class: "run-kernel" });
    fill(this.host, root);
    this.inner = mountLowering(root, levels.get(to), { ...this.ctx, state });
  }

  /**
   * In a notebook, Python makes the levels of one more kernel; the answer is a new view, which opens here.
   * @param {number} kernel
   */
  ask(kernel) {
    if (!this.view.live || !this.ctx.ask) return false;
    const told = h(
      "p",
      { class: "run-none", role: "status" },
      `Python is lowering kernel ${kernel + 1}. This takes a second or two.`,
    );
    fill(this.host, told);
    this.stop?.();
    this.stop = this.ctx.on("problem", (problem) => {
      if (problem) text(told, problem);
    });
    // The state, which names the kernel, is told a moment after a change: the new view begins with it.
    setTimeout(() => this.ctx.ask({ kernel }), 400);
    return true;
  }

  close() {
    this.inner?.destroy();
    this.inner = null;
    this.opened = -1;
    fill(this.host);
  }

  leave() {
    if (this.tabs.selected === "levels") {
      this.tabs.select("run");
      this.light();
      this.lines[Math.max(0, this.kernel)].focus({ preventScroll: true });
      return this.ctx.changed();
    }
    if (this.time.range) return this.time.select(null);
    if (this.kernel < 0) return false;
    this.choose(-1, -1);
  }

  help() {
    super.help([
      h(
        "p",
        null,
        "A kernel below the roof could be faster; the line from its mark to the roof shows by how much. The limits were measured together with the run: peak throughput by arithmetic in registers, bandwidth by reading memory sequentially. A kernel whose operands are in the caches can lie above the slope.",
      ),
    ]);
  }

  destroy() {
    this.stop?.();
    this.close();
    this.roofline.destroy();
    this.time.destroy();
    super.destroy();
  }
}
