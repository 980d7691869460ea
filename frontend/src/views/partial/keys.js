// The keys of this explorer: the listener and the help read the same list.
import { EFFECT, INLINED, KEPT, UNROLLED } from "./marks.js";

const onButton = (event) => event.target.closest("button, [role=button], [role=tab]") !== null;

/** Bindings for `bindKeys`, acting on a PartialExplorer. */
export function bindings(explorer) {
  const go = (name) => () => {
    explorer.transport.stop();
    explorer.move(name);
  };
  return [
    { keys: ["ArrowRight"], shown: ["→"], label: "next step", run: go("forward") },
    { keys: ["ArrowLeft"], shown: ["←"], label: "previous step", run: go("back") },
    {
      keys: ["Home", "End"],
      label: "first and last step",
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
      keys: ["o"],
      label: "over the call that begins here",
      run: () => explorer.jump(explorer.model.over(explorer.step)),
    },
    {
      keys: ["u"],
      label: "out of the function, to its value",
      run: () => explorer.jump(explorer.model.over(explorer.step, true)),
    },
    {
      keys: ["r", "R"],
      label: "next and previous call done in place",
      run: (event) => explorer.nextMark([INLINED, UNROLLED], event.key === "r" ? 1 : -1),
    },
    {
      keys: ["n", "N"],
      label: "next and previous thing left to run time",
      run: (event) => explorer.nextMark([KEPT, EFFECT], event.key === "n" ? 1 : -1),
    },
    {
      keys: ["e", "E"],
      label: "next and previous effect",
      run: (event) => explorer.nextMark([EFFECT], event.key === "e" ? 1 : -1),
    },
    { keys: ["a"], label: "also what nothing asks for", run: () => explorer.setAll(!explorer.all) },
    {
      keys: ["ArrowDown", "ArrowUp"],
      shown: ["↑", "↓"],
      label: "move along the program, or along what remains",
      run: (event) => explorer.along(event.key === "ArrowDown" ? 1 : -1),
    },
    {
      keys: ["Enter", "w"],
      label: "on a row: the step about it, and the next one",
      run: (event) => (event.key === "Enter" && onButton(event) ? false : explorer.ask()),
    },
    { keys: ["f"], label: "fold or unfold the block", run: () => explorer.fold() },
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
