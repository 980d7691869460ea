// What a reader writes into a search box, as a list of conditions that all have to hold.
import { dataflowPattern, PatternProblem } from "./dataflow.js";
import { RegexProblem, compileRegex } from "./regex.js";

/** @typedef {ReturnType<typeof compileRegex>} Regex */
/**
 * One condition. `field` is where it looks ("" for everywhere); `word` is a word in small letters, `regex` an expression;
 * which with `glob` is made of a word with `*`; `exact` is a phrase, which is looked for letter by letter; `name` and `value` are of an attribute.
 * @typedef {{ field: string, word: string, exact: boolean, regex: Regex | null, glob?: boolean, name?: string, pattern?: import("./dataflow.js").Pattern }} Condition
 */
/** @typedef {{ conditions: Condition[], problem: string }} Parsed */

export const MOST_LETTERS = 300;
const FIELD = /^([a-z][a-z-]*):\s*/i;
const ATTRIBUTE = /^([a-z_]\w*)=(?!=)\s*/i;
const OPEN = "([{";
const CLOSE = ")]}";

/** What every search understands beside words; a view's own scopes are added to them. */
export const FIELDS = ["op", "name", "type", "attr", "is", "text", "node", "pattern"];

/**
 * The end of a value that begins at `from`: the next space outside of brackets and quotes.
 * @param {string} text
 * @param {number} from
 */
function endOfValue(text, from) {
  let depth = 0;
  let quoted = false;
  for (let at = from; at < text.length; at++) {
    const letter = text[at];
    if (letter === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (OPEN.includes(letter)) depth += 1;
    else if (CLOSE.includes(letter)) depth -= 1;
    else if (/\s/.test(letter) && depth <= 0) return at;
  }
  return text.length;
}

/**
 * The end of `/…/` that begins at `from`, or -1: its last slash is followed by a space or by nothing.
 * @param {string} text
 * @param {number} from
 */
function endOfRegex(text, from) {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "/" && (at + 1 === text.length || /\s/.test(text[at + 1])))
      return at > from + 1 ? at : -1;
  }
  return -1;
}

/**
 * A word with wildcards as an expression: `*` stands for any letters.
 * @param {string} word
 */
const wildcards = (word) => `^${word.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")}$`;

/**
 * Reads a query. `fields` are the names before a colon that are understood; `within` is where words are looked for that
 * have none. `problem` says which part cannot be parsed, and why.
 * @param {string} text
 * @param {readonly string[]} fields
 * @returns {Parsed}
 */
export function parseQuery(text, fields, within = "") {
  /** @type {Condition[]} */
  const conditions = [];
  if (text.length > MOST_LETTERS)
    return { conditions, problem: `A search can have at most ${MOST_LETTERS} letters.` };
  let at = 0;
  let rest = "";

  /**
   * The value that begins at `at`, as a condition of `field`; null where there is none.
   * @param {string} field
   * @returns {Condition | null}
   */
  function value(field) {
    if (text[at] === "/") {
      const end = endOfRegex(text, at);
      if (end > 0) {
        const source = text.slice(at + 1, end);
        at = end + 1;
        return { field, word: "", exact: false, regex: compileRegex(source) };
      }
    }
    if (text[at] === '"') {
      const end = text.indexOf('"', at + 1);
      const word = text.slice(at + 1, end < 0 ? undefined : end).toLowerCase();
      at = end < 0 ? text.length : end + 1;
      return word ? { field, word, exact: true, regex: null } : null;
    }
    const end = endOfValue(text, at);
    const word = text.slice(at, end).toLowerCase();
    at = end;
    if (!word) return null;
    const starred = word.includes("*") && word !== "*" && field !== "type";
    if (!starred) return { field, word, exact: false, regex: null };
    return { field, word, exact: false, regex: compileRegex(wildcards(word)), glob: true };
  }

  try {
    for (; at < text.length;) {
      if (/\s/.test(text[at])) {
        at += 1;
        continue;
      }
      rest = text.slice(at);
      const field = FIELD.exec(rest);
      const attribute = ATTRIBUTE.exec(rest);
      const name = field?.[1].toLowerCase() ?? "";
      /** @type {Condition | null} */
      let condition = null;
      if (field && name === "pattern" && fields.includes(name)) {
        at = text.length;
        const source = rest.slice(field[0].length).trim();
        if (source)
          condition = { field: name, word: "", exact: false, regex: null, pattern: dataflowPattern(source) };
      } else if (field && fields.includes(name)) {
        at += field[0].length;
        condition = name === "attr" ? attributeOf(rest.slice(field[0].length)) : value(name);
      } else if (attribute && !within) condition = attributeOf(rest);
      else condition = value(within);
      if (condition) conditions.push(condition);
    }
  } catch (error) {
    if (error instanceof RegexProblem)
      return { conditions: [], problem: `This regular expression cannot be read: ${error.message}.` };
    if (error instanceof PatternProblem)
      return { conditions: [], problem: `This pattern cannot be read: ${error.message}.` };
    throw error;
  }

  /**
   * `name=value`, or `attr:name`, where any value does.
   * @param {string} part
   * @returns {Condition | null}
   */
  function attributeOf(part) {
    const match = ATTRIBUTE.exec(part);
    if (!match) return value("attr");
    at += match[0].length;
    const wanted = value("attr") ?? { field: "attr", word: "", exact: false, regex: null };
    return { ...wanted, name: match[1].toLowerCase() };
  }

  return { conditions, problem: "" };
}

/**
 * An expression for a type such as `(1, 64, …)`: `?` and `*` stand for one dimension, `…` or `...` for any number of them.
 * @param {string} word
 */
export function typeRegex(word) {
  const text = bareType(word);
  const source = text
    .replaceAll("...", "…")
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/[?*]/g, "[^,()\\[\\]]+")
    .replaceAll(",…", "(?:,.*)?")
    .replaceAll("…", ".*");
  const begins = /^\w/.test(text) ? "\\b" : "";
  const ends = /\d$/.test(text) ? "\\b" : "";
  return compileRegex(begins + source + ends);
}

/**
 * A type without spaces, with its element types written out.
 * @param {string} type
 */
export const bareType = (type) =>
  type
    .toLowerCase()
    .replace(/\s+/g, "")
    .replace(/(^|[^a-z0-9])([fiu])(8|16|32|64)(?![a-z0-9])/g, (_, before, kind, bits) => {
      const name = { f: "float", i: "int", u: "uint" }[/** @type {"f" | "i" | "u"} */ (kind)];
      return `${before}${name}${bits}`;
    });
