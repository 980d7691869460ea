// Lengths that grow with the reader's letters. The sources give them in pixels, for letters of 16: in the bundle they are in rem,
// and the widths at which the layout changes are in em, of the letters of `.rx`.

/** The size of letters in `.rx`, which the em of a container query are of. */
const LETTERS = 15;
/** Lines and hairlines keep their width. */
const THIN = 2;

const short = (number) => String(Math.round(number * 1e5) / 1e5).replace(/^(-?)0\./, "$1.");

/** A stylesheet with rem instead of pixels. */
export const scalable = (css) =>
  css
    .replace(/\/\*[^]*?\*\//g, "")
    .replace(/(@container[^{]*)\{/g, (query) =>
      query.replace(/([\d.]+)px/g, (_, px) => `${short(Number(px) / LETTERS)}em`),
    )
    .replace(/(^|[^\w.#-])(-?[\d.]+)px\b/g, (whole, before, px) =>
      Math.abs(Number(px)) <= THIN ? whole : `${before}${short(Number(px) / 16)}rem`,
    );
