// What stands beside the program: the code of a function, the registers of a frame, the stack, the memory, the reasons.
import { fill, h } from "../../core/dom.js";
import { glyph } from "../../core/glyphs.js";
import { sentence } from "../../core/sentence.js";
import { causeChain } from "../../core/steps.js";
import { keepInView, shortStack } from "../evaluation/frames.js";
import { MARKS } from "./marks.js";
import { STORAGE, TENSOR, ranges } from "./run.js";
/** @import { MachineExplorer } from "./view.js" */
/** @import { CodeLine } from "../../generated/machine.js" */

/** Lines of code that are drawn around the one that is looked at; longer functions have their ends cut, which is said. */
const WINDOW = 600;
const MOST_OBJECTS = 120;
const LONGEST = 40;
const IN_HEAD = 2;
/** What happens to a thing in the step that is shown. */
const MARKED = new Set(["new", "filled", "freed"]);

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
 * From when to when something lives: solid up to its last use, pale until nothing holds it, a line where we are.
 * @param {MachineExplorer} explorer
 */
function life(explorer, object) {
  const { made, last, freed } = explorer.view.objects[object];
  /** @param {number} at */
  const share = (at) => `${(100 * at) / Math.max(1, explorer.count)}%`;
  return h(
    "span",
    { class: "vm-life", "aria-hidden": "true" },
    h("span", { class: "held", style: { left: share(made), width: share(freed - made) } }),
    h("span", { class: "used", style: { left: share(made), width: share(last + 1 - made) } }),
    h("span", { class: "here", style: { left: share(explorer.step + 0.5) } }),
  );
}

/** @param {MachineExplorer} explorer */
function heldBy(explorer, holders, object) {
  const { run, view, step } = explorer;
  if (run.gone(object, step)) return "not referenced";
  const own = (holders.get(object) ?? []).map(({ frame, register }) =>
    frame === explorer.frame ? `r${register}` : `r${register} of ${run.frameName(frame)}`,
  );
  if (own.length) return [...new Set(own)].slice(0, 3).join(", ");
  if (view.objects[object].given) return "the caller";
  const inside = run.tenants(object).filter((i) => run.seen(i, step) && !run.gone(i, step));
  return inside.length ? inside.map((i) => `#${i}`).join(", ") : "another value";
}

/** @param {MachineExplorer} explorer */
function objectLine(explorer, holders, object, inside) {
  const { run, step } = explorer;
  const event = run.events[step];
  const gone = run.gone(object, step);
  const state = event.made.includes(object)
    ? explorer.view.objects[object].given
      ? "given"
      : "new"
    : event.filled.includes(object)
      ? "filled"
      : gone
        ? event.freed.includes(object)
          ? "freed"
          : "free"
        : run.idle(object, step)
          ? "not used again"
          : "";
  return h(
    "li",
    {
      class: `thing${inside ? " inside" : ""}${gone ? " is-gone" : ""}${MARKED.has(state) ? " is-marked" : ""}${object === explorer.chosen ? " chosen" : ""}`,
    },
    h(
      "span",
      { class: "what" },
      valueChip(explorer, object, { fresh: state === "new" || state === "filled" }),
    ),
    h("span", { class: "state" }, state),
    h("span", { class: "holder" }, heldBy(explorer, holders, object)),
    life(explorer, object),
  );
}

/** @param {MachineExplorer} explorer */
export function drawMemory(explorer, pane) {
  const { run, view, step } = explorer;
  const holders = run.holders(step);
  const seen = view.objects.flatMap((_, i) => (run.seen(i, step) ? [i] : []));
  const freed = new Set(run.events[step].freed);
  const shown = seen.filter(
    (i) => explorer.all || !run.gone(i, step) || freed.has(i) || i === explorer.chosen,
  );
  const there = new Set(shown);
  /** @param {number} i */
  const lies = (i) => view.objects[i].storage >= 0 && there.has(view.objects[i].storage);
  const tenants = new Map();
  for (const i of shown)
    if (lies(i)) tenants.set(view.objects[i].storage, [...(tenants.get(view.objects[i].storage) ?? []), i]);
  const ordered = shown
    .filter((i) => !lies(i))
    .flatMap((i) => [[i, false], ...(tenants.get(i) ?? []).map((k) => [k, true])]);
  // The newest are the ones that something happens to.
  const kept = ordered.slice(-MOST_OBJECTS);
  const goneCount = seen.filter((i) => run.gone(i, step)).length;
  fill(
    pane,
    h(
      "p",
      { class: "soft depth" },
      `${run.bytes(step).toLocaleString("en")} bytes of live storage · ${seen.length - goneCount} of ${seen.length} objects live`,
      goneCount > 0 && [
        " · ",
        h(
          "button",
          { class: "link", type: "button", "data-all": "" },
          explorer.all ? "hide the freed ones" : `show the ${goneCount} freed ones`,
        ),
      ],
    ),
    kept.length < ordered.length &&
      h("p", { class: "soft" }, `${ordered.length - kept.length} older ones, not drawn`),
    kept.length === 0
      ? h("p", { class: "soft" }, "No object exists yet.")
      : h(
          "ul",
          { class: "things" },
          kept.map(([i, inside]) => objectLine(explorer, holders, i, inside)),
        ),
  );
  const first =
    pane.querySelector(".chosen") ??
    pane.querySelector(".is-marked:last-of-type") ??
    pane.querySelector(".is-marked");
  if (first) keepInView(pane, first.offsetTop, first.offsetHeight);
}

// --- reasons --------------------------------------------------------------------------------------------

/**
 * @param {MachineExplorer} explorer
 * @param {number} step
 */
function entry(explorer, step, note = "") {
  const { mark, say } = explorer.view.steps[step];
  return h(
    "button",
    { class: "entry", type: "button", "data-step": step },
    glyph(MARKS[mark]),
    h("span", { class: "at" }, String(step + 1)),
    h("span", { class: "sentence" }, sentence(say)),
    note && h("span", { class: "note" }, note),
  );
}

/**
 * @param {MachineExplorer} explorer
 * @param {number} object
 */
function story(explorer, pane, object) {
  const { run, view, step, count } = explorer;
  const { kind, label, bytes, storage, given: given_, made, last, freed } = view.objects[object];
  /**
   * @param {string} words
   * @param {number} at
   */
  const to = (at, words) =>
    h("button", { class: "link", type: "button", "data-step": Math.min(at, count - 1) }, words);
  const tenants = kind === STORAGE ? run.tenants(object) : [];
  fill(
    pane,
    h("p", { class: "ask" }, `What is #${object}?`),
    h("p", { class: "whole" }, h("code", null, run.say(object, step))),
    h(
      "p",
      { class: "soft" },
      `A ${run.kind(object).word}`,
      kind === TENSOR && [" ", h("code", null, label)],
      bytes > 0 && `, ${bytes.toLocaleString("en")} bytes`,
      storage >= 0 && [
        ", in ",
        h("button", { class: "link", type: "button", "data-object": storage }, `#${storage}`),
      ],
      ". ",
      given_ ? "It is part of the arguments. " : [to(made, `Made at step ${made + 1}`), ". "],
      last > made && [to(last, `Last used at step ${last + 1}`), ". "],
      freed < count ? [to(freed, `Freed after step ${freed + 1}`), "."] : "It is live until the end.",
    ),
    tenants.length > 0 && [
      h("p", { class: "ask" }, "Tensors in it, one after another:"),
      h(
        "ol",
        { class: "chain" },
        tenants.map((i) =>
          h(
            "li",
            { class: run.seen(i, step) && !run.gone(i, step) ? "here" : "" },
            h(
              "button",
              { class: "entry", type: "button", "data-step": view.objects[i].made },
              h("span", { class: "at" }, String(view.objects[i].made + 1)),
              h("span", { class: "sentence" }, `#${i} ${view.objects[i].label}`),
            ),
          ),
        ),
      ),
    ],
  );
}

/**
 * Why a step could happen; what an object is; what a row became.
 * @param {MachineExplorer} explorer
 */
export function drawWhy(explorer, pane) {
  const { run, view, step, question } = explorer;
  if (question.kind === "object") return story(explorer, pane, question.at);
  if (question.kind === "row") {
    const from = run.fromRow.get(question.at) ?? [];
    const lines = from.map(({ fn, number }) =>
      h(
        "li",
        null,
        h(
          "button",
          { class: "entry", type: "button", "data-fn": fn, "data-ins": number },
          h("span", { class: "at" }, String(number)),
          h(
            "span",
            { class: "sentence" },
            h("code", null, run.functions[fn].code[number].text),
            ` in ${run.functions[fn].name}`,
          ),
        ),
      ),
    );
    return void fill(
      pane,
      h(
        "p",
        { class: "ask" },
        "Which instructions were generated from ",
        h("code", null, explorer.rows.text(question.at)),
        "?",
      ),
      h(
        "p",
        { class: "soft" },
        from.length
          ? `${from.length} ${from.length === 1 ? "instruction" : "instructions"} came from this line.`
          : "No instruction was generated from this line.",
      ),
      h("ol", { class: "chain" }, lines.slice(0, LONGEST)),
      lines.length > LONGEST && h("p", { class: "soft" }, `and ${lines.length - LONGEST} more`),
    );
  }
  const { chain, more } = causeChain((at) => view.steps[at]?.because ?? [], step, LONGEST);
  const ordered = [...chain].sort((a, b) => b.step - a.step);
  fill(
    pane,
    h("p", { class: "ask" }, "What does this step depend on?"),
    chain.length === 1 && h("p", { class: "soft" }, "It depends only on the program and its arguments."),
    h(
      "ol",
      { class: "chain" },
      ordered.map(({ step: at, depth }) =>
        h("li", { class: at === step ? "here" : "" }, entry(explorer, at, ["", "direct cause"][depth] ?? "")),
      ),
    ),
    more > 0 && h("p", { class: "soft" }, `and ${more} earlier steps`),
  );
}

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
