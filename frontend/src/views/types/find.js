// Finding and filtering: an operator, a variable, a type; one function; only the rows that match.
import { Finder } from "../../core/finder.js";
import { h } from "../../core/dom.js";
import { integer } from "../../core/links.js";
import { scopesOf } from "./filter.js";
/** @import { TypesExplorer } from "./view.js" */
/** @import { Condition } from "../../core/query.js" */
/** @import { Query, State } from "../../core/types.js" */

/** The search of a TypesExplorer: `fn` is the chosen function, or -1. */
class TypesFinder extends Finder {
  /** @param {TypesExplorer} explorer */
  constructor(explorer) {
    const { functions } = explorer.view;
    const pick = h(
      "select",
      { "aria-label": "function", hidden: functions.length < 2 },
      h("option", { value: -1 }, "every function"),
      functions.map(({ name }, i) => h("option", { value: i }, name)),
    );
    const { scopes, typesAt } = scopesOf(explorer.view, explorer.varsOn, explorer.relsOn, explorer.final);
    super(explorer, {
      scopes,
      extra: [pick],
      placeholder: "find an operator, a variable, a type",
      many: 60,
    });
    this.fn = -1;
    this.types = typesAt;
    this.chooser = pick;
    pick.addEventListener("change", () => {
      this.fn = Number(pick.value);
      this.search.run();
    });
  }

  /**
   * Whether a row is in the chosen function.
   * @param {number} row
   */
  inside(row) {
    const span = this.explorer.view.functions[this.fn];
    return !span || (row >= span.first && row <= span.last);
  }

  /** @param {number} row */
  typesAt(row) {
    return this.types(row);
  }

  /**
   * @param {readonly Condition[]} conditions
   * @param {string} scope
   */
  match(conditions, scope) {
    const { hits, problem } = super.match(conditions, scope);
    return { hits: hits.filter(({ line }) => this.inside(line)), problem };
  }

  /** @param {Query} query */
  show(query) {
    if (this.fn >= 0) this.keep ??= (row) => this.inside(row);
    super.show(query);
  }

  /** @param {State} state */
  restore(state) {
    const fn = integer(state.fn, -1);
    this.fn = this.explorer.view.functions[fn] ? fn : -1;
    this.chooser.value = String(this.fn);
    super.restore(state);
  }
}

/** @param {TypesExplorer} explorer */
export const createFinder = (explorer) => new TypesFinder(explorer);
