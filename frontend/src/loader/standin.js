// The script of an output that stands in for a live explorer. It stays hidden while the page draws the live one. In a
// notebook that is opened again without its kernel, JupyterLab shows an error in place of the widget: the explorer of this
// output is drawn then, and the error is hidden.
import { annotate } from "./note.js";

const WAIT_MS = 5000;
const LOOK_MS = 250;
/** After this, the error may stay. */
const GIVE_UP_MS = 120_000;
const NOTE =
  "No kernel is connected to this explorer, so what you do in it does not reach Python. Run its cell again to connect it.";
/** What JupyterLab says in place of a widget that it does not have. */
const FAILED = /^\s*Error displaying widget/;

/**
 * @param {Element} host the output's element
 * @returns {HTMLElement | undefined}
 */
function failure(host) {
  /** @type {HTMLElement[]} */
  const outputs = [...(host.closest(".jp-OutputArea")?.querySelectorAll(".jp-OutputArea-output") ?? [])].map(
    (output) => /** @type {any} */ (output),
  );
  return outputs.find((output) => FAILED.test(output.textContent ?? ""));
}

/** @param {HTMLElement} host */
function watch(host) {
  const name = host.id.slice("rx-".length);
  const isLive = () =>
    [...document.querySelectorAll("[data-rx-live]")].some(
      (other) => other.getAttribute("data-rx-live") === name,
    );
  const note = document.createElement("p");
  note.setAttribute("role", "note");
  note.textContent = NOTE;
  /** @type {HTMLElement | undefined} */
  let error;
  let waited = 0;

  function draw() {
    host.hidden = false;
    host.classList.add("relay-explorer");
    host.before(note);
    globalThis.relayExplorer?.mountAll();
    if (!globalThis.relayExplorer) annotate(host);
  }
  function hide() {
    host.hidden = true;
    note.remove();
    if (error) error.style.display = ""; // the live explorer is drawn in its place
  }

  host.dataset.rxWatched = "";
  hide();
  const timer = setInterval(() => {
    if (!host.isConnected) return; // JupyterLab removes cells that are out of sight from the page
    waited += LOOK_MS;
    error = failure(host);
    if (isLive() || error || waited > GIVE_UP_MS) clearInterval(timer);
    if (isLive()) return;
    if (error) error.style.display = "none";
    if (host.hidden && (error || waited >= WAIT_MS)) draw();
  }, LOOK_MS);
  window.addEventListener("relay-explorer-live", () => {
    if (isLive()) hide();
  });
}

for (const host of document.querySelectorAll(".relay-explorer-standin:not([data-rx-watched])"))
  watch(/** @type {HTMLElement} */ (host));
