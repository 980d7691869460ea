// The keys of this explorer: the listener and the help read the same list.

const onButton = (event) => event.target.closest("button, [role=button], [role=tab]") !== null;

/** Bindings for `bindKeys`, acting on a TypesExplorer. */
export function bindings(explorer) {
  const go = (name) => () => {
    explorer.transport.stop();
    explorer.move(name);
  };
  const page = Math.max(5, Math.round(explorer.count / 20));
  const row = () =>
    explorer.rows.selected >= 0 ? explorer.rows.selected : (explorer.view.steps[explorer.step]?.row ?? 0);
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
      label: `${page} steps back and forward`,
      run: (event) => explorer.go(explorer.step + (event.key === "PageUp" ? -page : page)),
    },
    {
      keys: [" "],
      shown: ["space"],
      label: "play or pause",
      run: (event) => (onButton(event) ? false : explorer.transport.toggle()),
    },
    {
      keys: ["]", "["],
      label: "next and previous wait, requeue or failure",
      run: (event) => explorer.nextRare(event.key === "]" ? 1 : -1),
    },
    {
      keys: ["ArrowDown", "ArrowUp"],
      shown: ["↑", "↓"],
      label: "move along the program",
      run: (event) => explorer.rows.move(event.key === "ArrowDown" ? 1 : -1, row()),
    },
    {
      keys: ["Enter"],
      label: "on a row: when its type became known",
      run: (event) => (onButton(event) ? false : explorer.question.enter(row())),
    },
    { keys: ["w"], label: "why is this known, because of what", run: () => explorer.question.here() },
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
