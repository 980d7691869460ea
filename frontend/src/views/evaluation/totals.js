// The totals of a recorded run, in words.

/** @param {import("../../generated/evaluation.js").EvaluationView} view */
export function sums({ totals }) {
  /**
   * @param {string} name
   * @param {string} one
   */
  const said = (name, one) =>
    Number.isInteger(totals[name])
      ? `${totals[name].toLocaleString("en")} ${totals[name] === 1 ? one : name}`
      : "";
  return [
    said("steps", "step"),
    said("calls", "call"),
    totals["tail calls"] ? said("tail calls", "tail call") : "",
    said("objects", "object"),
  ]
    .filter(Boolean)
    .join(" · ");
}
