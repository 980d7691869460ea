// The keys of this explorer: the listener and the help read the same list.
import { RULE, SUM } from "./marks.js";

const onButton = (event) => event.target.closest("button, [role=button], [role=tab]") !== null;

/** Bindings for `bindKeys`, acting on a GradientExplorer. */
export function bindings(explorer) {
  const go = (name) => () => {
    explorer.transport.stop();
    explorer.move(name);
  };
  const row = () =>
    explorer.rows.selected >= 0 ? explorer.rows.selected : Math.max(0, explorer.cursorRow());
  return [
    { keys: ["ArrowRight"], shown: ["→"], label: "next step of the way back", run: go("forward") },
    { keys: ["ArrowLeft"], shown: ["←"], label: "previous step", run: go("back") },
    {
      keys: ["Home", "End"],
      label: "only the forward program; all derivatives",
      run: (event) => go(event.key === "Home" ? "first" : "last")(),
    },
    {
      keys: ["PageUp", "PageDown"],
      label: "a twentieth of the steps back and forward",
      run: (event) => explorer.page(event.key === "PageUp" ? -1 : 1),
    },
    {
      keys: [" "],
      shown: ["space"],
      label: "play or pause",
      run: (event) => (onButton(event) ? false : explorer.transport.toggle()),
    },
    {
      keys: ["s", "S"],
      label: "next and previous sum",
      run: (event) => explorer.nextMark(SUM, event.key === "s" ? 1 : -1),
    },
    {
      keys: ["r", "R"],
      label: "next and previous rule of an operator",
      run: (event) => explorer.nextMark(RULE, event.key === "r" ? 1 : -1),
    },
    { keys: ["w"], label: "why: what came, the rule, what goes on", run: () => explorer.showPane("why") },
    { keys: ["g"], label: "the two graphs", run: () => explorer.showPane("graph") },
    { keys: ["k"], label: "the list of what is kept", run: () => explorer.showPane("kept") },
    {
      keys: ["ArrowDown", "ArrowUp"],
      shown: ["↑", "↓"],
      label: "move along the program",
      run: (event) => explorer.rows.move(event.key === "ArrowDown" ? 1 : -1, row()),
    },
    {
      keys: ["Enter"],
      label: "on a row: the step that comes to it",
      run: (event) => (onButton(event) ? false : explorer.ask(row())),
    },
    { keys: ["f"], label: "fold or unfold the block", run: () => explorer.rows.toggle(row()) },
    { keys: ["/"], label: "find", run: () => explorer.search.open() },
    { keys: ["?"], label: "these keys", run: () => explorer.help() },
    {
      keys: ["Escape"],
      shown: ["Esc"],
      label: "back to where you were",
      typing: true,
      run: () => explorer.back(),
    },
  ];
}
