// What stands beside the program: the code of a function, the registers of a frame, the stack; and the column of instructions.
import { fill, h } from "../../core/dom.js";
import { keepInView, shortStack } from "../evaluation/frames.js";
import { ranges } from "./run.js";
/** @import { MachineExplorer } from "./view.js" */
/** @import { CodeLine } from "../../generated/machine.js" */

/** Lines of code that are drawn around the one that is looked at; longer functions have their ends cut, which is said. */
const WINDOW = 600;
const IN_HEAD = 2;

/**
 * A value as a button, with its number; plain text where it has no memory of its own.
 * @param {MachineExplorer} explorer
 */
export function valueChip(explorer, value, { fresh = false } = {}) {
  const { run, step } = explorer;
  const said = run.say(value, step);
  const state = fresh ? " fresh" : "";
  if (typeof value === "string")
    return h("span", { class: `val plain${state}`, title: said }, h("span", null, said));
  const kind = run.kind(value);
  const gone = run.gone(value, step);
  const note = gone ? ", freed" : "";
  return h(
    "button",
    {
      class: `val k-${kind.id}${state}${gone ? " gone" : ""}`,
      type: "button",
      "data-object": value,
      title: `${kind.word} #${value}\n${said}${note}`,
      "aria-label": `#${value} ${said}, ${kind.word}${note}`,
    },
    h("span", { class: "id" }, `#${value} `),
    h("span", null, said),
  );
}

// --- code -----------------------------------------------------------------------------------------------

/**
 * Draws the lines of a function; only where another function, or another stretch of it, is shown.
 * @param {MachineExplorer} explorer
 */
export function drawCode(explorer, pane) {
  const { run, step } = explorer;
  const fn = explorer.fn;
  const next =
    explorer.frame >= 0 && run.functionOf(explorer.frame) === fn ? run.standsAt(explorer.frame, step) : -1;
  const { frame, number } = explorer.view.steps[step];
  const now = run.functionOf(frame) === fn && explorer.frame === frame ? number : -1;
  const centre = Math.max(0, now >= 0 ? now : next);
  const from =
    fn.code.length <= WINDOW
      ? 0
      : Math.max(0, Math.min(fn.code.length - WINDOW, Math.round((centre - WINDOW / 2) / 100) * 100));
  const key = `${fn.index} ${from}`;
  if (pane.dataset.drawn !== key) {
    pane.dataset.drawn = key;
    const lines = fn.code.slice(from, from + WINDOW);
    fill(
      pane,
      from > 0 && h("p", { class: "soft" }, `${from} instructions above`),
      h(
        "ol",
        { class: "vm-code" },
        lines.map((line, i) => codeLine(line, from + i)),
      ),
      from + lines.length < fn.code.length &&
        h("p", { class: "soft" }, `${fn.code.length - from - lines.length} instructions below`),
    );
  }
  const waits = explorer.frame >= 0 && explorer.frame !== run.stack(step).at(-1);
  const fails = explorer.view.failure !== null && step === explorer.count - 1;
  for (const item of pane.querySelectorAll(".vm-line")) {
    const at = Number(item.dataset.at);
    item.classList.toggle("is-now", at === now);
    item.classList.toggle("is-next", at === next);
    const button = item.firstElementChild;
    const said =
      at === now ? (fails ? "fails" : "executed now") : at === next ? (waits ? "waiting here" : "next") : "";
    button.querySelector(".vm-where").textContent = said;
    if (at === now) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
  }
  const shown = pane.querySelector(".is-now") ?? pane.querySelector(".is-next");
  if (shown) keepInView(pane, shown.offsetTop, shown.offsetHeight);
}

/**
 * @param {CodeLine} line
 * @param {number} at
 */
function codeLine(line, at) {
  const [mnemonic, ...rest] = line.text.split(" ");
  const runs = line.runs > 0 ? `×${line.runs.toLocaleString("en")}` : line.runs === 0 ? "never" : "";
  return h(
    "li",
    { class: `vm-line${line.runs === 0 ? " never" : ""}`, "data-at": at },
    h(
      "button",
      {
        class: "ins",
        type: "button",
        "data-ins": at,
        title: `${line.text}${line.remark && `  (${line.remark})`}\n${runs === "never" ? "never executed" : runs && `executed ${runs.slice(1)} times`}\ngo to its next execution`,
      },
      h("span", { class: "vm-num" }, String(at)),
      h(
        "span",
        { class: "ins-text" },
        h("span", { class: "mnemonic" }, mnemonic),
        ` ${rest.join(" ")}`,
        line.remark && h("span", { class: "remark" }, ` ${line.remark}`),
      ),
      h("span", { class: "vm-where" }),
      h("span", { class: "vm-runs" }, runs),
    ),
  );
}

// --- registers ------------------------------------------------------------------------------------------

/** @param {MachineExplorer} explorer */
export function drawRegisters(explorer, pane) {
  const { run, view, step, frame } = explorer;
  if (frame < 0) return void fill(pane, h("p", { class: "soft" }, "No function is running."));
  const fn = run.functionOf(frame);
  const { frame: acts, number } = view.steps[step];
  const reads = acts === frame && number >= 0 ? fn.code[number].reads : [];
  const lost = view.gap !== null && step > view.gap.step;
  const fills = acts === frame ? run.events[step].filled : [];
  const row = (_, r) => {
    const held = run.register(frame, r, step);
    const written =
      run.events[step].written.has(`${frame} ${r}`) ||
      (held && fills.includes(held.value) && number >= 0 && reads.includes(r));
    const note = written ? "written" : reads.includes(r) ? "read" : "";
    return h(
      "tr",
      { class: note && `is-${note}` },
      h("th", { scope: "row" }, `r${r}`, fn.names[r] && h("small", null, ` ${fn.names[r]}`)),
      h(
        "td",
        null,
        held
          ? valueChip(explorer, held.value, { fresh: written })
          : h("span", { class: "soft empty" }, lost ? "not recorded" : "empty"),
      ),
      h("td", { class: "note" }, note),
    );
  };
  fill(
    pane,
    h(
      "table",
      { class: "regs" },
      h(
        "colgroup",
        null,
        ["name", "value", "note"].map((name) => h("col", { class: `col-${name}` })),
      ),
      h(
        "thead",
        { class: "sr" },
        h(
          "tr",
          null,
          ["register", "holds", "in this step"].map((t) => h("th", { scope: "col" }, t)),
        ),
      ),
      h("tbody", null, Array.from({ length: fn.registers }, row)),
    ),
  );
  const first = pane.querySelector(".is-written") ?? pane.querySelector(".is-read");
  if (first) keepInView(pane, first.offsetTop, first.offsetHeight);
}

// --- the stack ------------------------------------------------------------------------------------------

/** @param {MachineExplorer} explorer */
function given(explorer, frame) {
  const { run, step } = explorer;
  const { names } = run.functionOf(frame);
  return names
    .slice(0, IN_HEAD)
    .map((name, r) => {
      const held = run.register(frame, r, step);
      return held ? `${name === "captured" ? `r${r}` : name} = ${run.say(held.value, step)}` : "";
    })
    .filter(Boolean)
    .join(", ");
}

/**
 * @param {MachineExplorer} explorer
 * @param {boolean} on
 */
function card(explorer, frame, height, on) {
  const { run, view, step } = explorer;
  const { before, turn } = view.frames[frame];
  const shown = frame === explorer.frame;
  const at = run.standsAt(frame, step);
  const line = at >= 0 ? run.functionOf(frame).code[at]?.text : "";
  return h(
    "li",
    { class: `frame${shown ? " shown" : ""}` },
    h(
      "button",
      {
        class: "head",
        type: "button",
        "data-frame": frame,
        "aria-pressed": shown,
        title: shown ? "this frame is shown" : "show this frame",
      },
      h("span", { class: "height" }, String(height)),
      h("code", { class: "who" }, run.frameName(frame)),
      on && h("span", { class: "cursor" }, "● runs"),
      !shown && h("span", { class: "given" }, given(explorer, frame)),
    ),
    before >= 0 &&
      h(
        "p",
        { class: "turn" },
        "↻ ",
        `${turn} tail ${turn === 1 ? "call" : "calls"} in this frame`,
        h("small", null, ", so the stack does not grow"),
      ),
    (shown || on) &&
      line &&
      h("p", { class: "at" }, on ? "next " : "waits at ", h("code", null, `${at} ${line}`)),
  );
}

/** @param {MachineExplorer} explorer */
export function drawStack(explorer, pane) {
  const { run, view, step, frame } = explorer;
  const stack = run.stack(step);
  const top = stack.at(-1);
  const items = shortStack(stack, frame).map((item) =>
    item.hidden
      ? h(
          "li",
          { class: "more" },
          h(
            "button",
            { class: "link", type: "button", "data-frame": item.hidden.at(-1) },
            `${item.hidden.length} more frames`,
          ),
        )
      : card(explorer, item.frame, item.height, item.frame === top),
  );
  const { deepest } = view.totals;
  fill(
    pane,
    h(
      "p",
      { class: "soft depth" },
      stack.length ? `${stack.length} ${stack.length === 1 ? "frame" : "frames"}` : "The stack is empty.",
      deepest > 1 && ` · ${deepest.toLocaleString("en")} at most`,
    ),
    explorer.pinned &&
      h(
        "p",
        { class: "pinned" },
        "You chose this frame. ",
        h("button", { class: "link", type: "button", "data-follow": "" }, "Back to the running one"),
      ),
    h("ol", { class: "stack" }, items),
  );
  const shown = pane.querySelector(".frame.shown");
  if (shown) keepInView(pane, shown.offsetTop, shown.offsetHeight);
}

// --- memory ---------------------------------------------------------------------------------------------

/**
 * The column beside the program: the instructions of the shown function that came from a row.
 * @param {MachineExplorer} explorer
 */
export function instructionsColumn(explorer) {
  return {
    id: "ins",
    title: "instructions",
    width: "minmax(70px, 128px)",
    lines: () => 1,
    /** @param {number} row */
    draw(row, cell) {
      const all = explorer.run.fromRow.get(row) ?? [];
      const own = all.filter(({ fn }) => fn === explorer.fn.index).map(({ number }) => number);
      const others = [
        ...new Set(
          all.filter(({ fn }) => fn !== explorer.fn.index).map(({ fn }) => explorer.run.functions[fn].name),
        ),
      ];
      fill(
        cell,
        own.length > 0
          ? h("span", { class: "ins-range" }, ranges(own))
          : others.length > 0 &&
              h("span", { class: "soft ins-other", title: `in ${others.join(", ")}` }, others[0]),
      );
    },
  };
}
