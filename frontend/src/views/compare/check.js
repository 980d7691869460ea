// What a comparison must hold beyond its contract, before it is drawn.
import { need } from "../../core/check.js";
import { KEPT, MOVED, REWRITTEN } from "./marks.js";

/** @param {import("../../generated/compare.js").CompareView} view */
export function checkCompare(view) {
  const { a, b, pairs, partners, differences } = view;
  pairs.forEach((pair, i) => {
    const { fate, other } = pair;
    const both = pair.a >= 0 && pair.b >= 0;
    need(
      pair.a < a.rows.length &&
        pair.b < b.rows.length &&
        (pair.a >= 0 || pair.b >= 0) &&
        other < pairs.length,
      `pairs[${i}]`,
    );
    need(both === (fate === KEPT || fate === REWRITTEN), `pairs[${i}]`);
    need(fate === MOVED ? pairs[other]?.fate === MOVED : other < 0, `pairs[${i}]`);
  });
  need(partners.length === a.nodes.length && partners.every((node) => node < b.nodes.length), "partners");
  differences.forEach(({ first, last }, i) => {
    need(i === 0 ? first < 0 : first >= 0 && first <= last && last < pairs.length, `differences[${i}]`);
  });
}
