// What stands around an explorer's parts: the tools of the bar, tabs, the keys in the foot, the note about a part of the run.
import { h } from "./dom.js";
import { edit } from "./edit.js";
import { createTabs } from "./tabs.js";
import { rangeText } from "./timeline.js";
/** @import { Explorer } from "./explorer.js" */
/** @import { Child } from "./types.js" */

/**
 * The last buttons of the bar, after those that only this explorer has.
 * @param {Explorer} explorer
 * @param {Child} own
 * @param {boolean} find
 */
export function toolsOf(explorer, own, find) {
  const { ctx, transport, programText } = explorer;
  return h(
    "span",
    { class: "group tools" },
    transport?.speed,
    filmTools(explorer),
    own,
    find && explorer.button("find", "find (/)", () => explorer.search.open()),
    ctx.playground && programText && explorer.button("edit", "edit this program", () => edit(explorer)),
    explorer.button("link", "link to this state (copied), bookmarks (b)", () => explorer.share()),
    explorer.button("save", "save or print what is shown", () => explorer.save()),
    explorer.button("?", "keys (?)", () => explorer.help()),
  );
}

/**
 * The buttons that do to the timeline what the wheel and Shift do; where the tools are in a menu.
 * @param {Explorer} explorer
 */
function filmTools(explorer) {
  if (!explorer.timeline?.long) return null;
  const around = Math.round(explorer.count / 12);
  return h(
    "span",
    { class: "group film", role: "group", "aria-label": "timeline" },
    explorer.button("+", "magnify the timeline (+)", () => explorer.timeline.zoom(0.6)),
    explorer.button("−", "show more of the timeline (-)", () => explorer.timeline.zoom(1 / 0.6)),
    explorer.button("select", "select a part of the run (Shift and drag)", () =>
      explorer.timeline.select([
        Math.max(0, explorer.step - around),
        Math.min(explorer.count - 1, explorer.step + around),
      ]),
    ),
  );
}

/**
 * Says what the selected part of the run holds; null: none is selected.
 * @param {Explorer} explorer
 * @param {[number, number] | null} range
 * @param {readonly number[]} kinds
 */
export function noteRange(explorer, range, kinds) {
  const { shell, timeline } = explorer;
  if (!range) return shell.note(null);
  const own = explorer.amountOf(range);
  const message = rangeText(kinds, explorer.marks, range) + (own && ` · ${own}`);
  shell.note([
    h("span", null, message),
    explorer.button("magnify", "magnify the selected part", () => timeline.show(range)),
    explorer.button("✕", "clear the selection (Esc)", () => timeline.select(null)),
  ]);
  shell.announce(message);
}

/**
 * The most useful keys, for the foot: `[[keys, label], …]`.
 * @param {readonly (readonly [readonly string[], string])[]} list
 */
export const hintsOf = (list) =>
  h(
    "span",
    { class: "keys" },
    list.map(([keys, label]) =>
      h(
        "span",
        null,
        keys.map((key) => [h("kbd", null, key), " "]),
        label,
      ),
    ),
  );

/**
 * Tabs that choose which part of the explorer's `body` is shown. When a reader chooses, `redraw()` is called first.
 * @param {Explorer} explorer
 * @param {readonly { id: string, label: string }[]} items
 * @param {{ label?: string, className?: string, redraw?: () => unknown }} options
 */
export const partTabsOf = (
  explorer,
  items,
  { label = "what to show", className = "narrow", redraw = () => {} },
) =>
  createTabs({
    label,
    className,
    items,
    onSelect: (id, byReader) => {
      explorer.body?.setAttribute("data-on", id);
      if (explorer.active?.offsetParent === null) explorer.focus(); // what had the focus is hidden now
      if (!byReader) return;
      redraw();
      explorer.ctx.changed();
    },
  });
