// The one curve that joins columns.
import { path } from "d3-path";

/**
 * A path from (x1, y1) to (x2, y2) that leaves and arrives horizontally.
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 */
export function link(x1, y1, x2, y2) {
  const curve = path();
  const middle = (x1 + x2) / 2;
  curve.moveTo(x1, y1);
  curve.bezierCurveTo(middle, y1, middle, y2, x2, y2);
  return curve.toString();
}
