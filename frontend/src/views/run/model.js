// A measured run as lists, and the arithmetic of its two charts.

/** @typedef {ReturnType<typeof createModel>} RunModel */

/** @param {import("../../generated/run.js").RunView} view */
export function createModel(view) {
  const { rules, machine } = view;
  const total = view.kernels.reduce((sum, kernel) => sum + kernel.ns, 0);
  const kernels = view.kernels.map(
    ({ row, name, rule, flops, traffic, ns, calls, least, by_arithmetic: arithmetic, say, why }, index) => ({
      index,
      name,
      tokens: view.rows[row].tokens,
      rule: rules[rule],
      flops,
      traffic,
      ns,
      calls,
      least,
      arithmetic,
      say,
      why,
      share: ns / total,
      reached: least / ns,
      each: ns / calls,
      rate: (flops * calls) / ns, // GFLOP/s
      bytes: (traffic * calls) / ns, // GB/s
      intensity: traffic > 0 ? flops / traffic : 0,
    }),
  );
  const launches = view.launches.map((launch, index) => ({ ...launch, index }));
  const last = launches[launches.length - 1];
  return {
    rules,
    kernels,
    launches,
    total,
    span: last.start + last.ns,
    ns: view.ns,
    runs: view.runs,
    say: view.say,
    why: view.why,
    start: view.start,
    machine: {
      name: machine.name,
      target: machine.target,
      threads: machine.threads,
      flops: machine.flops / 1e9,
      bandwidth: machine.bandwidth / 1e9,
    },
    ridge: machine.flops / machine.bandwidth,
    levels: new Map(view.levels.map((level) => [level.kernel, level.view])),
  };
}

/**
 * A logarithmic scale: `at(value)` in pixels from `from` to `to`.
 * @param {number} high
 * @param {number} from
 */
export function logScale(low, high, from, to) {
  const [a, b] = [Math.log(low), Math.log(high)];
  return {
    low,
    high,
    at: (/** @type {number} */ value) => from + ((Math.log(value) - a) / (b - a)) * (to - from),
  };
}

/** 1, 2 and 5 of every power of ten between two numbers; only the powers, where these are many. */
export function logTicks(low, high) {
  const found = [];
  const many = Math.log10(high / low) > 2.5;
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const digit of many ? [1] : [1, 2, 5]) {
      const value = Number((digit * 10 ** power).toPrecision(3));
      if (value >= low && value <= high) found.push(value);
    }
  }
  return found;
}

/**
 * Round numbers from `least` to `most`, about `count` of them.
 * @param {number} most
 * @param {number} count
 */
export function ticks(most, count, least = 0) {
  const rough = (most - least) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const first = Math.ceil(least / step - 1e-9);
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 - first }, (_, i) => (first + i) * step);
}

/** The kernels that stand on the roofline: those that compute something. */
export const computing = (kernels) => kernels.filter(({ flops, traffic }) => flops > 0 && traffic > 0);

/**
 * The ends of the roofline's axes: operations a byte, and GFLOP/s.
 * @param {RunModel} model
 */
export function extent(model) {
  const shown = computing(model.kernels);
  const x = shown.map(({ intensity }) => intensity);
  const y = shown.map(({ rate }) => rate);
  return {
    x: [Math.min(model.ridge, ...x) / 2.2, Math.max(model.ridge, ...x) * 2.2],
    y: [Math.min(model.machine.flops / 8, ...y) / 1.8, Math.max(model.machine.flops, ...y) * 2.6],
  };
}

/**
 * The most that a machine makes of kernels with so many operations a byte, GFLOP/s.
 * @param {RunModel} model
 * @param {number} intensity
 */
export const roof = ({ machine }, intensity) => Math.min(machine.flops, machine.bandwidth * intensity);

/**
 * A share of 1 in words; small ones with one digit behind the point.
 * @param {number} part
 */
export const percent = (part) =>
  part >= 0.0995 ? `${Math.round(part * 100)}%` : part < 0.001 ? "< 0.1%" : `${(part * 100).toFixed(1)}%`;

/**
 * A number with three digits at most.
 * @param {number} value
 */
export const short = (value) =>
  value >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));

/**
 * The launch of a kernel that comes next after `at`, around the end.
 * @param {{ index: number; kernel: number; start: number; ns: number; }[]} launches
 * @param {number} kernel
 * @param {number} at
 */
export function nextLaunch(launches, kernel, at) {
  for (let by = 1; by <= launches.length; by++) {
    const found = launches[(at + by + launches.length) % launches.length];
    if (found.kernel === kernel) return found.index;
  }
  return -1;
}

/**
 * The launch at a time: the last that has begun.
 * @param {readonly { start: number }[]} launches
 * @param {number} ns
 */
export function launchAt(launches, ns) {
  let [low, high] = [0, launches.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (launches[middle].start <= ns) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * What some launches add up to: how many there are, their time, the bytes that their kernels read and write, their
 * operations, and the kernels with most of the time.
 * @param {RunModel} model
 * @param {readonly [number, number]} range first and last launch
 */
export function sumOf({ launches, kernels, total }, [from, to]) {
  /** @type {Map<number, number>} */
  const times = new Map();
  let [ns, bytes, flops] = [0, 0, 0];
  for (const launch of launches.slice(from, to + 1)) {
    const kernel = kernels[launch.kernel];
    ns += launch.ns;
    bytes += kernel.traffic;
    flops += kernel.flops;
    times.set(launch.kernel, (times.get(launch.kernel) ?? 0) + launch.ns);
  }
  const most = [...times].sort((a, b) => b[1] - a[1]).map(([kernel]) => kernel);
  return { count: to - from + 1, ns, bytes, flops, share: total > 0 ? ns / total : 0, most };
}

/**
 * An operator's name without what most of a model's have in common.
 * @param {string} name
 */
export const shortName = (name) =>
  name
    .replace(/^nn\./, "")
    .replace(/^contrib_/, "")
    .replace(/_without_weight_transform$/, "");

/** The shape of "Tensor[(1, 64), float32]": "1×64"; of several types, all of them. */
export const shapeOf = (type) =>
  [...type.matchAll(/\(([^()]*)\)/g)]
    .map(
      ([, sizes]) =>
        sizes
          .split(",")
          .map((n) => n.trim())
          .filter(Boolean)
          .join("×") || "a number",
    )
    .join(", ") || "a number";

/**
 * The bars of a timeline that is `width` pixels wide: a bar a launch, or, where launches are narrower than `least` pixels,
 * one for several, in the color of the kernel that has most of their time. `lit` are the kernels in it.
 * @param {Pick<RunModel, "launches" | "span">} part launches, and the time that the width stands for
 * @param {number} width
 */
export function bars({ launches, span }, width, least = 2) {
  const one = ({ index, kernel, start, ns }) => ({
    index,
    last: index,
    kernel,
    start,
    end: start + ns,
    lit: new Set([kernel]),
  });
  if (launches.length * least <= width) return launches.map(one);
  const found = [];
  let times = null;
  for (const launch of launches) {
    const bar = found.at(-1);
    if (bar && launch.start + launch.ns - bar.start <= (least / width) * span) {
      times.set(launch.kernel, (times.get(launch.kernel) ?? 0) + launch.ns);
      Object.assign(bar, {
        last: launch.index,
        end: launch.start + launch.ns,
        kernel: [...times].reduce((a, b) => (b[1] > a[1] ? b : a))[0],
      });
      bar.lit.add(launch.kernel);
    } else {
      found.push(one(launch));
      times = new Map([[launch.kernel, launch.ns]]);
    }
  }
  return found;
}
