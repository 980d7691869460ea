// Dataflow patterns over the rows of a program: the syntax of the package's patterns, and a short form of it.
//
//   nn.relu(nn.bias_add(nn.conv2d(*), *))     the short form: operators by name, * for anything
//   is_op("nn.relu")(wildcard())              as the package writes it
import { COMMUTATIVE } from "../generated/operators.js";
import { factsOf } from "./rowfacts.js";
/** @import { Row } from "../generated/common.js" */

/** What is wrong with a pattern, in words that a reader sees. */
export class PatternProblem extends Error {}

/**
 * @typedef {{ kind: "any" }
 *   | { kind: "op", name: string }
 *   | { kind: "var", name: string }
 *   | { kind: "constant" }
 *   | { kind: "call", of: Pattern, args: Pattern[] | null }
 *   | { kind: "tuple", fields: Pattern[] | null }
 *   | { kind: "get", of: Pattern, index: number }
 *   | { kind: "either", parts: Pattern[] }
 *   | { kind: "has", of: Pattern, what: "attr" | "type" | "dtype" | "shape", wanted: string }} Pattern
 */

const TOKEN = /\s*(?:("[^"]*"|'[^']*')|([A-Za-z_@%][\w.*@]*|\*|\d+)|(…|\.\.\.|.))/suy;
const MOST_PARTS = 200;
const MOST_TRIES = 20_000;
const HAS = /** @type {const} */ ({
  has_attr: "attr",
  has_type: "type",
  has_dtype: "dtype",
  has_shape: "shape",
});

/**
 * Reads a pattern; throws a PatternProblem.
 * @param {string} source
 * @returns {Pattern}
 */
export function dataflowPattern(source) {
  /** @type {string[]} */
  const tokens = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(source); match; match = TOKEN.exec(source)) {
    const word = match[1] ?? match[2] ?? match[3];
    // A method after a call: `.has_attr(…)`.
    if (word.trim()) tokens.push(word);
    if (tokens.length > MOST_PARTS) throw new PatternProblem("it is too long");
  }
  let at = 0;
  /** @param {string} token */
  const next = (token) => {
    if (tokens[at] !== token) return false;
    at += 1;
    return true;
  };
  /** @param {string} token */
  const need = (token) => {
    if (!next(token)) {
      const instead = at < tokens.length ? `${tokens[at]} stands there` : "it ends there";
      throw new PatternProblem(`${token} is expected, but ${instead}`);
    }
  };

  /** @returns {Pattern} */
  function either() {
    const parts = [suffixed()];
    while (next("|")) parts.push(suffixed());
    return parts.length === 1 ? parts[0] : { kind: "either", parts };
  }

  /** @returns {Pattern} */
  function suffixed() {
    let pattern = atom();
    for (;;) {
      if (next("(")) pattern = { kind: "call", of: pattern, args: list(")") };
      else if (tokens[at] === "." && (tokens[at + 1] ?? "") in HAS) pattern = has(pattern);
      else if (tokens[at] === "." && /^\d+$/.test(tokens[at + 1] ?? "")) {
        pattern = { kind: "get", of: pattern, index: Number(tokens[at + 1]) };
        at += 2;
      } else return pattern;
    }
  }

  /**
   * `.has_attr({"groups": 32})`, `.has_dtype("float32")` …: what is between the parentheses, as text.
   * @param {Pattern} of
   * @returns {Pattern}
   */
  function has(of) {
    const what = HAS[/** @type {keyof typeof HAS} */ (tokens[at + 1])];
    at += 2;
    need("(");
    let wanted = "";
    for (let depth = 0; at < tokens.length; at++) {
      const token = tokens[at];
      if ("([{".includes(token)) depth += 1;
      if (")]}".includes(token) && depth-- === 0) break;
      wanted += token;
    }
    need(")");
    return { kind: "has", of, what, wanted };
  }

  /**
   * The parts up to a bracket; null for a single `*` or `…`, which stands for any number of them.
   * @param {string} close
   * @returns {Pattern[] | null}
   */
  function list(close) {
    if ((tokens[at] === "*" || tokens[at] === "…" || tokens[at] === "...") && tokens[at + 1] === close) {
      at += 2;
      return null;
    }
    /** @type {Pattern[]} */
    const parts = [];
    while (!next(close)) {
      if (parts.length) need(",");
      if (next(close)) break;
      parts.push(either());
    }
    return parts;
  }

  /** @returns {Pattern} */
  function atom() {
    const word = tokens[at++];
    if (word === undefined) throw new PatternProblem("it ends too early");
    if (word === "*" || word === "…" || word === "...") return { kind: "any" };
    if (word === "(") {
      const fields = list(")");
      return fields?.length === 1 ? fields[0] : { kind: "tuple", fields };
    }
    if (!/^[A-Za-z_@%]/.test(word)) throw new PatternProblem(`${word} cannot begin a pattern`);
    const call = CALLS[word];
    if (call && next("(")) return call();
    return word.startsWith("%") ? { kind: "var", name: word } : { kind: "op", name: word };
  }

  /** @param {string} [otherwise] */
  const quoted = (otherwise) => {
    const word = tokens[at] ?? "";
    if (/^["']/.test(word)) {
      at += 1;
      return word.slice(1, -1);
    }
    if (otherwise === undefined) throw new PatternProblem("a name in quotes is expected");
    return otherwise;
  };
  /** @type {Record<string, () => Pattern>} */
  const CALLS = {
    is_op() {
      const name = quoted();
      need(")");
      return { kind: "op", name };
    },
    is_var() {
      const name = quoted("");
      need(")");
      return { kind: "var", name };
    },
    is_constant() {
      need(")");
      return { kind: "constant" };
    },
    wildcard() {
      need(")");
      return { kind: "any" };
    },
    is_tuple() {
      if (next(")") || (next("None") && next(")"))) return { kind: "tuple", fields: null };
      need("[");
      const fields = list("]");
      need(")");
      return { kind: "tuple", fields };
    },
    is_tuple_get_item() {
      const of = either();
      const index = next(",") ? Number(tokens[at++]) : -1;
      need(")");
      return { kind: "get", of, index };
    },
  };

  const pattern = either();
  if (at < tokens.length) throw new PatternProblem(`${tokens[at]} comes after its end`);
  return pattern;
}

/** @typedef {import("./rowfacts.js").Term} Term */

/**
 * Which rows define which name where: `defined(row, name)` is the row that a name means that is used in `row`, or -1.
 * @param {readonly Row[]} rows
 */
export function createDefinitions(rows) {
  /** By row, the names that it uses with the rows that define them. @type {(Map<string, number> | null)[]} */
  const uses = rows.map(() => null);
  /** @type {Map<string, number>} */
  let known = new Map();
  rows.forEach((row, at) => {
    const { defines, names } = factsOf(row);
    if (row.depth === 0 && row.end > at) known = new Map();
    /** @type {Map<string, number>} */
    const here = new Map();
    for (const name of names) if (known.has(name)) here.set(name, /** @type {number} */ (known.get(name)));
    if (here.size) uses[at] = here;
    if (defines) known.set(defines, at);
  });
  return (/** @type {number} */ row, /** @type {string} */ name) => uses[row]?.get(name) ?? -1;
}

/**
 * `match(pattern, row)`: whether what a row computes fits a pattern, followed through the names that it uses; the rows
 * that took part, or null.
 * @param {readonly Row[]} rows
 */
export function createMatcher(rows) {
  const defined = createDefinitions(rows);
  let tries = 0;

  /**
   * What a term stands for: a name that a row computes stands for what it computes.
   * @param {Term} term
   * @param {number} row
   * @returns {{ term: Term, row: number }}
   */
  function resolve(term, row) {
    let now = { term, row };
    for (let hops = 0; now.term.kind === "name" && hops < 50; hops++) {
      const at = defined(now.row, now.term.text);
      const value = at >= 0 ? factsOf(rows[at]).value : null;
      if (!value) return now;
      now = { term: value, row: at };
    }
    return now;
  }

  /**
   * @param {readonly Pattern[] | null} patterns
   * @param {readonly Term[]} terms
   * @param {number} row
   * @param {Set<number>} used
   */
  const several = (patterns, terms, row, used) =>
    patterns === null ||
    (patterns.length === terms.length && patterns.every((part, i) => fits(part, terms[i], row, used)));

  /**
   * @param {Pattern} pattern
   * @param {Term} given
   * @param {number} at
   * @param {Set<number>} used
   * @returns {boolean}
   */
  function fits(pattern, given, at, used) {
    if ((tries += 1) > MOST_TRIES) throw new PatternProblem("it takes too long on this program");
    if (pattern.kind === "any") return true;
    if (pattern.kind === "var") {
      const { text } = given;
      // A name that no row computes: a parameter, or what a pattern bound.
      return (
        given.kind === "name" &&
        resolve(given, at).term.kind === "name" &&
        (pattern.name === "" || text.replace(/^%/, "") === pattern.name.replace(/^%/, ""))
      );
    }
    const { term, row } = resolve(given, at);
    const took = () => used.add(row) !== null;
    switch (pattern.kind) {
      case "constant":
        return term.kind === "literal";
      case "op":
        return term.kind === "call" && sameName(pattern.name, term.text) && took();
      case "call":
        return (
          term.kind === "call" && calls(pattern.of, term) && operands(pattern, term, row, used) && took()
        );
      case "tuple":
        return term.kind === "tuple" && several(pattern.fields, term.parts, row, used) && took();
      case "get":
        return (
          term.kind === "get" &&
          (pattern.index < 0 || pattern.index === term.index) &&
          fits(pattern.of, term.parts[0], row, used) &&
          took()
        );
      case "either":
        return pattern.parts.some((part) => tried(used, (own) => fits(part, given, at, own)));
      default:
        return hasWhat(pattern, row) && fits(pattern.of, given, at, used);
    }
  }

  /**
   * Tries one of several ways to fit; the rows that took part are added to `used` only if it does.
   * @param {Set<number>} used
   * @param {(own: Set<number>) => boolean} way
   */
  function tried(used, way) {
    const own = new Set(used);
    if (!way(own)) return false;
    for (const row of own) used.add(row);
    return true;
  }

  /**
   * Whether the operands of a call fit; those of a commutative operator in either order.
   * @param {Extract<Pattern, { kind: "call" }>} pattern
   * @param {Term} term
   * @param {number} row
   * @param {Set<number>} used
   */
  function operands({ of, args }, term, row, used) {
    const orders = [args];
    if (args?.length === 2 && of.kind !== "any" && COMMUTATIVE.has(term.text))
      orders.push([args[1], args[0]]);
    return orders.some((order) => tried(used, (own) => several(order, term.parts, row, own)));
  }

  /**
   * Whether what a call calls fits: an operator, one of several, or anything.
   * @param {Pattern} pattern
   * @param {Term} term
   * @returns {boolean}
   */
  const calls = (pattern, term) =>
    pattern.kind === "any" ||
    ((pattern.kind === "op" || pattern.kind === "var") && sameName(pattern.name, term.text)) ||
    (pattern.kind === "either" && pattern.parts.some((part) => calls(part, term)));

  /**
   * @param {Extract<Pattern, { kind: "has" }>} pattern
   * @param {number} row
   */
  function hasWhat({ what, wanted }, row) {
    const { attributes, types } = factsOf(rows[row]);
    const bare = (/** @type {string} */ text) => text.replace(/[\s"'[\](){}]/g, "").toLowerCase();
    if (what !== "attr") return types.some((type) => bare(type).includes(bare(wanted)));
    return [...wanted.matchAll(/["'](\w+)["']:((?:\[[^\]]*\]|\([^)]*\)|[^,}])*)/g)].every(([, name, value]) =>
      attributes.some((attribute) => attribute.name === name && bare(attribute.value) === bare(value)),
    );
  }

  return {
    /**
     * @param {Pattern} pattern
     * @param {number} row
     * @returns {number[] | null}
     */
    match(pattern, row) {
      const { value } = factsOf(rows[row]);
      /** @type {Set<number>} */
      const used = new Set();
      tries = 0;
      return value && value.kind !== "name" && fits(pattern, value, row, used) ? [...used.add(row)] : null;
    },
  };
}

/**
 * Whether a pattern names an operator.
 * @param {Pattern} pattern
 * @param {string} name
 * @returns {boolean}
 */
export function mentions(pattern, name) {
  switch (pattern.kind) {
    case "op":
      return sameName(pattern.name, name);
    case "call":
      return mentions(pattern.of, name) || (pattern.args ?? []).some((part) => mentions(part, name));
    case "tuple":
      return (pattern.fields ?? []).some((part) => mentions(part, name));
    case "either":
      return pattern.parts.some((part) => mentions(part, name));
    case "get":
    case "has":
      return mentions(pattern.of, name);
    default:
      return false;
  }
}

/**
 * Whether an operator has a name; `*` in it stands for any letters.
 * @param {string} wanted
 * @param {string} name
 */
function sameName(wanted, name) {
  if (!wanted.includes("*")) return wanted === name;
  const parts = wanted.split("*");
  let at = 0;
  for (const [i, part] of parts.entries()) {
    const found = i === 0 ? (name.startsWith(part) ? 0 : -1) : name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return wanted.endsWith("*") || name.endsWith(parts[parts.length - 1]);
}
