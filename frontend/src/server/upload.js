// What is dropped on the page: files, and the models in folders; and how a file is copied to the server.

/** @typedef {{ file: File, folder: string }} Dropped a file, and the path of the folder that was dropped with it */

const MOST_FILES = 100;
const MOST_FOLDERS = 3; // in each other
const SAVED_MODEL = /^saved_model\.pb(txt)?$/;

/**
 * Returns the files that were dropped, those of folders only if they have one of the suffixes, and what to say about the
 * folders.
 * @param {DataTransfer} data
 * @param {readonly string[]} suffixes
 */
export async function dropped(data, suffixes) {
  /** @type {Dropped[]} */
  const files = [];
  /** @type {string[]} */
  const notes = [];
  // The list of what was dropped is gone after the first pause.
  const entries = [...data.items].map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  for (const entry of entries) {
    if (entry instanceof File) files.push({ file: entry, folder: "" });
    else if (entry?.isFile) files.push({ file: await fileOf(entry), folder: "" });
    else if (entry) await takeFolder(entry, suffixes, files, notes);
  }
  return { files, notes };
}

/**
 * @param {any} folder
 * @param {readonly string[]} suffixes
 * @param {Dropped[]} files
 * @param {string[]} notes
 */
async function takeFolder(folder, suffixes, files, notes) {
  /** @type {Dropped[]} */
  const found = [];
  const visit = async (/** @type {any} */ place, /** @type {number} */ depth) => {
    const inner = await entriesOf(place);
    if (inner.some(({ name, isFile }) => isFile && SAVED_MODEL.test(name))) {
      notes.push(
        `error: the folder ${place.name} is a SavedModel of TensorFlow: name it on the command line, as in relay-explorer serve ${place.name}`,
      );
      return;
    }
    for (const entry of inner) {
      if (entry.name.startsWith(".") || found.length >= MOST_FILES) continue;
      if (entry.isDirectory && depth < MOST_FOLDERS) await visit(entry, depth + 1);
      if (!entry.isFile || !suffixes.some((suffix) => entry.name.toLowerCase().endsWith(suffix))) continue;
      found.push({ file: await fileOf(entry), folder: place.fullPath.replace(/^\//, "") });
    }
  };
  const before = notes.length;
  await visit(folder, 1);
  files.push(...found);
  if (found.length >= MOST_FILES)
    notes.push(`The folder ${folder.name} has many files: the first ${MOST_FILES} are open.`);
  if (!found.length && notes.length === before)
    notes.push(
      `error: the folder ${folder.name} contains no program or model; their names end in ${suffixes.join(", ")}`,
    );
}

/**
 * @param {any} entry
 * @returns {Promise<File>}
 */
const fileOf = (entry) => new Promise((resolve, reject) => entry.file(resolve, reject));

/** Returns everything in a folder, in the order of the names: a browser reads it in parts. */
async function entriesOf(/** @type {any} */ folder) {
  const reader = folder.createReader();
  /** @type {any[]} */
  const all = [];
  for (;;) {
    /** @type {any[]} */
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!part.length) return all.sort((a, b) => (a.name < b.name ? -1 : 1));
    all.push(...part);
  }
}

/**
 * Copies a file to the server; `progress` is called with how much of it has been sent. (`fetch` does not say.)
 * @param {Dropped} dropped
 * @param {AbortSignal} signal
 * @param {(part: string) => unknown} progress
 * @returns {Promise<any>}
 */
export function upload({ file, folder }, signal, progress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const unreadable = () => reject(new Error(`error: ${file.name} cannot be read or copied`));
    request.open("POST", `drop?${new URLSearchParams({ name: file.name, folder })}`);
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded }) => progress(share(loaded, file.size)));
    request.addEventListener("load", () => {
      if (request.status === 200) resolve(request.response);
      else reject(new Error(request.response?.message ?? `the server answers ${request.status}`));
    });
    request.addEventListener("error", unreadable);
    request.addEventListener("abort", unreadable);
    signal.addEventListener("abort", () => request.abort());
    progress(share(0, file.size));
    request.send(file);
  });
}

/** "3.1 of 12.4 MB (25%)" */
function share(/** @type {number} */ part, /** @type {number} */ whole) {
  const megabytes = (/** @type {number} */ bytes) => (bytes / 1e6).toFixed(1);
  return `${megabytes(part)} of ${megabytes(whole)} MB (${Math.floor((100 * part) / Math.max(1, whole))}%)`;
}
