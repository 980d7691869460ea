// The keys of this explorer: the listener and the help read the same list.

const onButton = (event) => event.target.closest("button, [role=button], [role=tab]") !== null;

/** Bindings for `bindKeys`, acting on an EvaluationExplorer. */
export function bindings(explorer) {
  const go = (name) => () => {
    explorer.transport.stop();
    explorer.move(name);
  };
  const page = Math.max(5, Math.round(explorer.count / 20));
  const row = () =>
    explorer.rows.selected >= 0 ? explorer.rows.selected : (explorer.view.steps[explorer.step]?.row ?? 0);
  /** On a box of the heap: its story. */
  const story = (event) => {
    const box = event.target.closest(".box");
    if (box) explorer.ask("object", Number(box.dataset.object));
    return box !== null;
  };
  return [
    {
      keys: ["ArrowRight"],
      shown: ["→"],
      label: "next step",
      run: (event) => (explorer.inHeap(event) ? undefined : go("forward")()),
    },
    {
      keys: ["ArrowLeft"],
      shown: ["←"],
      label: "previous step",
      run: (event) => (explorer.inHeap(event) ? undefined : go("back")()),
    },
    {
      keys: ["Home", "End"],
      label: "first and last step",
      run: (event) => go(event.key === "Home" ? "first" : "last")(),
    },
    {
      keys: ["PageUp", "PageDown"],
      label: `${page} steps back and forward`,
      run: (event) => explorer.go(explorer.step + (event.key === "PageUp" ? -page : page)),
    },
    {
      keys: ["o", "O"],
      label: "over: to the end of what is called here, and back",
      run: (event) => explorer.jumpTo("over", event.key === "o" ? 1 : -1),
    },
    {
      keys: ["u", "U"],
      label: "out of this call, and back to where it was called",
      run: (event) => explorer.jumpTo("out", event.key === "u" ? 1 : -1),
    },
    {
      keys: ["n", "N"],
      label: "next and previous step in this row",
      run: (event) => explorer.jumpTo("row", event.key === "n" ? 1 : -1),
    },
    {
      keys: ["[", "]"],
      label: "show the frame that called, that was called",
      run: (event) => explorer.otherFrame(event.key === "[" ? -1 : 1),
    },
    {
      keys: [" "],
      shown: ["space"],
      label: "play or pause",
      run: (event) => (story(event) ? undefined : onButton(event) ? false : explorer.transport.toggle()),
    },
    {
      keys: ["ArrowDown", "ArrowUp"],
      shown: ["↑", "↓"],
      label: "move along the program",
      run: (event) =>
        explorer.inHeap(event) ? undefined : explorer.rows.move(event.key === "ArrowDown" ? 1 : -1, row()),
    },
    {
      keys: ["Enter"],
      label: "on a row: what it gave, each time; on a value: its story",
      run: (event) => (story(event) ? undefined : onButton(event) ? false : explorer.ask("row", row())),
    },
    { keys: ["w"], label: "why could this step happen", run: () => explorer.ask("step", -1) },
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
