// The note on a static picture whose explorer could not be drawn.

const NOTE =
  "The explorer is not interactive yet. The script that draws it is stored with another explorer of this notebook, " +
  "which may have been deleted, or which is not on the page yet: scroll to it, or run this cell again.";

/**
 * @param {Element} host
 * @param {string} words
 */
export function annotate(host, words = NOTE) {
  if (host.querySelector("[role=note]")) return;
  const text = document.createElement("p");
  text.setAttribute("role", "note");
  text.textContent = words;
  host.prepend(text);
}
