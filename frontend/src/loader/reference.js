// The script of an output that uses the bundle of another one. If no output brings the bundle, the picture that is shown
// instead is given a note that says what to do.
import { annotate } from "./note.js";

const WAIT_MS = 4000;

function note() {
  if (globalThis.relayExplorer) return;
  for (const host of document.querySelectorAll(".relay-explorer:not([data-rx])")) annotate(host);
}

if (globalThis.relayExplorer) globalThis.relayExplorer.mountAll();
else setTimeout(note, WAIT_MS);
