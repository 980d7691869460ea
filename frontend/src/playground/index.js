// The script of the playground's page. Until it runs, the page says what is missing; see book/playground.md.
import contrast from "../core/contrast.css";
import { h } from "../core/dom.js";
import theme from "../core/theme.css";
import { watchTheme } from "../core/theme.js";
import { unmixed } from "../core/unmixed.js";
import { Playground } from "./page.js";
import style from "./style.css";
/** @import { Description } from "./types.js" */

/** @param {HTMLElement} host */
function mount(host) {
  const { relayPlaygroundDescription: description } =
    /** @type {{ relayPlaygroundDescription?: Description }} */ (/** @type {unknown} */ (window));
  if (!description || host.shadowRoot) return;
  const shadow = host.attachShadow({ mode: "open" });
  const css = [theme, style, contrast].join("\n");
  const sheet = document.createElement("style");
  sheet.textContent = CSS.supports("color", "color-mix(in srgb, red, blue)") ? css : unmixed(css);
  const root = h("div", { class: "rx pg" });
  shadow.append(sheet, root);
  watchTheme((name) => (root.dataset.theme = name));
  const playground = new Playground(root, shadow, description, host.dataset.files ?? "");
  playground.open();
}

for (const host of document.querySelectorAll(".relay-playground")) mount(host);
