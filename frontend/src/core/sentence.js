// A sentence of the data: a template and its arguments. `{0}` is drawn as code, and so is what stands between
// backticks; `**x**` is strong, `{{` and `}}` are braces, and what follows a line break is the small second sentence.
import { h } from "./dom.js";
import { withRoom } from "./names.js";
/** @import { Child } from "./types.js" */

/** @typedef {string | { code: string, strong?: undefined } | { strong: Part[], code?: undefined }} Part */

const PART = /\{(\d+)\}|\*\*(.+?)\*\*|`([^`]+)`|(\{\{|\}\})/gs;
/** @param {string} text */
const braces = (text) => text.replaceAll("{{", "{").replaceAll("}}", "}");

/**
 * The parts of a template: strings, `{ code }`, `{ strong: [parts] }`.
 * @param {string} template
 * @param {readonly string[]} args
 * @returns {Part[]}
 */
export function parts(template, args) {
  /** @type {Part[]} */
  const out = [];
  let from = 0;
  for (const match of template.matchAll(PART)) {
    if (match.index > from) out.push(template.slice(from, match.index));
    if (match[1] !== undefined) out.push({ code: args[Number(match[1])] ?? match[0] });
    else if (match[2] !== undefined) out.push({ strong: parts(match[2], args) });
    else if (match[3] !== undefined) out.push({ code: braces(match[3]) });
    else out.push(braces(match[4]));
    from = match.index + match[0].length;
  }
  if (from < template.length) out.push(template.slice(from));
  return out;
}

/**
 * Plain text, which is no template, as nodes: what stands between backticks is code.
 * @param {string} text
 */
export const quoted = (text) =>
  text.split(/`([^`]+)`/).map((part, i) => (i % 2 ? h("code", null, part) : part));

/**
 * The sentence as plain text, for announcements and titles.
 * @param {readonly string[] | null | undefined} say
 */
export function sentenceText(say) {
  const [template = "", ...args] = say ?? [];
  /** @type {(list: Part[]) => string} */
  const flat = (list) => list.map((p) => (typeof p === "string" ? p : (p.code ?? flat(p.strong)))).join("");
  return flat(parts(template, args)).replace(/\s*\n\s*/g, " ");
}

/** @typedef {{ page: string, terms: Record<string, string> }} Terms the book's glossary: its page, and an anchor for each form */

/** The glossary that the book's pages load, or null elsewhere. */
const glossary = () => /** @type {{ relayTerms?: Terms }} */ (globalThis).relayTerms ?? null;
/** @type {RegExp | null} */
let termPattern = null;

/** @param {Terms} terms */
function patternOf(terms) {
  const forms = Object.keys(terms.terms).sort((a, b) => b.length - a.length);
  const escaped = forms.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  // What stands before is a group, since the oldest browsers cannot look behind.
  return new RegExp(`(^|[^\\w-])(${escaped.join("|")})(?=(?:e?s)?(?![\\w-]))`, "gi");
}

/**
 * A text with the first use of each glossary term as a link; `linked` are the anchors that are linked already.
 * @param {string} text
 * @param {Set<string>} linked
 * @returns {Child[]}
 */
function withTerms(text, linked) {
  const terms = glossary();
  if (!terms) return [text];
  termPattern ??= patternOf(terms);
  /** @type {Child[]} */
  const out = [];
  let from = 0;
  for (const match of text.matchAll(termPattern)) {
    const [, before, term] = match;
    const anchor = terms.terms[term] ?? terms.terms[term.toLowerCase()];
    if (!anchor || linked.has(anchor)) continue;
    linked.add(anchor);
    const start = match.index + before.length;
    if (start > from) out.push(text.slice(from, start));
    const root = document.documentElement.dataset.content_root ?? "";
    out.push(h("a", { class: "term", href: `${root}${terms.page}#${anchor}` }, term));
    from = start + term.length;
  }
  if (from < text.length) out.push(text.slice(from));
  return out;
}

/**
 * The sentence as nodes; `code(text)` may return its own element for an argument.
 * @param {readonly string[] | null | undefined} say
 * @param {(text: string) => Child} code
 */
export function sentence(say, code = (value) => h("code", null, value)) {
  const [template = "", ...args] = say ?? [];
  /** @type {Set<string>} */
  const linked = new Set();
  /** @type {(list: Part[]) => Child[]} */
  const draw = (list) =>
    list.flatMap((p) =>
      typeof p === "string"
        ? withTerms(p, linked)
        : [p.strong ? h("strong", null, draw(p.strong)) : withRoom(code(p.code), p.code)],
    );
  const [first, ...rest] = template.split("\n");
  const nodes = draw(parts(first, args));
  for (const line of rest) nodes.push(h("small", null, draw(parts(line, args))));
  return nodes;
}
