// Which theme the page shows. Pages say it in different ways; the system's preference comes last.

const MARKS = [
  "data-theme",
  "data-jp-theme-light",
  "data-bs-theme",
  "data-vscode-theme-kind",
  "theme",
  "class",
];

/** @param {Element} node */
function declared(node) {
  const get = (/** @type {string} */ name) => node.getAttribute(name)?.toLowerCase() ?? "";
  if (node.hasAttribute("data-jp-theme-light"))
    return get("data-jp-theme-light") === "false" ? "dark" : "light";
  for (const name of ["data-theme", "data-bs-theme", "data-vscode-theme-kind", "theme"]) {
    const value = get(name);
    if (/dark|high-contrast$/.test(value)) return "dark";
    if (/light/.test(value)) return "light";
  }
  if (/(^|\s)(vscode-dark|vscode-high-contrast|dark|dark-theme)(\s|$)/.test(get("class"))) return "dark";
  if (/(^|\s)(vscode-light|light|light-theme)(\s|$)/.test(get("class"))) return "light";
  return null;
}

/** "light" or "dark": what the page declares on `html` or `body`, else what the system prefers. */
export function currentTheme(doc = document, win = window) {
  const told = [doc.body, doc.documentElement]
    .filter(Boolean)
    .map(declared)
    .find((theme) => theme !== null);
  return told ?? (win.matchMedia?.("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

/**
 * Calls `apply(theme)` now and after every change; returns the function that stops it.
 * @param {(theme: string) => void} apply
 */
export function watchTheme(apply) {
  /** @type {string | null} */
  let last = null;
  const look = () => {
    const theme = currentTheme();
    if (theme !== last) apply((last = theme));
  };
  const observer = new MutationObserver(look);
  for (const node of [document.documentElement, document.body]) {
    if (node) observer.observe(node, { attributes: true, attributeFilter: MARKS });
  }
  const media = window.matchMedia?.("(prefers-color-scheme: dark)");
  media?.addEventListener("change", look);
  look();
  return () => {
    observer.disconnect();
    media?.removeEventListener("change", look);
  };
}

/** Whether the reader asked for less motion. */
export const reducedMotion = () => window.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? false;
