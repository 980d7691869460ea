// The keys of this explorer: the listener and the help read the same list.
const onButton = (event) => event.target.closest("button, [role=button], [role=tab]") !== null;

/** Bindings for `bindKeys`, acting on a PipelineExplorer. */
export function bindings(explorer) {
  const go = (name) => (event) => {
    explorer.transport.stop();
    explorer.move(name, Boolean(event?.target.closest?.(".shot")));
  };
  const list = [
    { keys: ["ArrowRight"], shown: ["→"], label: "next pass", run: go("forward") },
    { keys: ["ArrowLeft"], shown: ["←"], label: "previous pass", run: go("back") },
    {
      keys: ["Home", "End"],
      label: "the program as given, after the last pass",
      run: (event) => go(event.key === "Home" ? "first" : "last")(event),
    },
    {
      keys: [" "],
      shown: ["space"],
      label: "play or pause",
      run: (event) => (onButton(event) ? false : explorer.transport.toggle()),
    },
    {
      keys: ["ArrowDown", "ArrowUp"],
      shown: ["↑", "↓"],
      label: "move along the program",
      run: (event) => explorer.rows.move(event.key === "ArrowDown" ? 1 : -1),
    },
    {
      keys: ["n", "N"],
      label: "next and previous change in this pass",
      run: (event) => explorer.nextChange(event.key === "n" ? 1 : -1),
    },
    {
      keys: ["r", "R"],
      label: "next and previous rewrite inside this pass",
      run: (event) => explorer.stepRewrite(event.key === "r" ? 1 : -1),
    },
    {
      keys: ["c"],
      label: "only the passes that changed something",
      run: () => explorer.setOnly(!explorer.only),
    },
    { keys: ["u"], label: "fold or unfold what is unchanged", run: () => explorer.setTight(!explorer.tight) },
    {
      keys: ["f", "Enter"],
      label: "follow the expression of this row through all passes",
      run: (event) => (onButton(event) ? false : explorer.followRow(explorer.rows.selected)),
    },
    { keys: ["l"], label: "who uses what, in lanes", run: () => explorer.setLanes(!explorer.lanesOn()) },
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
  if (explorer.model.pipelines.length > 1)
    list.splice(
      7,
      0,
      { keys: ["p"], label: "the other pipeline", run: () => explorer.otherPipeline() },
      {
        keys: ["e"],
        label: "the end programs side by side",
        run: () => explorer.compare(!explorer.comparing),
      },
    );
  return list;
}
