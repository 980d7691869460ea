// The keys of the IR explorer. In the graph, arrows follow edges; in the program, they move by rows and fold.
import { activeIn } from "../../core/dom.js";
import { shellKeys } from "../../core/keys.js";
/** @import { IrExplorer } from "./view.js" */

/** @param {IrExplorer} explorer */
export function keyBindings(explorer) {
  const { graph, rows, program, model } = explorer;
  const active = () => activeIn(explorer.root);
  const inGraph = () => graph.el.contains(active());
  const inRows = () => rows.el.contains(active()) || active() === explorer.root;

  /** @param {string} way */
  function walk(way) {
    const from = explorer.shownId(explorer.chosen.sel),
      to = graph.step(from, way);
    if (to === undefined) return;
    explorer.select(to, { from: "keys" });
  }
  /**
   * @param {string} way
   * @param {number} by
   */
  const vertical = (way, by) => () => {
    if (inGraph()) return walk(way);
    if (inRows()) return rows.move(by);
    return false;
  };
  /**
   * @param {string} way
   * @param {boolean} open
   */
  const horizontal = (way, open) => () => {
    if (inGraph()) return walk(way);
    const group = program.groupOfRow.get(rows.selected);
    if (!inRows()) return false;
    if (group !== undefined && explorer.chosen.folded.has(group) === open) return explorer.toggle(group);
    if (!rows.folded.has(rows.selected) === !open) return rows.toggle(rows.selected, open);
    if (!open && rows.parent(rows.selected) >= 0) return rows.move(0, rows.parent(rows.selected));
    return undefined;
  };
  /**
   * @param {string} way
   * @param {number} by
   */
  const ends = (way, by) => () => (inGraph() ? walk(way) : inRows() ? rows.move(by) : false);

  /** @param {KeyboardEvent} event */
  function enter(event) {
    const { sel } = explorer.chosen;
    if (active()?.closest?.("button, a, select, [role=tab]") || sel < 0) return false;
    if (sel >= model.count) explorer.toggle(sel - model.count, event.shiftKey);
    else graph.reveal(explorer.shownId(sel), { centre: true });
    return undefined;
  }

  function nextColors() {
    const { modes } = explorer.strip;
    explorer.shown.setColors(modes[(modes.indexOf(explorer.chosen.by) + 1) % modes.length]);
    explorer.frame.announce(`colors: ${explorer.shown.coloring.about}`);
  }

  function across() {
    if (inGraph()) rows.select(rows.selected >= 0 ? rows.selected : 0, { focus: true, quiet: true });
    else graph.proxy.el.focus({ preventScroll: true });
  }

  function back() {
    const { frame, finder, chosen } = explorer;
    if (frame.back()) return undefined;
    if (finder.search.close()) return explorer.root.focus({ preventScroll: true });
    if (chosen.reach) return explorer.shown.setPart(null);
    if (chosen.anchor >= 0) return explorer.shown.setPaths();
    if (explorer.revisit(-1)) return undefined;
    if (chosen.sel >= 0) return explorer.select(-1);
    return frame.full.leave();
  }

  return [
    {
      keys: ["ArrowUp"],
      shown: ["↑"],
      label: "the row above; in the graph, an operand",
      run: vertical("up", -1),
    },
    {
      keys: ["ArrowDown"],
      shown: ["↓"],
      label: "the row below; in the graph, a user",
      run: vertical("down", 1),
    },
    {
      keys: ["ArrowLeft"],
      shown: ["←"],
      label: "fold; in the graph, the node to the left",
      run: horizontal("left", false),
    },
    {
      keys: ["ArrowRight"],
      shown: ["→"],
      label: "unfold; in the graph, the node to the right",
      run: horizontal("right", true),
    },
    { keys: ["Home"], label: "the first", run: ends("home", -Infinity) },
    { keys: ["End"], label: "the last", run: ends("end", Infinity) },
    { keys: ["Enter"], label: "focus the node in the graph, or open or fold a group", run: enter },
    {
      keys: ["Shift+Enter"],
      shown: ["Shift", "Enter"],
      label: "open or fold a group and all in it",
      run: enter,
    },
    { keys: ["g"], label: "between program and graph", run: across },
    {
      keys: ["n"],
      label: "only the neighbors: 1, 2, 3 edges away, then all again",
      run: () => explorer.shown.setNear(((explorer.chosen.reach?.radius ?? 0) + 1) % 4),
    },
    {
      keys: ["u"],
      label: "everything from which the node is computed",
      run: () => explorer.shown.setReach("up"),
    },
    {
      keys: ["U"],
      shown: ["Shift", "u"],
      label: "everything computed from the node",
      run: () => explorer.shown.setReach("down"),
    },
    {
      keys: ["p"],
      label: "paths from the node to the next chosen one",
      run: () => explorer.shown.setPaths(),
    },
    {
      keys: ["o"],
      label: "only these in the graph, or all again",
      run: () => (explorer.chosen.reach ? explorer.shown.setOnly(!explorer.chosen.only) : false),
    },
    { keys: ["c"], label: "the next meaning of the colors", run: nextColors },
    { keys: ["+", "="], shown: ["+"], label: "zoom in", run: () => graph.zoom(1.3) },
    { keys: ["-"], label: "zoom out", run: () => graph.zoom(1 / 1.3) },
    { keys: ["0"], label: "show the whole graph", run: () => graph.fit(true) },
    { keys: ["/"], label: "find", run: () => explorer.finder.search.open() },
    { keys: ["b"], label: "bookmarks, and the link to this state", run: () => explorer.share(true) },
    {
      keys: ["Backspace", "Shift+Backspace"],
      shown: ["⌫", "⇧⌫"],
      label: "back to where a jump began, and forward again",
      run: (/** @type {KeyboardEvent} */ event) => explorer.revisit(event.shiftKey ? 1 : -1),
    },
    ...shellKeys(explorer.frame),
    {
      keys: ["Escape"],
      shown: ["Esc"],
      label: "back: close, show all nodes again, clear the selection",
      typing: true,
      run: back,
    },
    { keys: ["?"], label: "these keys", run: () => explorer.help() },
  ];
}
