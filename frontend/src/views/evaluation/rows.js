// The column beside the program: what each line's value is in the frame that is shown.
import { fill, h, set } from "../../core/dom.js";
import { KINDS } from "./marks.js";
import { KIND, isObject } from "./run.js";
/** @import { EvaluationExplorer } from "./view.js" */
/** @import { Row } from "../../generated/common.js" */

const BRANCH = 7;
const TYPE = 8;

/**
 * For each row that begins a block, the other blocks of the same choice.
 * @param {Row[]} rows
 */
export function alternatives(rows) {
  const out = new Map();
  /**
   * @param {number} a
   * @param {number} b
   */
  const add = (a, b) => {
    for (const [one, other] of [
      [a, b],
      [b, a],
    ])
      out.set(one, [...(out.get(one) ?? []), other]);
  };
  const open = [];
  rows.forEach((row, at) => {
    // The line that ends the block of an `if` begins the block of its `else`.
    if (row.end > at && rows[row.end].kind === BRANCH) add(at, row.end);
    while (open.length && open.at(-1).end < at) open.pop();
    const parent = open.at(-1);
    if (row.kind === BRANCH && row.end > at && parent && !out.has(at)) {
      for (const other of parent.clauses) add(other, at);
      parent.clauses.push(at);
    }
    if (row.end > at && row.kind !== BRANCH && rows[row.end].kind !== BRANCH)
      open.push({ end: row.end, clauses: [] });
  });
  return out;
}

/**
 * The rows of the blocks that a frame passed by, given the blocks that it took.
 * @param {Row[]} rows
 */
export function skippedRows(rows, others, taken) {
  const out = new Set();
  for (const block of taken) {
    for (const other of others.get(block) ?? []) {
      if (taken.includes(other)) continue;
      // The line of an `if` was evaluated whichever way it went on; a pattern, or an `else`, was not.
      for (let row = rows[other].kind === BRANCH ? other : other + 1; row < rows[other].end; row++)
        out.add(row);
    }
  }
  return out;
}

/**
 * A value as a button: its identity and its text. `select(object)` is called with objects only.
 * @param {EvaluationExplorer} explorer
 */
export function valueChip(explorer, value, { fresh = false, note = "", tabbable = true } = {}) {
  const { run, view } = explorer;
  const object = isObject(value);
  const said = run.say(value, explorer.step);
  if (!object)
    return h(
      "span",
      { class: `val plain${fresh ? " fresh" : ""}`, title: `${said}${note && `\n${note}`}` },
      h("span", null, said),
    );
  const kind = KINDS[view.objects[value].kind];
  // Of a tensor its elements, or what is said of them: the program has its shape already.
  const elements = view.objects[value].kind === KIND.tensor ? view.objects[value].text : "";
  const all = elements ? `${said} ${elements}` : said;
  const gone = run.consumed(value, explorer.step);
  return h(
    "button",
    {
      class: `val k-${kind.id}${fresh ? " fresh" : ""}${gone ? " gone" : ""}`,
      type: "button",
      "data-object": value,
      tabindex: tabbable ? 0 : -1,
      title: `${kind.word} #${value}\n${all}${gone ? "\nno longer needed" : ""}${note && `\n${note}`}`,
      // The name begins with what is seen, so that it can also be said to a voice control.
      "aria-label": `#${value} ${elements ? `${elements}, ${said}` : said}, ${kind.word}${gone ? ", no longer needed" : ""}${note && `, ${note}`}`,
    },
    h("span", { class: "id" }, `#${value} `),
    h("span", { class: elements ? "numbers" : "" }, elements || said),
  );
}

/**
 * What stands beside the rows: `face(row)` says it, `changed()` lists the rows whose face is not the drawn one.
 * @param {EvaluationExplorer} explorer
 */
export function createValues(explorer) {
  const { view, run } = explorer;
  const rows = view.rows;
  const namesOn = rows.map(() => []);
  view.names.forEach(({ row }, name) => {
    if (row >= 0) namesOn[row].push(name);
  });
  const others = alternatives(rows);
  const drawn = new Map();
  let memo = { key: "", waiting: null, skipped: null, live: null };

  /** What the rows have in common at a step: who waits where, which branches were passed by. */
  function context() {
    const { step, frame } = explorer;
    const key = `${step} ${frame}`;
    if (memo.key === key) return memo;
    const stack = run.stack(step);
    const waiting = new Map();
    for (const at of stack) {
      const { caller, call_row: row } = view.frames[at];
      if (caller === frame && row >= 0) waiting.set(row, at);
    }
    memo = {
      key,
      waiting,
      live: [...stack].reverse(),
      skipped: frame >= 0 ? skippedRows(rows, others, run.blockOf(frame, step)) : new Set(),
    };
    return memo;
  }

  /**
   * The frame that the row's value is taken from: the shown one, else the innermost of another function.
   * @param {number} row
   */
  function owner(row) {
    const { frame, step } = explorer;
    /** @param {number} f */
    const range = (f) => `${view.frames[f]?.first} ${view.frames[f]?.last}`;
    /** @param {number} f */
    const has = (f) => namesOn[row].some((name) => run.value(f, name, step) !== undefined);
    if (frame >= 0 && has(frame)) return frame;
    return context().live.find((f) => range(f) !== range(frame) && has(f)) ?? -1;
  }

  /** @param {number} row */
  function face(row) {
    const { frame, step } = explorer;
    const { waiting, skipped } = context();
    const from = owner(row);
    if (from >= 0) {
      const name = namesOn[row].findLast((n) => run.value(from, n, step) !== undefined);
      const fresh = run.events[step]?.names.some((n) => n.frame === from && n.name === name) ?? false;
      const value = run.value(from, name, step);
      return {
        kind: "value",
        value,
        own: from === frame,
        from,
        fresh,
        gone: isObject(value) && run.consumed(value, step),
        said: run.say(value, step),
      };
    }
    if (waiting.has(row)) return { kind: "waits", for: waiting.get(row) };
    return { kind: skipped.has(row) ? "skipped" : "none" };
  }

  const sign = (f) => `${f.kind} ${f.value} ${f.own} ${f.from} ${f.fresh} ${f.gone} ${f.for} ${f.said}`;

  /** @param {number} row */
  function draw(row, cell) {
    const now = face(row);
    drawn.set(row, sign(now));
    const tabbable = row === explorer.rows?.selected;
    if (now.kind === "value") {
      const where = now.own ? "" : `in ${run.frameName(now.from)}`;
      fill(cell, valueChip(explorer, now.value, { fresh: now.fresh, note: where, tabbable }));
    } else if (now.kind === "waits") {
      const name = run.frameName(now.for);
      fill(
        cell,
        h(
          "button",
          {
            class: "val waits",
            type: "button",
            "data-frame": now.for,
            tabindex: tabbable ? 0 : -1,
            title: `waits for ${name}: show that frame`,
          },
          h("span", null, `… waits for ${name}`),
        ),
      );
    } else fill(cell);
    set(cell, "data-own", now.kind === "value" && !now.own ? "no" : null);
  }

  return {
    column: {
      id: "value",
      title: "value at this line",
      width: "minmax(44%, 1fr)",
      /** @param {number} row */
      lines: (row) => (namesOn[row].length && rows[row].kind !== TYPE ? 1 : 0),
      draw,
    },
    /** The rows whose cells must be drawn again. */
    changed: () => [...drawn.keys()].filter((row) => drawn.get(row) !== sign(face(row))),
    skipped: () => context().skipped,
  };
}
