// One row of a grid as an element: its line of the program, and a cell for each column.
import { h } from "./dom.js";
import { importedText } from "./imported.js";
import { tokenElement } from "./operators.js";
import { rowText } from "./rowmodel.js";
/** @import { Row } from "../generated/common.js" */
/** @import { View } from "./operators.js" */
/** @import { Column } from "./types.js" */

/**
 * `folded` is null for a row that opens no block; `note(row)` is what a folded block says, or null where nothing is hidden;
 * `tokenClass(k)` is a further class of the k-th token.
 * @param {{
 *   view: View, row: number, content: Row, columns: readonly Column[], selected: boolean, folded: boolean | null,
 *   note: ((row: number) => string) | null, tokenClass: ((token: number) => string) | null,
 * }} how
 */
export function drawRow({ view, row, content, columns, selected, folded, note, tokenClass }) {
  const { depth, tokens, imported } = content;
  const code = h("div", {
    class: "cell code",
    role: "gridcell",
    title: [rowText(content), importedText(imported)].filter(Boolean).join("\n"),
    style: { "--depth": depth },
  });
  code.append(
    ...tokens.map(({ kind, text, ref }, k) =>
      kind === 0 && ref < 0
        ? text
        : tokenElement(view, kind, text, {
            class: `t${kind} ${tokenClass?.(k) ?? ""}`.trim(),
            "data-ref": ref >= 0 ? ref : null,
          }),
    ),
  );
  const node = h(
    "div",
    {
      class: "row",
      role: "row",
      "aria-level": depth + 1,
      "data-row": row,
      tabindex: selected ? 0 : -1,
      "aria-selected": selected,
    },
    code,
  );
  if (folded !== null) {
    code.prepend(
      h(
        "button",
        {
          class: "twist",
          type: "button",
          tabindex: -1,
          "aria-label": folded ? "unfold" : "fold",
          "aria-expanded": !folded,
        },
        folded ? "▸" : "▾",
      ),
    );
    node.setAttribute("aria-expanded", String(!folded));
    // First in the cell, since it floats: a long line ends before it.
    if (folded && note) code.prepend(h("span", { class: "folded-note" }, note(row)));
  }
  for (const column of columns) {
    const cell = h("div", { class: `cell c-${column.id}`, role: "gridcell" });
    column.draw(row, cell);
    node.append(cell);
  }
  return node;
}
