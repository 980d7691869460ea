// A measured run: every kernel under the roof that the machine sets it, every launch in time, and each kernel that the
// page has at every level. What is pointed at, or chosen, is lit in all of them.
import { closestTo, fill, h } from "../../core/dom.js";
import { LATER } from "../../core/later.js";
import { Explorer } from "../../core/explorer.js";
import { both, commonKeys, key, onButton } from "../../core/keys.js";
import { integer } from "../../core/links.js";
import { sentence, sentenceText } from "../../core/sentence.js";
import { addStyle } from "../../core/style.js";
import { createTabs } from "../../core/tabs.js";
import { duration } from "../lowering/model.js";
import { beyondRoof, createRoofline, createRules } from "./charts.js";
import { checkRun } from "./check.js";
import { createFinder } from "./find.js";
import { KernelLevels } from "./levels.js";
import { createModel, nextLaunch, sumOf } from "./model.js";
import { kernelTable, launchTable } from "./table.js";
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
const MERGED = 300; // launches from which on some bars may stand for several
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
  /** The kernels' lines in their table. @type {HTMLElement[]} */
  lines = LATER;
  /** @type {KernelLevels} */
  levels = LATER;
  /** @type {ReturnType<typeof createTabs>} */
  tabs = LATER;
  /** @type {{ kernel: number; launch: number; } | null | null} */
  pointed = LATER;

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
      pane("run-kernels", "Kernels", "", null, h("div", { class: "run-scroll" }, kernelTable(this))),
      pane(
        "run-timeline",
        "Timeline",
        `each bar is a launch${model.launches.length > MERGED ? ", or several that are too short to see" : ""}; the filled part is the least time that the machine allows`,
        this.zoomTools(),
        this.time.el,
        this.part,
        launchTable(model),
      ),
    );
    this.levels = new KernelLevels(this);
    this.tabs = createTabs({
      label: "the run, or one kernel of it",
      items: [
        { id: "run", label: "The run", pane: this.runPane },
        { id: "levels", label: "One kernel at every level", pane: this.levels.el },
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
    this.shell.body.append(this.search.el, this.tabs.el, this.runPane, this.levels.el);
    this.shell.foot.append(createRules(model), this.hints(KEYS));
    this.listen(this.bindings());
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
      ...(levels && this.levels.inner ? this.levels.inner.token() : this.searched()),
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
      this.levels.open(this.kernel, state);
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
    this.levels.open(to, {});
    if (byReader) this.levels.focus();
    this.ctx.changed();
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
    this.levels.destroy();
    this.roofline.destroy();
    this.time.destroy();
    super.destroy();
  }
}
