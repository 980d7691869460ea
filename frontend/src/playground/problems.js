// What is wrong with the program: each error with its places, which lead into the editor, and what to try.
import { fill, h } from "../core/dom.js";
/** @import { Place, Problem } from "./types.js" */

export class Problems {
  /**
   * @param {{ go(place: Place): void, view(name: string): void }} hooks
   */
  constructor({ go, view }) {
    this.go = go;
    this.view = view;
    this.el = h("div", { class: "problems", role: "status", "aria-label": "errors", tabindex: -1 });
  }

  /**
   * @param {Problem[]} problems
   * @param {string} [failed] the view that shows nothing because of them
   */
  show(problems, failed = "") {
    // An error of the types stops other views; the explorer of types shows its cause.
    const typed = problems.some(({ notes }) => notes.length) && failed && failed !== "types";
    fill(
      this.el,
      problems.map((problem) =>
        h(
          "div",
          { class: "problem" },
          h("p", { class: "message" }, this.at(problem.place), this.words(problem.message)),
          problem.notes.map(({ message, place }) =>
            h("p", { class: "note" }, this.at(place), this.words(message)),
          ),
          problem.help.map((text) => h("p", { class: "help" }, h("b", null, "Try: "), this.words(text))),
        ),
      ),
      typed &&
        h(
          "p",
          null,
          h(
            "button",
            { class: "link", type: "button", onclick: () => this.view("types") },
            "Watch the types disagree",
          ),
        ),
    );
  }

  /** Moves the focus to the first of them. */
  first() {
    const el = this.el.querySelector("button") ?? this.el;
    el.focus();
    el.scrollIntoView({ block: "nearest" });
  }

  /** @param {Place | null} place */
  at(place) {
    if (!place) return null;
    return [
      h("button", { class: "link", type: "button", onclick: () => this.go(place) }, `line ${place[0]}`),
      ": ",
    ];
  }

  /**
   * A message: what stands between backticks is code.
   * @param {string} message
   */
  words(message) {
    return message.split("`").map((part, i) => (i % 2 ? h("code", null, part) : part));
  }
}
