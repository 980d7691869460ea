// What the colors of the drawing say: the families of operators, what each part costs, or its device.
//
// Costs are shares of the whole program's, in steps of a fixed scale, so that folding changes no color; a folded group has the sum of its
// parts. Each item has its number as well, so that the color is never the only sign.

import { duration, percent, short } from "./numbers.js";

/** The least share of each step of the heat map; the first are the parts that cost nothing. */
const STEPS = [0, 1e-9, 0.001, 0.01, 0.03, 0.1, 0.3];
const STEP_NAMES = ["none", "under 0.1%", "0.1–1%", "1–3%", "3–10%", "10–30%", "over 30%"];
const DEVICE_HUES = ["blue", "orange", "teal", "purple", "pink", "olive", "brown", "sky"];
const ANY = "any device";

/** Every way of coloring: `unit` formats a cost. */
const MODES = [
  { id: "family", label: "operators", about: "each node by the family of its operator" },
  {
    id: "flops",
    label: "operations",
    about: "each part by its share of the floating-point operations",
    unit: (n) => short(n, "FLOP"),
  },
  {
    id: "bytes",
    label: "memory traffic",
    about: "each part by its share of the bytes read and written",
    unit: (n) => short(n, "B"),
  },
  {
    id: "time",
    label: "measured time",
    about: "each part by its share of the measured time",
    unit: duration,
  },
  { id: "device", label: "devices", about: "each node by the device that computes it" },
];

/** The ways in which the parts of this program differ: the operators always, a cost where it is known. */
export const modesOf = (model) =>
  MODES.filter(({ id, unit }) =>
    unit ? sum(model, id) > 0 : id === "family" || (model.devices && model.devices.length > 0),
  );

/** @param {string} cost */
function sum(model, cost) {
  let total = 0;
  for (let i = 0; i < model.count; i++) total += model[cost](i);
  return total;
}

/** `totals`: the sums of each group. */
export function createColoring(mode, model, totals) {
  const kind = MODES.find(({ id }) => id === mode) ?? MODES[0];
  if (kind.unit) return byCost(kind, model, totals);
  return kind.id === "device" ? byDevice(kind, model) : byFamily(kind, model);
}

const cardOf = (palette) => ({
  fill: palette.panel,
  line: palette.edge,
  ink: palette.ink,
  dot: palette.soft,
});
const plain = (palette) => ({ fill: palette.panel, line: palette.edge, ink: palette.ink, dot: palette.edge });

function byFamily(kind, model) {
  return {
    ...kind,
    of(item, palette) {
      if (item.group >= 0) return cardOf(palette);
      const colors = palette.families[model.family(item.id)];
      return colors ? { ...colors, ink: colors.line, dot: colors.line } : plain(palette);
    },
    note: () => "",
    classes: model.families.map(({ name, shape, hue }) => ({ name, shape, hue })),
    /** @param {number} id */
    classOf: (id) => (id < model.count ? model.family(id) : -1),
  };
}

function byDevice(kind, model) {
  const names = [...model.devices, ANY];
  /** @param {number} i */
  const at = (i) => {
    const device = names.indexOf(model.device(i));
    return device < 0 ? names.length - 1 : device;
  };
  const hue = (device) => (device === names.length - 1 ? "grey" : DEVICE_HUES[device % DEVICE_HUES.length]);
  return {
    ...kind,
    of(item, palette) {
      if (item.group >= 0) return cardOf(palette);
      const { line, fill } = palette.hues[hue(at(item.id))];
      return { line, fill, ink: line, dot: line };
    },
    /** @param {number} id */
    note: (id) => (id < model.count ? names[at(id)] : ""),
    classes: names.map((name, i) => ({ name, shape: "rect", hue: hue(i) })),
    /** @param {number} id */
    classOf: (id) => (id < model.count ? at(id) : -1),
  };
}

function byCost(kind, model, totals) {
  const all = sum(model, kind.id);
  /** @param {number} id */
  const cost = (id) => (id < model.count ? model[kind.id](id) : totals[id - model.count][kind.id]);
  /** @param {number} id */
  const step = (id) => stepOf(cost(id) / all);
  return {
    ...kind,
    of(item, palette) {
      const at = step(item.id);
      if (!at) return plain(palette);
      return {
        ...palette.heat[at],
        line: palette.edge,
        accent: palette.heat[at].ink,
        dot: palette.heat[at].fill,
      };
    },
    /** @param {number} id */
    note: (id) => (cost(id) > 0 ? `${kind.unit(cost(id))} · ${percent(cost(id) / all)}` : ""),
    classes: STEP_NAMES.map((name, heat) => ({ name, shape: "rect", heat })),
    classOf: step,
  };
}

/**
 * The step of a share.
 * @param {number} share
 */
export const stepOf = (share) => STEPS.findLastIndex((least) => share >= least);
