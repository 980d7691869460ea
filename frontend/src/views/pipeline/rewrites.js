// One step deeper: the single rewrites inside a pass, each below its rule.
import { fill, h } from "../../core/dom.js";
import { sentence } from "../../core/sentence.js";
import { counted } from "../fusion/columns.js";

/** Of more rewrites than these, only so many are drawn at a time. */
const CHUNK = 120;
const PATH = /^[\w][\w./-]*$/;

/**
 * A file of the package, and a line of it, as a link to where the project's source is shown; as text where that is not known.
 * @param {string} tree
 */
export function sourceLink(tree, path, line = 0) {
  const name = `${path.split("/").at(-1)}${line ? `:${line}` : ""}`;
  if (!/^https:\/\//.test(tree) || !PATH.test(path)) return h("code", { class: "source" }, name);
  return h(
    "a",
    {
      class: "source",
      href: `${tree}${path}${line ? `#L${line}` : ""}`,
      target: "_blank",
      rel: "noopener noreferrer",
      title: `${path}${line ? `, line ${line}` : ""}`,
    },
    h("code", null, name),
  );
}

/** Text with names between backticks; it is no template, so its braces are its own. */
export const plain = (text) => sentence([text.replace(/[{}]/g, "$&$&")]);

function why(stage) {
  if (stage.before < 0) return "The program as given. Choose a pass to see its rewrites.";
  if (stage.titles) return "Two versions are compared here, aligned by their structure; no pass was run.";
  if (stage.same) return `${stage.name} changed nothing.`;
  return `${stage.name} records no single rewrites, because it rebuilds the program as a whole.`;
}

/**
 * `onGo(index)` selects a rewrite.
 * @param {HTMLElement} pane
 */
export function drawRewrites(pane, { stage, tree, at, onGo }) {
  const { rewrites, told } = stage;
  if (!rewrites.length)
    return void fill(
      pane,
      h("p", { class: "heading" }, "Inside the pass"),
      h("p", { class: "soft" }, why(stage)),
    );
  /**
   * @param {string} label
   * @param {string} sign
   * @param {number} to
   */
  const step = (label, sign, to) =>
    h(
      "button",
      {
        class: "btn",
        type: "button",
        title: label,
        "aria-label": label.replace(/ \(.*/, ""),
        disabled: !rewrites[to],
        onclick: () => onGo(to),
      },
      sign,
    );
  const head = h(
    "p",
    { class: "heading stepping" },
    h(
      "span",
      null,
      `Inside ${stage.name}: ${counted(told, rewrites.some(({ how }) => how) ? "step" : "rewrite")}`,
    ),
    h(
      "span",
      { class: "group" },
      step("previous rewrite (R)", "‹", at < 0 ? -1 : at - 1),
      step("next rewrite (r)", "›", at + 1),
    ),
  );
  const list = h("div", { class: "rewrites" });
  const from = Math.floor(Math.max(0, at) / CHUNK) * CHUNK;
  const to = Math.min(rewrites.length, from + CHUNK);
  /**
   * @param {string} text
   * @param {number} index
   */
  const more = (text, index) =>
    h("button", { class: "link more", type: "button", onclick: () => onGo(index) }, text);
  if (from > 0) list.append(more(`‹ ${from - CHUNK + 1} to ${from}`, from - 1));
  let items = null;
  rewrites.slice(from, to).forEach((rewrite, k) => {
    const i = from + k;
    const before = k > 0 ? rewrites[i - 1] : null;
    if (
      !before ||
      before.rule !== rewrite.rule ||
      before.line !== rewrite.line ||
      before.name !== rewrite.name
    ) {
      items = h("ol", { start: i + 1, class: "steps" });
      const where = rewrite.path
        ? sourceLink(tree, rewrite.path, rewrite.line)
        : rewrite.line > 0 && h("span", { class: "soft" }, `line ${rewrite.line} of its cell or file`);
      list.append(
        h(
          "p",
          { class: "rule" },
          rewrite.rule ? plain(rewrite.rule) : h("code", null, rewrite.name),
          " ",
          h("span", { class: "where" }, rewrite.rule && h("code", { class: "soft" }, rewrite.name), where),
        ),
        items,
      );
    }
    const made = rewrite.became
      ? h("code", { class: "became" }, rewrite.became)
      : h("span", { class: "soft" }, "nothing");
    items.append(
      h(
        "li",
        null,
        h(
          "button",
          {
            class: "entry",
            type: "button",
            "aria-current": i === at ? "step" : null,
            onclick: () => onGo(i),
          },
          h("span", { class: "n" }, String(i + 1)),
          h(
            "span",
            null,
            h("code", { class: "was" }, rewrite.was),
            h("span", { class: "how" }, ` ${rewrite.how || "→"} `),
            made,
          ),
        ),
      ),
    );
  });
  if (to < rewrites.length) list.append(more(`${to + 1} to ${Math.min(rewrites.length, to + CHUNK)} ›`, to));
  fill(
    pane,
    head,
    list,
    told > rewrites.length &&
      h("p", { class: "soft" }, `The first ${rewrites.length.toLocaleString("en")} are listed.`),
  );
  const now = pane.querySelector("[aria-current]");
  if (!now) return;
  const [a, b] = [pane.getBoundingClientRect(), now.getBoundingClientRect()];
  if (b.top < a.top + 30 || b.bottom > a.bottom) pane.scrollTop += b.top - a.top - a.height / 2;
}

/**
 * A rewrite as it is heard.
 */
export function rewriteInWords({ rule, was, how, became }, number, total) {
  return `Rewrite ${number} of ${total}: ${was} ${how || "becomes"} ${became || "nothing"}. ${rule.replaceAll("`", "")}`;
}
