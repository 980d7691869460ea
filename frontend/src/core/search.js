// The explorer's own search: the page's cannot see rows that are not in it. A box, where it looks, and a list of what it found.
import { h, fill, text, uid } from "./dom.js";
import { searchHelp } from "./searchhelp.js";
/** @import { Child, Hits, Listed, Query, Scope } from "./types.js" */

const MOST_LISTED = 500;

/**
 * `scopes` is a list of `{ id, label }`; `onChange({ query, scope, only })` returns what was found; `onMove(by)` goes to
 * the next hit or the last one, `onPick(index)` to one of `list()`. `fields` are what can stand before a colon.
 * @param {{ scopes: readonly Scope[], fields: readonly string[], onChange: (query: Query) => Hits, onMove: (by: number) => unknown, onPick: (index: number) => unknown, list: () => Listed, extra?: Child[], onlyLabel?: string, narrows?: boolean, placeholder?: string }} options
 */
export function createSearch({
  scopes,
  fields,
  onChange,
  onMove,
  onPick,
  list,
  extra = [],
  onlyLabel = "only these rows",
  narrows = true,
  placeholder = "find",
}) {
  const ids = { list: uid("hits"), help: uid("help") };
  const input = h("input", {
    type: "search",
    placeholder,
    "aria-label": "find in the program",
    "aria-controls": ids.list,
    autocomplete: "off",
    spellcheck: "false",
  });
  const scope = h(
    "select",
    { "aria-label": "where to search", hidden: scopes.length < 2 },
    scopes.map((item) => h("option", { value: item.id }, item.label)),
  );
  const only = h("input", { type: "checkbox" });
  const hits = h("button", {
    class: "hits",
    type: "button",
    "aria-expanded": false,
    "aria-controls": ids.list,
    title: "list what was found (↓)",
    hidden: true,
    onclick: () => expand(Boolean(entries.hidden)),
  });
  const heard = h("span", { class: "sr", role: "status" });
  const previous = h(
    "button",
    { class: "btn", type: "button", "aria-label": "previous match", onclick: () => onMove(-1) },
    "↑",
  );
  const next = h(
    "button",
    { class: "btn", type: "button", "aria-label": "next match", onclick: () => onMove(1) },
    "↓",
  );
  const about = h(
    "button",
    {
      class: "btn",
      type: "button",
      "aria-label": "how to search",
      title: "how to search",
      "aria-expanded": false,
      "aria-controls": ids.help,
      onclick: () => explain(Boolean(help.hidden)),
    },
    "?",
  );
  const problem = h("p", { class: "find-problem", role: "alert", hidden: true });
  const entries = h("div", {
    class: "hit-list",
    id: ids.list,
    role: "listbox",
    tabindex: 0,
    "aria-label": "what was found",
    hidden: true,
  });
  const help = h("div", { class: "find-help", id: ids.help, role: "note", hidden: true });
  const el = h(
    "div",
    { class: "find", role: "search", hidden: true },
    input,
    scope,
    extra,
    h("span", { class: "group" }, previous, next),
    hits,
    heard,
    narrows && h("label", null, only, onlyLabel),
    about,
    problem,
    entries,
    help,
  );
  let count = 0;
  let listed = false; // whether `entries` holds what was found last

  const state = () => ({ query: input.value.trim(), scope: scope.value, only: only.checked });
  function run() {
    const now = state();
    const result = onChange(now);
    count = result.count;
    text(problem, now.query ? result.problem : "");
    problem.hidden = problem.textContent === "";
    previous.disabled = next.disabled = !count;
    listed = false;
    tell(-1);
    text(heard, hits.hidden ? "" : hits.textContent);
    if (!count) expand(false);
    else if (!entries.hidden) draw();
  }

  /**
   * Tells how many hits there are, and which of them is shown.
   * @param {number} at
   */
  function tell(at) {
    hits.hidden = input.value.trim() === "" || !problem.hidden;
    const total = count.toLocaleString("en");
    text(
      hits,
      at >= 0 ? `${(at + 1).toLocaleString("en")} of ${total}` : count === 1 ? "1 match" : `${total} matches`,
    );
    hits.disabled = !count;
    if (!listed) return;
    for (const entry of entries.querySelectorAll("[role=option]"))
      entry.setAttribute(
        "aria-selected",
        String(/** @type {HTMLElement} */ (entry).dataset.hit === String(at)),
      );
    const chosen = /** @type {HTMLElement | null} */ (entries.querySelector('[aria-selected="true"]'));
    if (chosen) {
      entries.setAttribute("aria-activedescendant", chosen.id);
      // Only the list scrolls, not the page around it.
      const top = chosen.offsetTop - entries.offsetTop;
      if (top < entries.scrollTop || top + chosen.offsetHeight > entries.scrollTop + entries.clientHeight)
        entries.scrollTop = top - entries.clientHeight / 2;
    } else entries.removeAttribute("aria-activedescendant");
  }

  /** Draws the list, with a heading for each way of answering. */
  function draw() {
    const { entries: found, at, weaker } = list();
    listed = true;
    let group = "";
    /** @type {Child[]} */
    const nodes = [];
    found.slice(0, MOST_LISTED).forEach((entry, index) => {
      if (entry.group !== group) {
        group = entry.group;
        const size = found.filter((other) => other.group === group).length;
        nodes.push(
          h("div", { class: "hit-group", role: "presentation" }, group, " ", h("span", null, String(size))),
        );
      }
      nodes.push(
        h(
          "div",
          {
            class: "hit",
            role: "option",
            id: `${ids.list}-${index}`,
            "data-hit": index,
            "aria-selected": false,
            onclick: () => onPick(index),
          },
          h("span", { class: "hit-number" }, entry.number),
          h("code", null, entry.text),
        ),
      );
    });
    if (found.length > MOST_LISTED)
      nodes.push(
        h(
          "div",
          { class: "hit-group", role: "presentation" },
          `and ${(found.length - MOST_LISTED).toLocaleString("en")} more`,
        ),
      );
    fill(entries, nodes);
    if (weaker && /^[\w.]+$/.test(state().query))
      entries.append(
        h(
          "div",
          { class: "hit-group", role: "presentation" },
          `${weaker.toLocaleString("en")} more have these letters inside other words: search for *${state().query}*`,
        ),
      );
    tell(at);
  }

  /** @param {boolean} open */
  function expand(open) {
    if (open && !listed) draw();
    entries.hidden = !open;
    hits.setAttribute("aria-expanded", String(open));
    if (open) explain(false);
  }

  /** @param {boolean} open */
  function explain(open) {
    if (open && !help.childNodes.length) help.append(searchHelp(fields));
    help.hidden = !open;
    about.setAttribute("aria-expanded", String(open));
    if (open) expand(false);
  }

  input.addEventListener("input", run);
  for (const control of [scope, only]) control.addEventListener("change", run);
  el.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !(entries.hidden && help.hidden)) {
      expand(false);
      explain(false);
      input.focus({ preventScroll: true });
    } else if (event.target !== input && event.target !== entries) return;
    else if (event.key === "Enter") onMove(event.shiftKey ? -1 : 1);
    else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && count) {
      const first = entries.hidden && event.key === "ArrowDown";
      expand(true);
      if (!first || list().at < 0) onMove(event.key === "ArrowDown" ? 1 : -1);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });

  return {
    el,
    input,
    state,
    run,
    tell,
    open() {
      el.hidden = false;
      input.focus({ preventScroll: true });
      input.select();
    },
    /** Empties and hides the search; false when there was nothing to close. */
    close() {
      if (el.hidden) return false;
      el.hidden = true;
      input.value = "";
      only.checked = false;
      explain(false);
      run();
      return true;
    },
    /** @param {{ query?: string, scope?: string, only?: boolean }} state */
    set({ query = "", scope: where, only: narrow = false }) {
      input.value = query;
      if (where && scopes.some((item) => item.id === where)) scope.value = where;
      only.checked = narrow && narrows;
      if (query || narrow) el.hidden = false;
      run();
    },
  };
}
