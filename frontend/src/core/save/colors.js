// Colors as every program that reads SVG knows them.

/** @typedef {{ color: string, alpha: number }} Paint */

/** @param {number} value from 0 to 255 */
const hex = (value) =>
  Math.max(0, Math.min(255, Math.round(value)))
    .toString(16)
    .padStart(2, "0");

/**
 * A computed color, `rgb(…)` or `color(srgb …)`, as "#rrggbb" and how opaque it is; null for one that is not seen.
 * @param {string} computed
 * @returns {Paint | null}
 */
export function paintOf(computed) {
  if (!computed || computed === "none" || computed === "transparent") return null;
  if (computed.startsWith("#")) return { color: computed, alpha: 1 };
  const numbers = (computed.match(/-?[\d.]+(?:e-?\d+)?%?/g) ?? []).map((text) =>
    text.endsWith("%") ? parseFloat(text) / 100 : Number(text),
  );
  if (!/^(rgba?|color)\(/.test(computed) || numbers.length < 3) return null;
  const unit = computed.startsWith("color") ? 255 : 1;
  const alpha = numbers[3] ?? 1;
  if (alpha === 0) return null;
  return {
    color: `#${numbers
      .slice(0, 3)
      .map((n) => hex(n * unit))
      .join("")}`,
    alpha,
  };
}

/**
 * The attributes of a fill or a stroke.
 * @param {"fill" | "stroke"} name
 * @param {Paint} paint
 */
export const paintAttributes = (name, { color, alpha }) => ({
  [name]: color,
  [`${name}-opacity`]: alpha === 1 ? null : Number(alpha.toFixed(3)),
});
