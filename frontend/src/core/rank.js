// How well a row answers a condition of a search: whole names before parts of names, and letters inside a word last.
import { mentions } from "./dataflow.js";
import { CLASS, factsOf } from "./rowfacts.js";
import { bareType, typeRegex } from "./query.js";
/** @import { Row } from "../generated/common.js" */
/** @import { Condition } from "./query.js" */

/** Not at all; the rest are better the smaller they are. */
export const NONE = 0;
export const OPERATOR = 1;
const PART = 2;
const NAME = 3;
const WORD = 4;
const PREFIX = 5;
/** Not in the program, but in another column. */
export const BESIDE = 6;
/** Only inside a word: hits only where nothing answers better. */
export const INSIDE = 7;

/** What the ranks are called in the list of hits. */
export const RANKS = [
  "",
  "the operator itself",
  "in the operator’s name",
  "names",
  "whole words",
  "beginnings of words",
  "in other columns",
  "inside words",
];

/** The kinds of rows, for `is:`. @type {Record<string, (row: Row) => boolean>} */
const IS = {
  function: ({ kind }) => kind === 1,
  parameter: ({ kind }) => kind === 2,
  binding: ({ kind }) => kind === 3 || kind === 4,
  let: ({ kind }) => kind === 4,
  result: ({ kind }) => kind === 5,
  branch: ({ kind }) => kind === 7,
  type: ({ kind }) => kind === 8,
  comment: ({ kind }) => kind === 9,
  call: (row) => factsOf(row).value?.kind === "call",
  operator: (row) => factsOf(row).operators.length > 0,
  tuple: (row) => factsOf(row).value?.kind === "tuple",
  constant: (row) => row.tokens.some(({ kind, text }) => kind === CLASS.literal && text.startsWith("meta[")),
};
export const KINDS = Object.keys(IS);

const IDENTIFIER = /^[%@]?[\p{L}\p{N}_.]+$/u;
const SIGIL = /^[%@]/;

/** @param {readonly number[]} ranks */
const best = (ranks) =>
  ranks.reduce((least, rank) => (rank && (!least || rank < least) ? rank : least), NONE);

/**
 * How well a name answers a word: `own` where it is the name itself.
 * @param {string} name
 * @param {string} word
 * @param {number} own
 */
function rankName(name, word, own) {
  const low = name.toLowerCase();
  const bare = low.replace(SIGIL, "");
  const wanted = SIGIL.test(word) && !SIGIL.test(low) ? word.slice(1) : word;
  const text = SIGIL.test(wanted) ? low : bare;
  if (text === wanted) return own;
  if (!text.includes(wanted)) return NONE;
  const parts = bare.split(".");
  if (parts.includes(wanted)) return Math.max(own, PART);
  if (parts.some((part) => part.split("_").includes(wanted))) return WORD;
  if (text.startsWith(wanted) || parts.some((part) => part.startsWith(wanted))) return PREFIX;
  return INSIDE;
}

/**
 * How well a text that is no token answers a word.
 * @param {string} text
 * @param {string} word
 */
export function rankText(text, word) {
  const low = text.toLowerCase();
  if (!low.includes(word)) return NONE;
  if (low === word) return NAME;
  if (!IDENTIFIER.test(word)) return WORD;
  const words = low.split(/[^\p{L}\p{N}_.%@]+/u);
  if (words.includes(word)) return WORD;
  return words.some((part) => part.startsWith(word)) ? PREFIX : INSIDE;
}

/** @param {Row} row @param {string} word */
function rankTokens(row, word) {
  const facts = factsOf(row);
  if (!facts.low.includes(word)) return NONE;
  // What is no word is looked for as it is printed.
  if (!IDENTIFIER.test(word)) return WORD;
  return best(
    facts.tokens.map(({ kind, text }) => {
      if (kind === CLASS.operator) return rankName(text, word, OPERATOR);
      if (kind === CLASS.local || kind === CLASS.global || kind === CLASS.constructor)
        return rankName(text, word, NAME);
      if (kind === CLASS.keyword) return text === word ? WORD : NONE;
      if (kind === CLASS.attribute || kind === CLASS.plain) return NONE;
      return Math.max(rankText(text, word), WORD) * (text.toLowerCase().includes(word) ? 1 : 0);
    }),
  );
}

/**
 * @param {readonly string[]} texts
 * @param {Condition} condition
 */
export const rankTexts = (texts, { word, exact, regex }) =>
  best(
    texts.map((text) => {
      if (regex) return regex.test(text) ? WORD : NONE;
      if (exact) return text.toLowerCase().includes(word) ? WORD : NONE;
      return rankText(text, word);
    }),
  );

/**
 * @param {readonly string[]} names
 * @param {Condition} condition
 * @param {number} own
 */
export const rankNames = (names, { word, exact, regex }, own) =>
  best(
    names.map((name) => {
      if (regex) return regex.test(name) || regex.test(name.replace(SIGIL, "")) ? own : NONE;
      if (exact) return name.toLowerCase() === word ? own : NONE;
      return rankName(name, word, own);
    }),
  );

/** @param {string} value */
const bareValue = (value) => value.toLowerCase().replace(/[\s"']/g, "");

/** @param {Row} row @param {Condition} condition */
function rankAttributes(row, { word, exact, regex, name }) {
  return best(
    factsOf(row).attributes.map((attribute) => {
      const own = attribute.name.toLowerCase();
      if (name === undefined) {
        if (regex) return regex.test(own) ? NAME : NONE;
        return own === word ? NAME : !exact && own.startsWith(word) ? PREFIX : NONE;
      }
      if (own !== name) return NONE;
      if (regex) return regex.test(attribute.value) || regex.test(bareValue(attribute.value)) ? NAME : NONE;
      return word === "" || bareValue(attribute.value) === bareValue(word) ? NAME : NONE;
    }),
  );
}

/** @type {Map<string, ReturnType<typeof typeRegex>>} */
const typesAsked = new Map();
/** @param {string} word */
function asType(word) {
  let regex = typesAsked.get(word);
  if (!regex) {
    if (typesAsked.size > 50) typesAsked.clear();
    typesAsked.set(word, (regex = typeRegex(word)));
  }
  return regex;
}

/**
 * @param {readonly string[]} types
 * @param {Condition} condition
 */
export function rankTypes(types, { word, exact, regex }) {
  const test = regex ?? asType(word);
  return types.some((type) =>
    exact ? type.toLowerCase().includes(word) : test.test(regex ? type : bareType(type)),
  )
    ? NAME
    : NONE;
}

/**
 * Whether an expression fits in a row's text; a word with wildcards has to fit a token, which is no attribute's name.
 * @param {Condition} condition
 * @param {import("./rowfacts.js").Facts} facts
 */
function wholeText({ regex, glob }, facts) {
  if (!glob) return regex?.test(facts.text);
  return facts.tokens.some(
    ({ kind, text }) => kind !== CLASS.attribute && kind !== CLASS.plain && regex?.test(text),
  );
}

/**
 * How well a row answers a condition in one of the fields that every search has; "" is everywhere.
 * @param {Row} row
 * @param {Condition} condition
 * @returns {number}
 */
export function rankRow(row, condition) {
  const { field, word, exact, regex } = condition;
  const facts = factsOf(row);
  switch (field) {
    case "op":
      return rankNames(facts.operators, condition, OPERATOR);
    case "name":
      return facts.defines && rankNames([facts.defines], condition, OPERATOR) === OPERATOR
        ? OPERATOR
        : rankNames(facts.names, condition, NAME);
    case "type":
      return rankTypes(facts.types, condition);
    case "attr":
      return rankAttributes(row, condition);
    case "is":
      return IS[word]?.(row) ? WORD : NONE;
    case "text":
      return rankTexts([facts.text], { ...condition, exact: true });
    case "":
      if (regex)
        return best([
          rankNames(facts.operators, condition, OPERATOR),
          rankNames(facts.names, condition, NAME),
          wholeText(condition, facts) ? WORD : NONE,
        ]);
      return exact ? rankTexts([facts.text], condition) : rankTokens(row, word);
    default:
      return NONE;
  }
}

/**
 * Where in a row's text the letters stand that answer a condition, as [start, end].
 * @param {Row} row
 * @param {Condition} condition
 * @returns {[number, number][]}
 */
export function lettersOf(row, condition) {
  const { field, word, exact, regex } = condition;
  const facts = factsOf(row);
  const { pattern } = condition;
  if (pattern)
    return facts.tokens
      .filter(({ kind, text }) => kind === CLASS.operator && mentions(pattern, text))
      .map(({ text, from }) => [from, from + text.length]);
  if (field === "is") return [];
  if (field === "attr")
    return facts.attributes
      .filter((attribute) =>
        condition.name === undefined
          ? attribute.name.toLowerCase().startsWith(word)
          : attribute.name.toLowerCase() === condition.name,
      )
      .map(({ name, from, to }) => [from, condition.name === undefined ? from + name.length : to]);
  if (exact || field === "text" || (!regex && !IDENTIFIER.test(word) && field === ""))
    return regex ? regex.ranges(facts.text) : occurrences(facts.low, word);
  if (regex && field === "" && !condition.glob) {
    const ranges = regex.ranges(facts.text);
    if (ranges.length) return ranges;
  }
  /** @param {number} kind */
  const asked = (kind) => {
    if (field === "op") return kind === CLASS.operator;
    if (field === "name") return kind === CLASS.local || kind === CLASS.global || kind === CLASS.constructor;
    if (field === "type") return kind === CLASS.type;
    return kind !== CLASS.plain && kind !== CLASS.attribute;
  };
  return facts.tokens
    .filter(({ kind }) => asked(kind))
    .flatMap(({ text, from }) => {
      if (field === "type" && !regex)
        return asType(word).test(bareType(text)) ? [[from, from + text.length]] : [];
      if (regex)
        return regex.test(text) || regex.test(text.replace(SIGIL, "")) ? [[from, from + text.length]] : [];
      return occurrences(text.toLowerCase(), word).map(([a, b]) => [from + a, from + b]);
    })
    .map(([a, b]) => [a, b]);
}

/**
 * @param {string} text
 * @param {string} word
 * @returns {[number, number][]}
 */
export function occurrences(text, word) {
  /** @type {[number, number][]} */
  const out = [];
  if (!word) return out;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length))
    out.push([at, at + word.length]);
  return out;
}
