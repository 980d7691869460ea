/**
 * Mixtures of two colors without mixing, for Safari before 16.2: the first, or where it is little, a light ground.
 * @param {string} css
 */
export const unmixed = (css) =>
  css.replace(
    /color-mix\(in srgb, ?(var\([\w-]+\)) (\d+)%, ?(?:var\([\w-]+\)|transparent)\)/g,
    (_, color, part) => (Number(part) < 30 ? "var(--hover)" : color),
  );
