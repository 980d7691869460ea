// The page of the local server: it opens files, asks the server for their views, and shows them again when they change.
import { fill, h } from "../core/dom.js";
import { parseHash } from "../core/links.js";
import { dropped, upload } from "./upload.js";
/** @import { Dropped } from "./upload.js" */

/** @typedef {{ number: number, name: string, version: number, dropped: boolean, previous: boolean }} Document */
/** @typedef {{ name: string, label: string, example: string, type: "flag" | "lines" | "text" }} Option */
/** @typedef {{ name: string, help: string, options: Option[] }} ViewKind */

const NAME = "main";
const BUNDLE = "./relay_explorer.js";
/** What every imported model can be told. @type {Option[]} */
const IMPORT = [
  { name: "shape", label: "shapes of inputs", example: "input=1,3,224,224", type: "lines" },
  { name: "dtype", label: "types of inputs", example: "ids=int64", type: "lines" },
];

/** @type {<T extends HTMLElement>(id: string) => T} */
const byId = (id) => /** @type {any} */ (document.getElementById(id));
/** @type {ViewKind[]} */
const kinds = JSON.parse(byId("views").textContent ?? "[]");
const [file, view, against] = ["file", "view", "against"].map(
  (id) => /** @type {HTMLSelectElement} */ (byId(id)),
);
const { mount } = await import(BUNDLE);

/** @type {Document[]} */
let documents = [];
/** By view, what the reader set. @type {Map<string, Record<string, string>>} */
const settings = new Map();
let explorer = null;
/** What the explorer shows: its state is kept while this is the same. */
let shown = "";
/** @type {AbortController | null} */
let running = null;
/** The state in the address, for the first view. */
let token = parseHash(location.hash)?.token ?? "";

// --- words -------------------------------------------------------------------------------------------

/** @param {import("../core/types.js").Child[]} words */
const status = (...words) => fill(byId("status"), ...words);

/** @param {string} message */
function problem(message) {
  byId("problem").hidden = !message;
  byId("problem").textContent = message;
}

// --- requests ----------------------------------------------------------------------------------------

/**
 * @param {string} where
 * @param {RequestInit} options
 */
async function ask(where, options) {
  const answer = await fetch(where, options);
  const data = await answer.json();
  if (data.documents) listDocuments(data.documents);
  if (!answer.ok) throw new Error(data.message ?? `the server answers ${answer.status}`);
  return data;
}

/**
 * Shows what is going on, and a button that cancels it; returns the element that says how far it is.
 * @param {string} what
 * @param {AbortController} controller
 */
function busy(what, controller) {
  const progress = h("span");
  status(
    `${what} … `,
    progress,
    h("button", { type: "button", onclick: () => controller.abort() }, "cancel"),
  );
  return progress;
}

/** Shows the seconds since now, and a button that cancels; returns the function that ends it. */
function waiting(/** @type {string} */ what, /** @type {AbortController} */ controller) {
  const started = performance.now();
  const seconds = busy(what, controller);
  const tick = () => (seconds.textContent = `${Math.round((performance.now() - started) / 1000)} s`);
  tick();
  const timer = setInterval(tick, 1000);
  return () => {
    clearInterval(timer);
    status();
  };
}

/** Asks for the view that is chosen, and draws it. A newer request ends an older one. */
async function show() {
  const chosen = documents.find(({ number }) => number === Number(file.value));
  running?.abort();
  if (!chosen) return;
  const controller = new AbortController();
  running = controller;
  const other =
    against.value === "" ? null : against.value === "previous" ? "previous" : Number(against.value);
  const subject = `${chosen.number} ${other ?? view.value}`;
  const done = waiting(
    `${chosen.name}: making the view ${other === null ? view.value : "compare"}`,
    controller,
  );
  remember();
  try {
    const data = await ask("show", {
      method: "POST",
      body: JSON.stringify({
        document: chosen.number,
        view: view.value,
        against: other,
        options: settings.get(view.value) ?? {},
      }),
      signal: controller.signal,
    });
    if (running !== controller) return;
    done();
    problem("");
    draw(data, subject);
    status(`${chosen.name}${chosen.version > 1 ? `, version ${chosen.version}` : ""}`);
    document.title = `${chosen.name} – relay-explorer`;
  } catch (error) {
    if (running !== controller) return;
    done();
    if (controller.signal.aborted) status("Cancelled.");
    else {
      problem(/** @type {Error} */ (error).message);
      if (subject !== shown) clear();
    }
  }
}

/** Removes the view of another file. */
function clear() {
  explorer?.destroy();
  explorer = null;
  shown = "";
}

/**
 * @param {unknown} data
 * @param {string} subject
 */
function draw(data, subject) {
  const state = subject === shown ? explorer.token() : token;
  token = "";
  const scroll = window.scrollY;
  explorer?.destroy();
  const playground = { address: byId("main").dataset.playground ?? "", here: false };
  explorer = mount(byId("main"), data, { name: NAME, token: state, address: true, playground });
  shown = subject;
  byId("welcome").hidden = true;
  window.scrollTo(0, scroll);
}

// --- what is open ------------------------------------------------------------------------------------

/** @param {Document[]} list */
function listDocuments(list) {
  documents = list;
  const chosen = Number(file.value);
  fill(
    file,
    list.length ? null : h("option", { value: "" }, "none yet"),
    list.map(({ number, name }) => h("option", { value: number, selected: number === chosen }, name)),
  );
  file.disabled = against.disabled = byId("options").hidden = !list.length;
  const other = against.value;
  const current = list.find(({ number }) => number === Number(file.value));
  fill(
    against,
    h("option", { value: "" }, "nothing"),
    h("option", { value: "previous", disabled: !current?.previous }, "the previous version"),
    list
      .filter(({ number }) => number !== current?.number)
      .map(({ number, name }) => h("option", { value: number }, name)),
  );
  const there = [...against.options].some(({ value, disabled }) => value === other && !disabled);
  against.value = there ? other : "";
  view.disabled = against.value !== "" || !list.length;
}

function drawOptions() {
  const kind = kinds.find(({ name }) => name === view.value);
  const values = settings.get(view.value) ?? {};
  settings.set(view.value, values);
  fill(
    byId("options"),
    [...(kind?.options ?? []), ...IMPORT].map(({ name, label, example, type }) => {
      const change = (/** @type {any} */ { target }) => {
        values[name] = type === "flag" ? (target.checked ? "1" : "") : target.value;
        show();
      };
      const value = values[name] ?? "";
      const field =
        type === "flag"
          ? h("input", { type: "checkbox", checked: value !== "", onchange: change })
          : type === "lines"
            ? h("textarea", { rows: 1, placeholder: example, spellcheck: "false", onchange: change }, value)
            : h("input", {
                type: "text",
                placeholder: example,
                spellcheck: "false",
                value,
                onchange: change,
              });
      return h("label", null, label, field);
    }),
  );
}

/** Keeps the choice in the address, so that the page can be loaded again. */
function remember() {
  const query = new URLSearchParams({ file: file.value, view: view.value, against: against.value });
  history.replaceState(history.state, "", `?${query}${location.hash}`);
}

// --- files that are dropped --------------------------------------------------------------------------

/** Opens files: copies them to the server, and shows the first one. @param {readonly Dropped[]} files */
async function take(files) {
  let first = null;
  for (const item of files) {
    const controller = new AbortController();
    const progress = busy(`copying ${item.file.name}`, controller);
    try {
      const data = await upload(item, controller.signal, (part) => (progress.textContent = part));
      listDocuments(data.documents);
      first ??= data.document;
    } catch (error) {
      status();
      if (controller.signal.aborted) break;
      problem(/** @type {Error} */ (error).message);
      continue;
    }
    status();
  }
  if (first === null) return;
  file.value = String(first);
  listDocuments(documents);
  show();
}

for (const name of ["dragenter", "dragover"])
  addEventListener(name, (event) => {
    event.preventDefault();
    document.body.classList.add("over");
  });
for (const name of ["dragleave", "drop"])
  addEventListener(name, (event) => {
    event.preventDefault();
    if (name === "drop" || /** @type {DragEvent} */ (event).relatedTarget === null)
      document.body.classList.remove("over");
  });
addEventListener("drop", async ({ dataTransfer }) => {
  if (!dataTransfer) return;
  const { files, notes } = await dropped(dataTransfer, byId("main").dataset.suffixes?.split(" ") ?? []);
  problem(notes.join("\n"));
  take(files);
});
byId("open").addEventListener("click", () => {
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "file", multiple: true }));
  input.addEventListener("change", () =>
    take([...(input.files ?? [])].map((file) => ({ file, folder: "" }))),
  );
  input.click();
});

// --- the beginning -----------------------------------------------------------------------------------

for (const select of [file, against])
  select.addEventListener("change", () => {
    listDocuments(documents);
    show();
  });
view.addEventListener("change", () => {
  drawOptions();
  show();
});

// The comparison has a choice of its own, beside that of the file.
fill(
  view,
  kinds
    .filter(({ name }) => name !== "compare")
    .map(({ name, help }) => h("option", { value: name, title: help }, name)),
);
const asked = new URLSearchParams(location.search);
if (kinds.some(({ name }) => name === asked.get("view")))
  view.value = /** @type {string} */ (asked.get("view"));
drawOptions();
listDocuments((await (await fetch("documents")).json()).documents);
if (documents.some(({ number }) => String(number) === asked.get("file")))
  file.value = /** @type {string} */ (asked.get("file"));
listDocuments(documents);
if ([...against.options].some(({ value, disabled }) => value === asked.get("against") && !disabled))
  against.value = asked.get("against") ?? "";
listDocuments(documents);
show();

const events = new EventSource("events");
events.addEventListener("message", ({ data }) => {
  const event = JSON.parse(data);
  const before = file.value;
  listDocuments(event.documents);
  const mine = [file.value, against.value].includes(String(event.document));
  if ((event.event === "changed" && mine) || (!before && file.value)) show();
});
events.addEventListener("error", () =>
  status("The server does not answer: it has stopped, or starts again."),
);
