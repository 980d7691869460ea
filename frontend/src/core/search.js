// The explorer's own search: the page's cannot see rows that are not in it.
import { h } from "./dom.js";
/** @import { Child, Query, Scope } from "./types.js" */

/**
 * `scopes` is a list of `{ id, label }`; `onChange({ query, scope, only })` returns the number of hits;
 * `onMove(by)` goes to the next or the last one. Returns `{ el, input, set(state), state(), close() }`.
 * @param {{ scopes: readonly Scope[], onChange: (query: Query) => number, onMove: (by: number) => unknown, extra?: Child[], onlyLabel?: string, placeholder?: string }} options
 */
export function createSearch({
  scopes,
  onChange,
  onMove,
  extra = [],
  onlyLabel = "only these rows",
  placeholder = "find",
}) {
  const input = h("input", {
    type: "search",
    placeholder,
    "aria-label": "find in the program",
    autocomplete: "off",
    spellcheck: "false",
  });
  const scope = h(
    "select",
    { "aria-label": "where to search" },
    scopes.map((item) => h("option", { value: item.id }, item.label)),
  );
  const only = h("input", { type: "checkbox" });
  const hits = h("span", { class: "hits", role: "status" });
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
  const el = h(
    "div",
    { class: "find", role: "search", hidden: true },
    input,
    scope,
    extra,
    h("span", { class: "group" }, previous, next),
    h("label", null, only, onlyLabel),
    hits,
  );

  const state = () => ({ query: input.value.trim(), scope: scope.value, only: only.checked });
  function run() {
    const now = state();
    const count = onChange(now);
    hits.textContent = now.query ? (count === 1 ? "1 match" : `${count} matches`) : "";
    previous.disabled = next.disabled = !count;
  }
  input.addEventListener("input", run);
  for (const control of [scope, only]) control.addEventListener("change", run);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    onMove(event.shiftKey ? -1 : 1);
    event.preventDefault();
    event.stopPropagation();
  });

  return {
    el,
    input,
    state,
    run,
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
      run();
      return true;
    },
    /** @param {{ query?: string, scope?: string, only?: boolean }} state */
    set({ query = "", scope: where, only: narrow = false }) {
      input.value = query;
      if (where && scopes.some((item) => item.id === where)) scope.value = where;
      only.checked = narrow;
      if (query || narrow) el.hidden = false;
      run();
    },
  };
}
