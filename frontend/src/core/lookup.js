// What a search finds, apart from any drawing: which lines answer a query, the best first.
import { PatternProblem, createMatcher } from "./dataflow.js";
import { importedText } from "./imported.js";
import { FIELDS, parseQuery } from "./query.js";
import { BESIDE, INSIDE, NONE, OPERATOR, rankNames, rankRow, rankTexts, rankTypes } from "./rank.js";
import { factsOf } from "./rowfacts.js";
/** @import { Row } from "../generated/common.js" */
/** @import { Condition } from "./query.js" */
/** @import { Scope } from "./types.js" */

/**
 * Where a search looks: `texts(line)` are what stands beside the program there, `where(line)` leaves out other lines. A
 * scope with neither is a field that all searches have. `field` is its name before a colon, where it is not its id;
 * `names` says that the texts are names of operators.
 * @typedef {Scope & { field?: string, names?: boolean, texts?(line: number): readonly string[], where?(line: number): boolean }} RowScope
 */
/** A line that answers, and how well. @typedef {{ line: number, rank: number }} Hit */

const BUDGET = 1500; // milliseconds that a search may take

/**
 * How well what stands beside a line answers.
 * @param {RowScope} scope
 * @param {number} line
 * @param {Condition} condition
 */
function rankBeside({ names, texts }, line, condition) {
  const beside = texts?.(line) ?? [];
  return names ? rankNames(beside, condition, OPERATOR) : rankTexts(beside, condition);
}

/** @param {number} rank */
const aside = (rank) => (rank === NONE || rank === INSIDE ? rank : BESIDE);

/** A search among lines. A line is a row of the program, unless a view says otherwise. */
export class Lookup {
  /**
   * @param {() => readonly Row[]} rowsOf
   * @param {readonly RowScope[]} scopes the first is the one that is looked in at the start
   */
  constructor(rowsOf, scopes) {
    this.rowsOf = rowsOf;
    this.scopes = scopes;
    /** @type {readonly string[]} */
    this.fields = [
      ...FIELDS,
      ...scopes.filter((scope) => scope.texts).map((scope) => scope.field ?? scope.id),
    ];
    /** @type {Map<readonly Row[], ReturnType<typeof createMatcher>>} */
    this.matchers = new Map();
  }

  // --- what a view's finder may say otherwise --------------------------------------------------------

  /** How many lines are looked at. */
  get count() {
    return this.rowsOf().length;
  }

  /**
   * The rows of the program that a line is.
   * @param {number} line
   * @returns {readonly Row[]}
   */
  rowsAt(line) {
    return [this.rowsOf()[line]];
  }

  /**
   * All rows among which a line's row uses names, and the line's row there.
   * @param {number} line
   * @param {number} _which of the line's rows
   * @returns {{ rows: readonly Row[], row: number }}
   */
  programAt(line, _which) {
    return { rows: this.rowsOf(), row: line };
  }

  /**
   * The line of another row of the program in which a line's row stands, or -1.
   * @param {number} line
   * @param {number} which of the line's rows
   * @param {number} row
   */
  lineOf(line, which, row) {
    return line + row - this.programAt(line, which).row;
  }

  /**
   * The types that an explorer knows of a line beside those that the program prints.
   * @param {number} _line
   * @returns {readonly string[]}
   */
  typesAt(_line) {
    return [];
  }

  /**
   * What the list of hits says of a line: its number and its text.
   * @param {number} line
   * @returns {{ number: string, text: string }}
   */
  describe(line) {
    const text = this.rowsAt(line).map((row) => factsOf(row).text);
    return { number: String(line + 1), text: text.find((part) => part) ?? "" };
  }

  // --- finding --------------------------------------------------------------------------------------

  /**
   * How well a line answers a condition.
   * @param {number} line
   * @param {Condition} condition
   */
  rank(line, condition) {
    const { field } = condition;
    const rows = this.rowsAt(line);
    const own = this.scopes.find((scope) => scope.texts && (scope.field ?? scope.id) === field);
    if (own) return rankBeside(own, line, condition);
    if (field === "pattern") return this.follows(line, condition) ? OPERATOR : NONE;
    const ranks = rows.map((row) => rankRow(row, condition));
    if (field === "type" || field === "") {
      const types = this.typesAt(line);
      if (types.length)
        ranks.push(field === "type" ? rankTypes(types, condition) : rankTexts(types, condition));
    }
    if (field === "node" || field === "")
      ranks.push(rankTexts(rows.map((row) => importedText(row.imported)).filter(Boolean), condition));
    if (field === "")
      for (const scope of this.scopes) if (scope.texts) ranks.push(aside(rankBeside(scope, line, condition)));
    return ranks.reduce((least, rank) => (rank && (!least || rank < least) ? rank : least), NONE);
  }

  /**
   * The lines that compute what a dataflow pattern describes, where one of a line's rows has its result; null where none has.
   * @param {number} line
   * @param {Condition} condition
   * @returns {number[] | null}
   */
  follows(line, { pattern }) {
    if (!pattern) return null;
    const lines = this.rowsAt(line).map((_, which) => {
      const { rows, row } = this.programAt(line, which);
      let matcher = this.matchers.get(rows);
      if (!matcher) this.matchers.set(rows, (matcher = createMatcher(rows)));
      const used = matcher.match(pattern, row);
      return used && used.map((other) => this.lineOf(line, which, other)).filter((at) => at >= 0);
    });
    return lines.some(Boolean) ? lines.flatMap((some) => some ?? []) : null;
  }

  /**
   * The lines that some conditions are about beside the lines that were found: the rest of what a pattern describes.
   * @param {readonly Hit[]} hits
   * @param {readonly Condition[]} conditions
   */
  partsOf(hits, conditions) {
    const patterns = conditions.filter(({ pattern }) => pattern);
    const found = new Set(hits.map(({ line }) => line));
    const parts = new Set(
      hits.flatMap(({ line }) => patterns.flatMap((condition) => this.follows(line, condition) ?? [])),
    );
    return [...parts].filter((line) => !found.has(line)).sort((a, b) => a - b);
  }

  /**
   * The lines that answer all conditions, the best first.
   * @param {readonly Condition[]} conditions
   * @param {string} scope
   */
  match(conditions, scope) {
    const where = this.scopes.find(({ id }) => id === scope)?.where ?? (() => true);
    /** @type {Hit[]} */
    const hits = [];
    const end = performance.now() + BUDGET;
    let problem = "";
    for (let line = 0; line < this.count; line++) {
      if (line % 64 === 63 && performance.now() > end) {
        problem = `The search took too long and stopped after ${line.toLocaleString("en")} of ${this.count.toLocaleString("en")} lines.`;
        break;
      }
      if (!where(line)) continue;
      let worst = NONE;
      for (const condition of conditions) {
        const rank = this.rank(line, condition);
        if (rank === NONE) {
          worst = NONE;
          break;
        }
        worst = Math.max(worst, rank);
      }
      if (worst !== NONE) hits.push({ line, rank: worst });
    }
    return { hits: hits.sort((a, b) => a.rank - b.rank || a.line - b.line), problem };
  }

  /**
   * The lines that answer a query, the best first. Letters inside a word are what a reader means only where nothing else
   * answers: `weaker` is how many such lines are left out.
   * @param {string} query
   * @param {string} [scope]
   */
  find(query, scope = this.scopes[0].id) {
    const own = this.scopes.find(({ id }) => id === scope);
    const within = own && own !== this.scopes[0] && !own.where ? (own.field ?? own.id) : "";
    const { conditions, problem } = parseQuery(query, this.fields, within);
    if (!conditions.length) return { conditions, hits: [], weaker: 0, problem };
    try {
      const result = this.match(conditions, scope);
      const strong = result.hits.filter(({ rank }) => rank < INSIDE);
      const hits = strong.length ? strong : result.hits;
      return { conditions, hits, weaker: result.hits.length - hits.length, problem: result.problem };
    } catch (error) {
      if (!(error instanceof PatternProblem)) throw error;
      return { conditions: [], hits: [], weaker: 0, problem: `The search stopped: ${error.message}.` };
    }
  }
}
