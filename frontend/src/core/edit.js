// The program of an explorer as text, and the way to the playground, where the reader can change it.
import { h } from "./dom.js";
import { formatLink } from "./programlink.js";
import { rowText } from "./rowmodel.js";
/** @import { Row } from "../generated/common.js" */
/** @import { Explorer } from "./explorer.js" */

/** Kinds of rows that begin a definition: a function, a data type. */
const DEFINES = [1, 8];
/** Views that the playground does not have show their program in this one. */
const OTHERWISE = "ir";
const ABSENT = ["lowering", "quantize", "run", "source"];

/**
 * The rows of the first program, where several follow each other, as one text that can be parsed. Null where it cannot: a
 * program that refers to constants has another text to edit, in which large ones are parameters (`editable`).
 * @param {readonly Row[]} rows
 */
export function programText(rows) {
  const defined = new Set();
  const lines = [];
  for (const row of rows) {
    if (row.depth === 0 && DEFINES.includes(row.kind)) {
      const name = row.tokens.find(({ kind }) => kind === 3 || kind === 5 || kind === 8)?.text;
      if (defined.has(name)) break;
      defined.add(name);
    }
    lines.push("  ".repeat(row.depth) + rowText(row));
  }
  const text = `${lines.join("\n").trimEnd()}\n`;
  return /\bmeta\[/.test(text) || !/\b(def @|fn \()/.test(text) ? null : text;
}

/**
 * The options with which the playground makes the same view: its passes, its arguments.
 * @param {any} view
 * @returns {import("../playground/types.js").Options}
 */
export function optionsOf(view) {
  if (view.view === "pipeline") {
    const [passes, against] = view.pipelines.map((/** @type {{ stages: number[] }} */ { stages }) =>
      stages
        .slice(1)
        .map((stage) => view.stages[stage].text || view.stages[stage].name)
        .join(", "),
    );
    return against ? { passes, against } : { passes };
  }
  if (view.view === "compare") return view.passes ? { passes: view.passes } : {};
  if (view.view === "evaluation" || view.view === "machine")
    return view.texts.length ? { args: view.texts } : {};
  return {};
}

/**
 * Opens the playground with the explorer's program: directly in the book, elsewhere by a link to the published one.
 * @param {Explorer} explorer
 */
export async function edit(explorer) {
  const { shell, ctx, view } = explorer;
  const text = explorer.programText ?? "";
  const { view: kind, passes } = /** @type {{ view: string, passes?: string | null }} */ (
    /** @type {unknown} */ (view)
  );
  // Two programs that no passes relate are compared by a command; the playground has one program.
  const absent = ABSENT.includes(kind) || (kind === "compare" && !passes);
  const fragment = await formatLink({
    text,
    view: absent ? OTHERWISE : kind,
    options: absent ? {} : optionsOf(view),
    state: absent ? "" : ctx.link().token,
  });
  const { address, here } = ctx.playground ?? { address: "", here: false };
  if (here && fragment) {
    window.location.assign(address + fragment);
    return;
  }
  const area = h("textarea", { readonly: true, rows: 8, "aria-label": "the program" });
  area.value = text;
  shell.popover("Edit this program", [
    address && fragment
      ? h(
          "p",
          null,
          h(
            "a",
            { href: address + fragment, target: "_blank", rel: "noopener" },
            "Open it in the playground",
          ),
          ", a page of the published book.",
        )
      : h("p", null, "Copy the program, and paste it into the playground, a page of the book."),
    area,
  ]);
}
