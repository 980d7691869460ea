// What a row of the program says, read from its tokens: operators, names, types, attributes, and what it computes.
/** @import { Row } from "../generated/common.js" */

/** The classes of tokens, as the views' data number them. */
export const CLASS = {
  plain: 0,
  keyword: 1,
  local: 2,
  global: 3,
  operator: 4,
  type: 5,
  literal: 6,
  attribute: 7,
  constructor: 8,
  comment: 9,
};

/** What a row computes. @typedef {{ kind: "call" | "name" | "literal" | "tuple" | "get" | "other", text: string, parts: Term[], index: number }} Term */
/** An attribute and where it stands in the row's text. @typedef {{ name: string, value: string, from: number, to: number }} Attribute */
/** A token and where it begins in the row's text. @typedef {{ kind: number, text: string, from: number }} Placed */
/**
 * @typedef {object} Facts
 * @property {string} text
 * @property {string} low the text in small letters
 * @property {readonly Placed[]} tokens
 * @property {string[]} operators
 * @property {string[]} names local and global ones, and constructors
 * @property {string} defines the local name to which the row gives a value, or ""
 * @property {string[]} types those that are printed, and the one that the view knows of the row's value
 * @property {Attribute[]} attributes
 * @property {Term | null} value
 */

/** @typedef {Pick<Row, "tokens" | "kind"> & Partial<Pick<Row, "type">>} Readable */
/** @type {WeakMap<Readable, Facts>} */
const known = new WeakMap();
const KINDS = { parameter: 2, binding: 3, let: 4 };

/**
 * The facts of a row, read once.
 * @param {Readable} row
 * @returns {Facts}
 */
export function factsOf(row) {
  let facts = known.get(row);
  if (!facts) known.set(row, (facts = read(row)));
  return facts;
}

/**
 * @param {Readable} row
 * @returns {Facts}
 */
function read(row) {
  let text = "";
  const tokens = row.tokens.map((token) => {
    const placed = { kind: token.kind, text: token.text, from: text.length };
    text += token.text;
    return placed;
  });
  /** @param {readonly number[]} kinds */
  const of = (...kinds) => tokens.filter(({ kind }) => kinds.includes(kind)).map((token) => token.text);
  const first = tokens.find(({ kind }) => kind === CLASS.local);
  const gives = row.kind === KINDS.parameter || row.kind === KINDS.binding || row.kind === KINDS.let;
  const equals = tokens.findIndex((token) => token.kind === CLASS.plain && token.text === " = ");
  return {
    text,
    low: text.toLowerCase(),
    tokens,
    operators: of(CLASS.operator),
    names: of(CLASS.local, CLASS.global, CLASS.constructor),
    defines: gives && first ? first.text : "",
    types: row.type ? [...of(CLASS.type), row.type] : of(CLASS.type),
    attributes: attributesOf(tokens, text),
    value: row.kind === KINDS.parameter ? null : termOf(tokens.slice(equals + 1)),
  };
}

/**
 * `name`, `=` and a value, which ends at the comma or parenthesis that is not its own.
 * @param {readonly Placed[]} tokens
 * @param {string} text
 */
function attributesOf(tokens, text) {
  /** @type {Attribute[]} */
  const out = [];
  tokens.forEach((token, at) => {
    if (token.kind !== CLASS.attribute || tokens[at + 1]?.text !== "=") return;
    let end = at + 2;
    let depth = 0;
    for (; end < tokens.length; end++) {
      const { kind, text: word } = tokens[end];
      if (kind !== CLASS.plain) continue;
      if (depth === 0 && /^[,);]/.test(word)) break;
      depth += (word.match(/[([{]/g)?.length ?? 0) - (word.match(/[)\]}]/g)?.length ?? 0);
    }
    const from = tokens[at + 2]?.from ?? text.length;
    const to = tokens[end]?.from ?? text.length;
    out.push({ name: token.text, value: text.slice(from, to), from: token.from, to });
  });
  return out;
}

/**
 * Reads what a row computes: `op(%x, %y, name=…)`, `@f(…)`, `%0.1`, `(%x, %y)`, a constant; null for a block.
 * @param {readonly Placed[]} tokens
 * @returns {Term | null}
 */
function termOf(tokens) {
  let at = 0;
  /** @type {(kind: Term["kind"], text: string, parts?: Term[], index?: number) => Term} */
  const term = (kind, text, parts = [], index = -1) => ({ kind, text, parts, index });
  /** @param {string} sign */
  const opens = (sign) => tokens[at]?.kind === CLASS.plain && tokens[at].text.startsWith(sign);

  /** @returns {Term[]} */
  function list() {
    /** @type {Term[]} */
    const parts = [];
    at += 1; // the opening parenthesis
    while (at < tokens.length && !opens(")")) {
      if (opens(",")) {
        at += 1;
        continue;
      }
      if (tokens[at].kind === CLASS.attribute && tokens[at + 1]?.text === "=") {
        at += 2;
        while (at < tokens.length && !opens(",") && !opens(")")) at += 1;
        continue;
      }
      parts.push(one());
    }
    at += 1;
    return parts;
  }

  /** @returns {Term} */
  function one() {
    const token = tokens[at];
    if (opens("(")) return term("tuple", "", list());
    at += 1;
    switch (token.kind) {
      case CLASS.operator:
      case CLASS.global:
      case CLASS.constructor:
        return opens("(") ? term("call", token.text, list()) : term("name", token.text);
      case CLASS.local: {
        if (opens("(")) return term("call", token.text, list());
        const index = /^\.(\d+)$/.exec(tokens[at]?.text ?? "");
        if (!index) return term("name", token.text);
        at += 1;
        return term("get", token.text, [term("name", token.text)], Number(index[1]));
      }
      case CLASS.literal:
        return term("literal", token.text);
      case CLASS.keyword:
        if (token.text.startsWith("ref") && opens("(")) return term("call", token.text, list());
        return term("other", token.text);
      default:
        return term("other", token.text);
    }
  }

  const [begin] = tokens;
  if (!begin || (begin.kind === CLASS.plain && !begin.text.startsWith("("))) return null;
  const result = one();
  return result.kind === "other" ? null : result;
}
