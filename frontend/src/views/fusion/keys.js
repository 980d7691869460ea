// The keys of this explorer: the listener and the help read the same list.
import { MERGED, REFUSED } from "./marks.js";

const onButton = (event) => event.target.closest("button, [role=button], [role=tab]") !== null;

/** Bindings for `bindKeys`, acting on a FusionExplorer. */
export function bindings(explorer) {
  const go = (name) => () => {
    explorer.transport.stop();
    explorer.move(name);
  };
  const row = () =>
    explorer.rows.selected >= 0 ? explorer.rows.selected : Math.max(0, explorer.cursorRow());
  return [
    { keys: ["ArrowRight"], shown: ["→"], label: "next decision", run: go("forward") },
    { keys: ["ArrowLeft"], shown: ["←"], label: "previous decision", run: go("back") },
    {
      keys: ["Home", "End"],
      label: "before the first decision, after the last",
      run: (event) => go(event.key === "Home" ? "first" : "last")(),
    },
    {
      keys: ["PageUp", "PageDown"],
      label: "a twentieth of the decisions back and forward",
      run: (event) => explorer.page(event.key === "PageUp" ? -1 : 1),
    },
    {
      keys: [" "],
      shown: ["space"],
      label: "play or pause",
      run: (event) => (onButton(event) ? false : explorer.transport.toggle()),
    },
    {
      keys: ["n", "N"],
      label: "next and previous refusal",
      run: (event) => explorer.nextMark(REFUSED, event.key === "n" ? 1 : -1),
    },
    {
      keys: ["m", "M"],
      label: "next and previous merge",
      run: (event) => explorer.nextMark(MERGED, event.key === "m" ? 1 : -1),
    },
    {
      keys: ["v", "V"],
      label: "next and previous what-if",
      run: (event) => explorer.nextQuestion(event.key === "v" ? 1 : -1),
    },
    {
      keys: ["g"],
      label: "the rows of each kernel together, or as they are printed",
      run: () => explorer.regroup(!explorer.grouped),
    },
    ...(explorer.whole.functions.length > 1
      ? [
          {
            keys: ["[", "]"],
            label: "the function before and after this one",
            run: (event) => explorer.nextFunction(event.key === "[" ? -1 : 1),
          },
        ]
      : []),
    { keys: ["w"], label: "why: the way, the rule, what stands in the way", run: () => explorer.why() },
    {
      keys: ["t", "k"],
      label: "the tree of post-dominators, the list of kernels",
      run: (event) => explorer.showPane(event.key === "t" ? "tree" : "list"),
    },
    {
      keys: ["ArrowDown", "ArrowUp"],
      shown: ["↑", "↓"],
      label: "move along the program",
      run: (event) => explorer.rows.move(event.key === "ArrowDown" ? 1 : -1, row()),
    },
    {
      keys: ["Enter"],
      label: "on a row: the decision about it, and the next one",
      run: (event) => (onButton(event) ? false : explorer.ask(row())),
    },
    { keys: ["f"], label: "fold or unfold the block", run: () => explorer.rows.toggle(row()) },
    { keys: ["/"], label: "find", run: () => explorer.search.open() },
    { keys: ["?"], label: "these keys, and the patterns", run: () => explorer.help() },
    {
      keys: ["Escape"],
      shown: ["Esc"],
      label: "back to where you were",
      typing: true,
      run: () => explorer.back(),
    },
  ];
}
