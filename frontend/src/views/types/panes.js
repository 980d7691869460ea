// The panes beside the rows: why, the constraint graph, the union-find classes.
import { link } from "../../core/curve.js";
import { fill, h, s } from "../../core/dom.js";
import { glyph } from "../../core/glyphs.js";
import { sentence } from "../../core/sentence.js";
import { UNSEEN, becauseChain, classes } from "./state.js";
import { KNOWN, MARKS, STATUS } from "./marks.js";
import { variableFace } from "./chips.js";
/** @import { TypesView } from "../../generated/types.js" */

const EVERYTHING = 34;
const NEAR = 16;
const GAP = 25;
const LONGEST = 40;
const CHARACTER = 7.3; // the advance of the monospaced text in the graph, in pixels

/**
 * A step as an entry of a list: its mark, number and sentence; clicking goes there.
 * @param {TypesView} view
 * @param {number} step
 * @param {string[]} say
 */
export function stepEntry(view, step, say, go, note = "") {
  const mark = MARKS[view.steps[step]?.mark] ?? MARKS[0];
  return h(
    "button",
    { class: "entry", type: "button", "data-step": step, onclick: () => go(step) },
    glyph(mark),
    h("span", { class: "at" }, String(step + 1)),
    h("span", { class: "sentence" }, sentence(say)),
    note && h("span", { class: "note" }, note),
  );
}

/**
 * The answer to the question: why a variable is known, what happened to a relation, else why this step could happen.
 * @param {TypesView} view
 * @param {HTMLDivElement} pane
 */
export function drawWhy(view, pane, told) {
  if (told.question.rel >= 0) drawRelationStory(view, pane, told);
  else drawCauses(view, pane, told);
}

/**
 * @param {TypesView} view
 * @param {HTMLDivElement} pane
 */
function drawRelationStory(view, pane, { step, question: { rel }, state, stepsOf, go }) {
  const status = STATUS[state.rel[rel]];
  const steps = stepsOf[rel];
  fill(
    pane,
    h("p", { class: "ask" }, "What happened to ", h("code", null, view.relations[rel].label), "?"),
    h("p", { class: "soft" }, status ? `After this step: ${status.word}.` : "It does not exist yet."),
    h(
      "ol",
      { class: "chain" },
      steps
        .slice(0, LONGEST)
        .map((at) =>
          h("li", { class: at === step ? "here" : "" }, stepEntry(view, at, view.steps[at].say, go)),
        ),
    ),
    steps.length > LONGEST && h("p", { class: "soft" }, `and ${steps.length - LONGEST} more steps`),
  );
}

/**
 * The chain of causes, latest first.
 * @param {TypesView} view
 * @param {HTMLDivElement} pane
 */
function drawCauses(view, pane, { step, question: { v }, state, since, go }) {
  const face = v >= 0 ? variableFace(view, state, v) : null;
  const from = v >= 0 && since[v] >= 0 ? since[v] : step;
  const head = [];
  if (face && since[v] >= 0)
    head.push(
      h(
        "p",
        { class: "ask" },
        "Why is ",
        h("code", null, face.name),
        from > step ? " known later? From step " : " known? Since step ",
        String(from + 1),
        from > step ? ` on; you are at step ${step + 1}:` : ":",
      ),
    );
  else if (face)
    head.push(
      h("p", { class: "ask" }, h("code", null, face.name), " never becomes known. What happened here:"),
    );
  else head.push(h("p", { class: "ask" }, "What does this step depend on?"));
  if (face)
    head.push(
      h("p", { class: "soft" }, face.full && [h("code", null, face.full), ", "], `the type of ${face.what}`),
    );
  const { chain, more } = becauseChain(view, from, LONGEST);
  const ordered = [...chain].sort((a, b) => b.step - a.step);
  const notes = ["", "direct cause"];
  const list = h(
    "ol",
    { class: "chain" },
    ordered.map(({ step: at, depth }) =>
      h(
        "li",
        { class: at === step ? "here" : "" },
        stepEntry(view, at, view.steps[at].say, go, notes[depth] ?? ""),
      ),
    ),
  );
  if (chain.length === 1) head.push(h("p", { class: "soft" }, "It depends only on the program."));
  fill(pane, head, list, more > 0 && h("p", { class: "soft" }, `and ${more} earlier steps`));
}

/**
 * The relations and variables to draw: everything when small, else what the current step touches.
 * @param {TypesView} view
 */
export function neighbourhood(view, state, focus, relsOf, window = []) {
  if (view.variables.length <= EVERYTHING) {
    const rels = view.relations.map((_, rel) => rel).filter((rel) => state.rel[rel] !== UNSEEN);
    if (rels.length + view.variables.length <= EVERYTHING) return { rels, cut: false };
  }
  const near = new Set(focus.rels);
  // A step that touches nothing, such as the last, shows what the rows on the screen have.
  if (!focus.rels.size && !focus.vars.size)
    for (let rel = 0; rel < view.relations.length && near.size < NEAR; rel++)
      if (state.rel[rel] !== UNSEEN && window.includes(view.relations[rel].row)) near.add(rel);
  for (const v of focus.vars) for (const rel of relsOf[v] ?? []) if (state.rel[rel] !== UNSEEN) near.add(rel);
  for (const rel of [...near])
    for (const v of view.relations[rel].variables)
      for (const other of relsOf[v] ?? []) {
        if (near.size < NEAR && state.rel[other] !== UNSEEN) near.add(other);
      }
  return { rels: [...near].slice(0, NEAR).sort((a, b) => a - b), cut: true };
}

/**
 * In a large program the weights would crowd out what is being inferred.
 * @param {TypesView} view
 */
const isParameter = (view, v) => view.rows[view.variables[v].row]?.kind === 2;

/**
 * @param {TypesView} view
 * @param {boolean} everything
 */
function classNodes(view, state, rels, everything, focus) {
  const leads = new Map();
  const wanted = new Set(rels.flatMap((rel) => view.relations[rel].variables).map((v) => state.lead[v]));
  state.lead.forEach((lead, v) => {
    if (!state.seen[v] || !(everything || (wanted.has(lead) && (focus.vars.has(v) || !isParameter(view, v)))))
      return;
    if (!leads.has(lead)) leads.set(lead, []);
    leads.get(lead).push(v);
  });
  return [...leads].map(([lead, members]) => ({
    lead,
    members: [lead, ...members.filter((v) => v !== lead)],
  }));
}

/**
 * Variables left (one node a class), relations right, an edge where a relation mentions a variable.
 * @param {TypesView} view
 * @param {HTMLDivElement} pane
 */
export function drawConstraints(view, pane, { state, focus, relsOf, window, onVar, onRel, width: room }) {
  const { rels, cut } = neighbourhood(view, state, focus, relsOf, window);
  const left = classNodes(view, state, rels, !cut, focus);
  const width = Math.max(280, Math.min(560, (room || pane.clientWidth || 344) - 24));
  const rows = Math.max(left.length, rels.length, 1);
  const [leftWidth, rightWidth] = [width * 0.42, width * 0.46];
  /**
   * @param {number} count
   * @param {number} i
   */
  const spread = (count, i) => 14 + (rows - count) * GAP * 0.5 + i * GAP;
  const yLeft = new Map(left.flatMap((node, i) => node.members.map((v) => [v, spread(left.length, i)])));
  const svg = s("svg", {
    class: "bipartite",
    width,
    height: rows * GAP + 8,
    viewBox: `0 0 ${width} ${rows * GAP + 8}`,
    role: "group",
    "aria-label": "constraint graph",
  });
  rels.forEach((rel, i) => {
    for (const v of new Set(view.relations[rel].variables)) {
      if (!yLeft.has(v)) continue;
      svg.append(
        s("path", {
          class: `wire ${focus.rels.has(rel) ? "hot" : ""}`,
          d: link(leftWidth, yLeft.get(v), width - rightWidth, spread(rels.length, i)),
        }),
      );
    }
  });
  left.forEach(({ lead, members }, i) => {
    const face = variableFace(view, state, lead);
    const names = members.map((v) => view.variables[v].name).join(" ");
    const label = face.short ? `${names} : ${face.short}` : names;
    // The type stands beside the program's rows, too: a name alone says more here than the start of a type.
    const short = fits(label, leftWidth) ? label : names;
    svg.append(
      node(
        0,
        spread(left.length, i),
        leftWidth,
        11,
        `var ${KNOWN[face.known].id}${members.some((v) => focus.vars.has(v)) ? " fresh" : ""}`,
        short,
        label,
        `${label}, ${KNOWN[face.known].word}`,
        () => onVar(lead),
      ),
    );
  });
  rels.forEach((rel, i) => {
    const status = STATUS[state.rel[rel]] ?? STATUS[0];
    const name = view.relations[rel].name;
    svg.append(
      node(
        width - rightWidth,
        spread(rels.length, i),
        rightWidth,
        3,
        `rel ${status.id}${focus.rels.has(rel) ? " fresh" : ""}`,
        `${status.sign} ${name}`,
        view.relations[rel].label,
        `${name}, relation, ${status.word}`,
        () => onRel(rel),
      ),
    );
  });
  fill(
    pane,
    h(
      "p",
      { class: "soft" },
      cut
        ? "The part that this step concerns: variables on the left, relations on the right, without parameters."
        : "Type variables (left, one node for each class) and the relations that mention them.",
    ),
    svg,
  );
}

/**
 * Whether a label fits into a node of this width.
 * @param {string} label
 * @param {number} width
 */
const fits = (label, width) => 9 + label.length * CHARACTER <= width - 6;

/**
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} radius
 * @param {string} name
 * @param {string} label what is written
 * @param {string} title
 * @param {string} spoken
 */
function node(x, y, width, radius, name, label, title, spoken, run) {
  const press = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    run();
  };
  const cut = !fits(label, width);
  return s(
    "g",
    {
      class: `node ${name}`,
      transform: `translate(${x} ${y})`,
      tabindex: 0,
      role: "button",
      "aria-label": spoken,
      onclick: run,
      onkeydown: press,
    },
    s("title", null, title),
    s("rect", { x: 1, y: -11, width: width - 2, height: 22, rx: radius }), // What does not fit is cut by the inner frame, not in the text, which stays the whole name.
    s("svg", { x: 0, y: -11, width: width - (cut ? 18 : 6), height: 22 }, s("text", { x: 9, y: 15 }, label)),
    cut && s("text", { x: width - 17, y: 4, "aria-hidden": "true" }, "…"),
  );
}

/**
 * Each tree of the union-find forest: the representative on top, what joined it below.
 * @param {TypesView} view
 * @param {HTMLDivElement} pane
 */
export function drawClasses(view, pane, { state, focus, onVar }) {
  const groups = classes(state).sort(
    (a, b) => Number(b.some((v) => focus.vars.has(v))) - Number(a.some((v) => focus.vars.has(v))),
  );
  const trees = groups.slice(0, 24).map((members) => {
    const face = variableFace(view, state, members[0]);
    const limited = members.slice(0, 60);
    const tree = h(
      "div",
      { class: `tree ${KNOWN[face.known].id}` },
      branch(view, state, members[0], new Set(limited), focus, onVar),
    );
    return h(
      "figure",
      { class: "class" },
      h(
        "figcaption",
        null,
        h("span", { class: "mono" }, face.short || KNOWN[face.known].word),
        ` · ${members.length} variables`,
      ),
      tree,
    );
  });
  const told = groups.length
    ? "One tree for each equivalence class: its root represents all members, so each type is stored once."
    : "Every variable is still alone in its class.";
  fill(
    pane,
    h("p", { class: "soft" }, told),
    h("div", { class: "forest" }, trees),
    groups.length > 24 && h("p", { class: "soft" }, `and ${groups.length - 24} more classes`),
  );
}

/** @param {TypesView} view */
function branch(view, state, v, allowed, focus, onVar) {
  const below = [...allowed].filter((child) => child !== v && state.parent[child] === v);
  const name = view.variables[v].name;
  return h(
    "div",
    { class: "branch" },
    h(
      "button",
      { class: `leaf${focus.vars.has(v) ? " fresh" : ""}`, type: "button", onclick: () => onVar(v) },
      name,
    ),
    below.length > 0 &&
      h(
        "div",
        { class: "below" },
        below.map((child) => branch(view, state, child, allowed, focus, onVar)),
      ),
  );
}
