// A quantization, indexed: what stands beside each row, from which step on, and what another choice would change.
import { rowText } from "../../core/rowmodel.js";
import { COMPARE, FLOAT, GONE, LEFT, PHASES, REALIZE } from "./marks.js";
/** @import { QuantizeView, Site, Variant } from "../../generated/quantize.js" */

/** Kinds of rows that compute something: `%0 = …`, `let %x = …`, a result. */
const BINDING = [3, 4, 5];

/** @typedef {ReturnType<typeof createModel>} QuantizeModel */
/** A range of a site: the bits, and what the integers can represent. @typedef {{ bits: number, kept_low: number, kept_high: number }} Range */

/** @param {QuantizeView} view */
export function createModel(view) {
  const { split, steps, sites, states, integers, items, variants, axes } = view;
  const all = view.rows;
  const rows = all.slice(0, split);
  const program = { reference: /** @type {any} */ (view).reference, rows };
  const texts = all.map((row) => rowText(row).trim());

  const sitesOf = rows.map(() => /** @type {number[]} */ ([]));
  sites.forEach(({ row }, site) => sitesOf[row].push(site));
  const linesOf = rows.map(() => /** @type {number[]} */ ([]));
  integers.forEach(({ source }, line) => {
    if (source >= 0 && BINDING.includes(all[split + line].kind)) linesOf[source].push(line);
  });
  const stepsOf = rows.map(() => /** @type {number[]} */ ([]));
  /** By phase, its first step; -1 where there is none. */
  const firstOf = PHASES.map(() => -1);
  /** By site and phase, the step that decided it. */
  const decided = sites.map(() => PHASES.map(() => steps.length));
  /** By row, the step at which it is known what becomes of it. */
  const fateAt = rows.map(() => steps.length);
  steps.forEach(({ row, phase, sites: about }, step) => {
    if (firstOf[phase] < 0) firstOf[phase] = step;
    if (row >= 0) {
      stepsOf[row].push(step);
      fateAt[row] = Math.min(fateAt[row], step);
    }
    for (const site of about) decided[site][phase] = Math.min(decided[site][phase], step);
  });
  const others = steps.findIndex(({ mark, row }) => mark === LEFT && row < 0);
  states.forEach(({ fate }, row) => {
    const own = stepsOf[row].find((step) => steps[step].mark === LEFT);
    if (fate === FLOAT) fateAt[row] = own ?? (others >= 0 ? others : firstOf[REALIZE]);
    if (fate === GONE) fateAt[row] = firstOf[REALIZE];
  });
  const byChoice = new Map(variants.map(({ choice }, v) => [choice.join(), v]));
  const errorsOf = variants.map(({ errors }) => new Map(errors.map(({ row, error }) => [row, error])));
  const rangesOf = variants.map(({ ranges }) => new Map(ranges.map((range) => [range.site, range])));

  return {
    view,
    split,
    program,
    rows,
    texts,
    steps,
    sites,
    states,
    integers,
    items,
    axes,
    variants,
    sitesOf,
    linesOf,
    stepsOf,
    firstOf,
    decided,
    fateAt,
    /**
     * Whether the scheme left a line in float by a decision of its own, not only for want of a rule.
     * @param {number} row
     */
    isLeft: (row) => stepsOf[row].some((step) => steps[step].mark === LEFT),
    /**
     * The ratio of a row's value in a variant, in decibels; null where it is not measured.
     * @param {number} row
     * @param {number} variant
     * @returns {number | null}
     */
    errorOf: (row, variant) =>
      variant === view.asked || variant < 0 ? states[row].error : (errorsOf[variant].get(row) ?? null),
    /**
     * What the integers of a site can represent in a variant.
     * @param {number} site
     * @param {number} variant
     * @returns {Range | null}
     */
    rangeOf: (site, variant) =>
      variant === view.asked || variant < 0 ? sites[site] : (rangesOf[variant].get(site) ?? null),
    /**
     * The variant of a choice, which has one option for each axis; -1 where it was not computed.
     * @param {readonly number[]} choice
     */
    variantOf: (choice) => byChoice.get(choice.join()) ?? -1,
    /**
     * The line of the integer program in words.
     * @param {number} line
     */
    lineText: (line) => texts[split + line],
    /**
     * The name of a row's value, or its text.
     * @param {number} row
     */
    nameOf: (row) => items.find((item) => item.row === row && item.name)?.name ?? texts[row],
    /**
     * The row beside which an item stands, -1 for none.
     * @param {number} ref
     */
    rowOfItem(ref) {
      const row = items[ref]?.row ?? -1;
      return row < split ? row : integers[row - split].source;
    },
    /**
     * The row that defines what a sentence names; of several functions' rows the one nearest to `near`. -1: none.
     * @param {string} name
     * @param {number} near
     */
    rowNamed(name, near) {
      const found = items.filter((item) => item.name === name && item.row < split).map(({ row }) => row);
      return found.reduce(
        (best, row) => (best < 0 || Math.abs(row - near) < Math.abs(best - near) ? row : best),
        -1,
      );
    },
  };
}

/**
 * The phase of a step.
 * @param {QuantizeModel} model
 * @param {number} step
 */
export const phaseOf = ({ steps }, step) => steps[step].phase;

/**
 * Whether the errors are known after a step.
 * @param {QuantizeModel} model
 * @param {number} step
 */
export const compared = (model, step) => phaseOf(model, step) >= COMPARE;

/**
 * The number type of a site: `int8`, `uint4`.
 * @param {Pick<Site, "signed" | "bits">} site
 */
export const dtype = ({ signed, bits }) => `${signed ? "int" : "uint"}${bits}`;

/**
 * The smallest and the largest integer of a site.
 * @param {Pick<Site, "signed" | "symmetric">} site
 * @param {number} bits
 */
export function integerRange({ signed, symmetric }, bits) {
  if (!signed) return [0, 2 ** bits - 1];
  const most = 2 ** (bits - 1) - 1;
  return [symmetric ? -most : -most - 1, most];
}

/**
 * A number in few letters: 0.0123, 1.2e-7, 31.
 * @param {number} value
 */
export function short(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(1).replace("e+", "e");
  return String(Number(value.toPrecision(3)));
}

/**
 * Decibels: 31.2 dB; exact where the noise is none.
 * @param {number | null | undefined} error
 */
export const decibels = (error) =>
  error === null || error === undefined ? "exact" : `${error.toFixed(1)} dB`;

/**
 * What a result says of a variant, or why there is none.
 * @param {Variant | undefined} variant
 */
export const outcome = (variant) =>
  !variant ? "" : variant.refused ? "not possible" : decibels(variant.result);
