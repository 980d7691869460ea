// Regular expressions that always end: an automaton follows all alternatives at once, so that a search takes time in
// proportion to the text, whatever a reader types. Letters match regardless of case.

const MOST_STATES = 2000;
const MOST_REPEATS = 100;
const WORD = /^[\p{L}\p{N}_]$/u;

/** What is wrong with an expression, in words that a reader sees. */
export class RegexProblem extends Error {}

/** Accepts one character. @typedef {(character: string) => boolean} Accepts */
/** @typedef {{ kind: "one", accepts: Accepts } | { kind: "edge", edge: string } | { kind: "all", parts: Node[] } | { kind: "any", parts: Node[] } | { kind: "repeat", part: Node, least: number, most: number }} Node */
/**
 * A state: it takes one character (`accepts`), asks where it stands (`edge`), forks, or is the end.
 * @typedef {{ accepts?: Accepts, edge?: string, next: number, other: number, end?: boolean }} StateOf
 */

/** @param {string} c */
const low = (c) => c.toLowerCase();
/** @type {Record<string, Accepts>} */
const CLASSES = {
  d: (c) => c >= "0" && c <= "9",
  w: (c) => WORD.test(c),
  s: (c) => /^\s$/.test(c),
};
/** @type {Record<string, string>} */
const ESCAPES = { n: "\n", t: "\t" };

/**
 * Reads an expression; throws a RegexProblem.
 * @param {string} source
 */
function parse(source) {
  const letters = [...source];
  let at = 0;
  /** @param {string} message */
  const fail = (message) => {
    throw new RegexProblem(message);
  };

  /** @returns {Node} */
  function alternatives() {
    const parts = [sequence()];
    while (letters[at] === "|") {
      at += 1;
      parts.push(sequence());
    }
    return parts.length === 1 ? parts[0] : { kind: "any", parts };
  }

  /** @returns {Node} */
  function sequence() {
    /** @type {Node[]} */
    const parts = [];
    while (at < letters.length && letters[at] !== "|" && letters[at] !== ")") parts.push(repeated());
    return { kind: "all", parts };
  }

  /** @returns {Node} */
  function repeated() {
    let part = atom();
    for (;;) {
      const sign = letters[at];
      /** @type {[number, number] | null} */
      let bounds = null;
      if (sign === "*") bounds = [0, Infinity];
      else if (sign === "+") bounds = [1, Infinity];
      else if (sign === "?") bounds = [0, 1];
      else if (sign === "{") bounds = counted();
      if (!bounds) return part;
      if (sign !== "{") at += 1;
      if (letters[at] === "?") at += 1; // which of several matches is shortest does not matter here
      part = { kind: "repeat", part, least: bounds[0], most: bounds[1] };
    }
  }

  /**
   * `{2}`, `{2,}`, `{2,5}`; null where the brace is an ordinary character.
   * @returns {[number, number] | null}
   */
  function counted() {
    const match = /^\{(\d+)(?:(,)(\d*))?\}/.exec(letters.slice(at, at + 12).join(""));
    if (!match) return null;
    const least = Number(match[1]);
    const most = match[2] ? (match[3] ? Number(match[3]) : Infinity) : least;
    if (Math.max(least, most === Infinity ? 0 : most) > MOST_REPEATS)
      fail(`a part can be repeated at most ${MOST_REPEATS} times`);
    if (most < least) fail(`${match[0]} has its limits in the wrong order`);
    at += match[0].length;
    return [least, most];
  }

  /** @returns {Node} */
  function atom() {
    const letter = letters[at++];
    if (letter === "(") return group();
    if (letter === "[") return { kind: "one", accepts: set() };
    if (letter === ".") return { kind: "one", accepts: () => true };
    if (letter === "^" || letter === "$") return { kind: "edge", edge: letter };
    if (letter === "\\") return escaped();
    if ("*+?".includes(letter)) return fail(`there is nothing before ${letter} to repeat`);
    return literal(letter);
  }

  /** @returns {Node} */
  function group() {
    if (letters[at] === "?") {
      if (letters[at + 1] !== ":") fail("groups can only be ( ) or (?: ): they cannot look ahead or back");
      at += 2;
    }
    const inside = alternatives();
    if (letters[at] !== ")") fail("a ( has no )");
    at += 1;
    return inside;
  }

  /** @returns {Node} */
  function escaped() {
    const letter = letters[at++];
    if (letter === undefined) return fail("there is nothing after the last \\");
    if (letter === "b" || letter === "B") return { kind: "edge", edge: letter };
    if (/[1-9]/.test(letter)) return fail(`\\${letter} cannot refer back to a group`);
    return { kind: "one", accepts: classOf(letter) ?? same(ESCAPES[letter] ?? letter) };
  }

  /**
   * The class that `\d`, `\W` … name.
   * @param {string} letter
   * @returns {Accepts | null}
   */
  function classOf(letter) {
    const accepts = CLASSES[low(letter)];
    if (!accepts) return null;
    return letter === low(letter) ? accepts : (c) => !accepts(c);
  }

  /** @returns {Accepts} */
  function set() {
    const not = letters[at] === "^";
    if (not) at += 1;
    /** @type {Accepts[]} */
    const accepted = [];
    for (let first = true; first || letters[at] !== "]"; first = false) {
      if (at >= letters.length) fail("a [ has no ]");
      const from = letters[at++];
      const named = from === "\\" ? classOf(letters[at] ?? "") : null;
      if (named) {
        at += 1;
        accepted.push(named);
        continue;
      }
      const start = from === "\\" ? letters[at++] : from;
      if (letters[at] === "-" && letters[at + 1] !== undefined && letters[at + 1] !== "]") {
        const end = letters[at + 1];
        at += 2;
        if (end < start) fail(`${start}-${end} has its limits in the wrong order`);
        accepted.push(
          (c) => (c >= start && c <= end) || (low(c) >= low(start) && low(c) <= low(end) && c !== low(c)),
        );
      } else accepted.push(same(start));
    }
    at += 1;
    return (c) => accepted.some((accepts) => accepts(c)) !== not;
  }

  /**
   * @param {string} letter
   * @returns {Accepts}
   */
  function same(letter) {
    const wanted = low(letter ?? "");
    return (c) => low(c) === wanted;
  }

  /**
   * @param {string} letter
   * @returns {Node}
   */
  const literal = (letter) => ({ kind: "one", accepts: same(letter) });

  const whole = alternatives();
  if (at < letters.length) fail("a ) has no (");
  return whole;
}

/**
 * The states of an automaton; the first is where it begins.
 * @param {Node} whole
 */
function build(whole) {
  /** @type {StateOf[]} */
  const states = [];
  /** @param {StateOf} state */
  const add = (state) => {
    if (states.length >= MOST_STATES) throw new RegexProblem("the expression is too long");
    return states.push(state) - 1;
  };
  /**
   * The first state of a part that goes on at `next`.
   * @param {Node} node
   * @param {number} next
   * @returns {number}
   */
  function connect(node, next) {
    if (node.kind === "one") return add({ accepts: node.accepts, next, other: -1 });
    if (node.kind === "edge") return add({ edge: node.edge, next, other: -1 });
    if (node.kind === "all") return node.parts.reduceRight((to, part) => connect(part, to), next);
    if (node.kind === "any")
      return node.parts
        .map((part) => connect(part, next))
        .reduceRight((other, first) => add({ next: first, other }));
    return repeat(node, next);
  }
  /**
   * @param {Extract<Node, { kind: "repeat" }>} node
   * @param {number} next
   */
  function repeat({ part, least, most }, next) {
    let to = next;
    if (most === Infinity) {
      const fork = add({ next: -1, other: next });
      states[fork].next = connect(part, fork);
      to = fork;
    } else
      for (let i = least; i < most; i++) {
        const inside = connect(part, to);
        to = add({ next: inside, other: next });
      }
    for (let i = 0; i < least; i++) to = connect(part, to);
    return to;
  }
  const end = add({ next: -1, other: -1, end: true });
  return { states, start: connect(whole, end) };
}

/**
 * Compiles an expression: `ranges(text)` are the [start, end] of its matches, leftmost and longest, that do not overlap;
 * `test(text)` is whether there is one. Throws a RegexProblem.
 * @param {string} source
 */
export function compileRegex(source) {
  const { states, start } = build(parse(source));
  const ends = new Int32Array(states.length); // by state, the last position at which it was added
  const from = new Int32Array(states.length); // where the match began that is now in this state

  /**
   * The leftmost, longest match at or after `begin`, or null; empty matches count only for `test`.
   * @param {string[]} letters
   * @param {number} begin
   * @returns {[number, number] | null}
   */
  function match(letters, begin) {
    /** @type {number[]} */
    let now = [];
    /** @type {number[]} */
    let after = [];
    /** @type {[number, number] | null} */
    let best = null;
    ends.fill(-1);
    /**
     * @param {number[]} list
     * @param {number} first
     * @param {number} at
     * @param {number} began
     */
    const enter = (list, first, at, began) => {
      const open = [first];
      while (open.length) {
        const index = /** @type {number} */ (open.pop());
        if (ends[index] === at) continue;
        ends[index] = at;
        const state = states[index];
        if (state.end) {
          if (!best || began < best[0] || (began === best[0] && at > best[1])) best = [began, at];
        } else if (state.accepts) {
          from[index] = began;
          list.push(index);
        } else if (state.edge) {
          if (isEdge(state.edge, letters, at)) open.push(state.next);
        } else open.push(state.other, state.next);
      }
    };
    for (let at = begin; at <= letters.length; at++) {
      if (!best) enter(now, start, at, at);
      if (at === letters.length) break;
      // Matches that began first enter their next states first, and keep them.
      now.sort((a, b) => from[a] - from[b]);
      const starts = now.map((index) => from[index]);
      after = [];
      now.forEach((index, i) => {
        const began = starts[i];
        const state = states[index];
        if (best && began > best[0]) return;
        if (state.accepts?.(letters[at])) enter(after, state.next, at + 1, began);
      });
      now = after;
      if (best && !now.length) break;
    }
    return best;
  }

  return {
    /** @param {string} text */
    test: (text) => match([...text], 0) !== null,
    /**
     * @param {string} text
     * @returns {[number, number][]}
     */
    ranges(text) {
      const letters = [...text];
      const offset = [0];
      for (const letter of letters) offset.push(offset[offset.length - 1] + letter.length);
      /** @type {[number, number][]} */
      const out = [];
      for (let at = 0; at <= letters.length;) {
        const next = match(letters, at);
        if (!next) break;
        if (next[1] > next[0]) out.push([offset[next[0]], offset[next[1]]]);
        at = Math.max(next[1], next[0] + 1);
      }
      return out;
    },
  };
}

/**
 * @param {string} edge
 * @param {readonly string[]} letters
 * @param {number} at
 */
function isEdge(edge, letters, at) {
  if (edge === "^") return at === 0;
  if (edge === "$") return at === letters.length;
  const inside = (/** @type {string | undefined} */ c) => c !== undefined && WORD.test(c);
  return (inside(letters[at - 1]) !== inside(letters[at])) === (edge === "b");
}
