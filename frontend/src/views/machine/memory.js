// The memory beside the program: every live object, and the values that refer to it.
import { fill, h } from "../../core/dom.js";
import { keepInView } from "../evaluation/frames.js";
import { valueChip } from "./panels.js";
/** @import { MachineExplorer } from "./view.js" */

const MOST_OBJECTS = 120;
/** What happens to a thing in the step that is shown. */
const MARKED = new Set(["new", "filled", "freed"]);

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
