// The keys of this explorer: the listener and the help read the same list.
import { AGAIN, NEW } from "./marks.js";

const onButton = (event) => event.target.closest("button, [role=button], [role=tab]") !== null;

/** Bindings for `bindKeys`, acting on a MemoryExplorer. */
export function bindings(explorer) {
  const go = (name) => () => {
    explorer.transport.stop();
    explorer.move(name);
  };
  const row = () =>
    explorer.rows.selected >= 0 ? explorer.rows.selected : Math.max(0, explorer.cursorRow());
  return [
    { keys: ["ArrowRight"], shown: ["→"], label: "next step", run: go("forward") },
    { keys: ["ArrowLeft"], shown: ["←"], label: "previous step", run: go("back") },
    {
      keys: ["Home", "End"],
      label: "before the first step, after the last",
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
    { keys: ["p"], label: "the peak", run: () => explorer.jump(explorer.variant.peak) },
    {
      keys: ["n", "N"],
      label: "next and previous new buffer",
      run: (event) => explorer.nextMark(NEW, event.key === "n" ? 1 : -1),
    },
    {
      keys: ["g", "G"],
      label: "next and previous buffer that is used again",
      run: (event) => explorer.nextMark(AGAIN, event.key === "g" ? 1 : -1),
    },
    {
      keys: ["v", "V"],
      label: "next and previous other plan",
      run: (event) => explorer.nextPlan(event.key === "v" ? 1 : -1),
    },
    {
      keys: ["z"],
      label: "the steps around this one, or all",
      run: () => explorer.setWhole(!explorer.whole),
    },
    { keys: ["w"], label: "why: who had the buffer before", run: () => explorer.why() },
    {
      keys: ["a", "u"],
      label: "the arena, what is in use",
      run: (event) => explorer.showPane(event.key === "a" ? "arena" : "use"),
    },
    {
      keys: ["ArrowDown", "ArrowUp"],
      shown: ["↑", "↓"],
      label: "move along the program",
      run: (event) => explorer.rows.move(event.key === "ArrowDown" ? 1 : -1, row()),
    },
    {
      keys: ["Enter"],
      label: "on a row: the step that makes its value",
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
