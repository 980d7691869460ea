// The totals of a recorded run, in words.

/** @param {import("../../generated/machine.js").MachineView} view */
export function sums({ totals }) {
  /**
   * @param {string} name
   * @param {string} one
   * @param {string} many
   */
  const said = (name, one, many) => `${totals[name].toLocaleString("en")} ${totals[name] === 1 ? one : many}`;
  return [
    said("steps", "step", "steps"),
    said("calls", "call", "calls"),
    totals["tail calls"] > 0 && said("tail calls", "tail call", "tail calls"),
    said("kernels", "kernel launch", "kernel launches"),
    said("storage", "byte allocated", "bytes allocated"),
  ]
    .filter(Boolean)
    .join(" · ");
}
