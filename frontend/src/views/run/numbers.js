// The numbers of the roofline's marks: each beside its mark, or at the end of a line from it, where nothing else is.

/** @typedef {{ index: number, cx: number, cy: number, size: number }} Mark */
/** @typedef {{ x: number, y: number, line: [number, number] | null }} Place */

const TURNS = 16; // directions that are tried at each distance
const DISTANCES = [0, 9, 18, 28, 40, 54, 70, 90, 120, 150]; // from a mark's border, pixels
const NEAR = 6; // a number so near to its mark needs no line
const HIGH = 11; // of a number, pixels

/** @param {number} index */
const halfWidth = (index) => 3.6 * String(index + 1).length + 1;

/**
 * How far a place is from a line through several points.
 * @param {number[][]} line
 */
function distance(line, x, y) {
  let least = Infinity;
  for (let k = 1; k < line.length; k++) {
    const [[ax, ay], [bx, by]] = [line[k - 1], line[k]];
    const t = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2 || 1);
    const at = Math.max(0, Math.min(1, t));
    least = Math.min(least, Math.hypot(x - ax - at * (bx - ax), y - ay - at * (by - ay)));
  }
  return least;
}

/**
 * Places for the numbers of `marks`, by index; those of large marks go first. `lines` are drawn lines, and `box` [left, top, right, bottom] is
 * the chart's inside. A number that has no place is left out.
 * @param {Mark[]} marks
 * @param {number[][][]} lines
 * @param {number[]} box
 */
export function placeNumbers(marks, lines, [left, top, right, bottom]) {
  /** @type {Map<number, Place>} */
  const places = new Map();
  /** @type {number[][]} */
  const taken = [];
  const free = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ half) =>
    x - half >= left &&
    x + half <= right &&
    y - HIGH / 2 >= top &&
    y + HIGH / 2 <= bottom &&
    taken.every(([ox, oy, other]) => Math.abs(ox - x) > other + half + 1 || Math.abs(oy - y) > HIGH) &&
    marks.every(({ cx, cy, size }) => {
      const [dx, dy] = [Math.max(0, Math.abs(cx - x) - half), Math.max(0, Math.abs(cy - y) - HIGH / 2)];
      return Math.hypot(dx, dy) >= size / 2;
    }) &&
    lines.every((line) => distance(line, x, y) > HIGH / 2 + 3);
  for (const { index, cx, cy, size } of [...marks].sort((a, b) => b.size - a.size || a.index - b.index)) {
    const half = halfWidth(index);
    for (const away of DISTANCES) {
      const reach = size / 2 + away + 2;
      for (let turn = 0; turn < TURNS && !places.has(index); turn++) {
        // To the right first, then a little above and below it, and so on.
        const angle = (Math.ceil(turn / 2) * (turn % 2 ? -1 : 1) * 2 * Math.PI) / TURNS;
        const [ux, uy] = [Math.cos(angle), Math.sin(angle)];
        const [x, y] = [cx + ux * (reach + half), cy + uy * (reach + HIGH / 2)];
        if (!free(x, y, half)) continue;
        taken.push([x, y, half]);
        places.set(index, {
          x,
          y,
          line: away > NEAR ? [x - ux * (half + 1), y - uy * (HIGH / 2 + 1)] : null,
        });
      }
      if (places.has(index)) break;
    }
  }
  return places;
}
