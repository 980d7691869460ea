// Large numbers, short.

const UNITS = ["", " k", " M", " G", " T", " P"];

/**
 * 25,557,032 as "25.6 M"; small numbers as they are.
 * @param {number} n
 */
export function short(n, unit = "") {
  if (!Number.isFinite(n)) return "?";
  let power = 0;
  for (; Math.abs(n) >= 999.5 && power < UNITS.length - 1; power++) n /= 1000;
  return `${power ? n.toPrecision(3) : Math.round(n)}${UNITS[power] || (unit ? " " : "")}${unit}`;
}

/**
 * A share of 1 in percent: "34%", "2.8%", "<0.1%".
 * @param {number} share
 */
export function percent(share) {
  const hundredths = 100 * share;
  if (hundredths >= 9.95) return `${Math.round(hundredths)}%`;
  return hundredths >= 0.1 ? `${hundredths.toFixed(1)}%` : hundredths > 0 ? "<0.1%" : "0%";
}

/**
 * Nanoseconds as "12.3 µs".
 * @param {number} ns
 */
export function duration(ns) {
  for (const [size, unit] of /** @type {[number, string][]} */ ([
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
  ]))
    if (ns >= 0.9995 * size) return `${(ns / size).toPrecision(3)} ${unit}`;
  return `${Math.round(ns)} ns`;
}
