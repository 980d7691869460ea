// Every stylesheet of the bundle, given once to each shadow root and parsed once for all of them.
import contrast from "./contrast.css";
import fit from "./fit.css";
import frame from "./frame.css";
import print from "./print.css";
import rows from "./rows.css";
import theme from "./theme.css";
import timeline from "./timeline.css";
import { unmixed } from "./unmixed.js";

const sheets = [theme, frame, fit, timeline, rows];
/** @type {CSSStyleSheet | null} */
let shared = null;

/**
 * Adds the styles of a view; called when its module loads.
 * @param {string} css
 */
export function addStyle(css) {
  sheets.push(css);
  shared = null;
}

/** @param {ShadowRoot} shadow */
export function styleRoot(shadow) {
  let css = [...sheets, contrast, print].join("\n");
  if (window.CSS && !CSS.supports("color", "color-mix(in srgb, red, blue)")) css = unmixed(css);
  if ("adoptedStyleSheets" in shadow && typeof CSSStyleSheet === "function") {
    if (!shared) {
      shared = new CSSStyleSheet();
      shared.replaceSync(css);
    }
    shadow.adoptedStyleSheets = [shared];
  } else {
    const node = document.createElement("style");
    node.textContent = css;
    shadow.append(node);
  }
}
