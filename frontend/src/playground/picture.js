// The explorer of the answer. The last good one stays, greyed, while the text is wrong; a new one of the same view opens in the
// state in which the reader left the last.
import { h } from "../core/dom.js";

/** @typedef {{ token(): string, destroy(): void }} Mounted */

export class Picture {
  /** @type {Mounted | null} */
  mounted = null;
  kind = "";
  state = "";

  /** @param {{ onState(state: string): void, onWhy(): void }} hooks */
  constructor({ onState, onWhy }) {
    this.onState = onState;
    this.why = h("span", null);
    this.host = h("div", { class: "picture-host" });
    this.stale = h(
      "p",
      { class: "stale", hidden: true, role: "status" },
      this.why,
      " ",
      h("button", { class: "link", type: "button", onclick: onWhy }, "Show the reason"),
    );
    this.el = h("div", { class: "picture" }, this.stale, this.host);
  }

  /**
   * Draws a view; `state` is a token from a link, else the explorer keeps its own.
   * @param {any} view
   * @param {string} [state]
   */
  show(view, state) {
    const token = state ?? (view.view === this.kind ? this.state : "");
    this.mounted?.destroy();
    this.mounted = null;
    this.mounted = globalThis.relayExplorer?.mount(this.host, view, {
      name: "program",
      token,
      playground: null,
      onState: (/** @type {string} */ next) => {
        this.state = next;
        this.onState(next);
      },
    });
    this.kind = view.view;
    this.el.dataset.view = this.kind;
    this.state = token;
    this.outdated("");
  }

  /** @param {string} why the explorer is not that of the text; empty where it is */
  outdated(why) {
    this.why.textContent = why;
    this.stale.hidden = !why || !this.mounted;
    this.host.classList.toggle("is-stale", Boolean(why));
  }
}
