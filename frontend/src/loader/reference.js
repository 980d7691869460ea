// The script of an output that uses the bundle of another one. If no output brings the bundle, the picture that is shown
// instead is given a note that says what to do.

const WAIT_MS = 4000;
const NOTE =
  "The explorer is not interactive yet. The script that draws it is stored with another explorer of this notebook, " +
  "which may have been deleted, or which is not on the page yet: scroll to it, or run this cell again.";

function note() {
  if (globalThis.relayExplorer) return;
  for (const host of document.querySelectorAll(".relay-explorer:not([data-rx])")) {
    if (host.querySelector("[role=note]")) continue;
    const text = document.createElement("p");
    text.setAttribute("role", "note");
    text.textContent = NOTE;
    host.prepend(text);
  }
}

if (globalThis.relayExplorer) globalThis.relayExplorer.mountAll();
else setTimeout(note, WAIT_MS);
