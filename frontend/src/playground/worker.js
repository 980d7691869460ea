// The worker of the playground: Python with the package, without files or network. It is made of parts that the page hands over, so that
// it also runs in a page that was opened as a file.
import { loadPyodide } from "pyodide/pyodide.mjs";
import createPyodideModule from "pyodide/pyodide.asm.mjs";
import { inflated } from "../core/bytes.js";
/** @import { FromWorker, ToWorker } from "./types.js" */

/** The page may grow to 1.5 GB; then Python raises a MemoryError. */
const PAGES = 24_576;

const INDEX = "https://playground.invalid/"; // no request goes there: `fetch` below answers all of them
/** @type {any} */
const scope = globalThis;

/** Where Python finds the importer of models. */
const IMPORTER = "/onnx.zip";

/** @type {any} */
let python = null;
/** @type {((request: string) => string) | null} */
let answer = null;

/** @param {FromWorker} message */
const tell = (message) => scope.postMessage(message);

scope.onmessage = async (/** @type {MessageEvent<ToWorker>} */ { data }) => {
  try {
    if ("parts" in data) await start(data);
    else if ("model" in data) tell({ id: data.id, answer: await open(data) });
    else tell({ id: data.id, answer: answer?.(data.request) ?? "" });
  } catch (error) {
    tell({ failed: String(/** @type {Error} */ (error)?.message ?? error).slice(0, 2000) });
  }
};

/**
 * @param {Extract<ToWorker, { parts: unknown }>} message
 */
async function start({ parts, module }) {
  const [wasm, memory] = await Promise.all([module ? null : inflated(parts.wasm), inflated(parts.memory)]);
  scope.fetch = async (/** @type {string | URL} */ url) => {
    // Python's standard library is in the memory, too: its archive stays empty.
    if (String(url) === `${INDEX}python_stdlib.zip`) return new Response(new Uint8Array());
    if (String(url) === `${INDEX}pyodide.asm.wasm`) return new Response();
    throw new TypeError(`The playground asks for no file: ${String(url)}`);
  };
  limitMemory();
  WebAssembly.instantiateStreaming = async (_response, imports) => {
    const compiled = module ?? (await WebAssembly.compile(/** @type {BufferSource} */ (wasm)));
    if (!module) tell({ module: compiled });
    const instance = await WebAssembly.instantiate(compiled, imports);
    const own = /** @type {WebAssembly.Memory} */ (instance.exports.memory);
    own.grow(Math.max(0, Math.ceil((memory.length - own.buffer.byteLength) / 65_536)));
    return { module: compiled, instance };
  };
  python = await loadPyodide(
    /** @type {any} */ ({
      indexURL: INDEX,
      createPyodideModule,
      lockFileContents: JSON.stringify({ info: PYODIDE_INFO, packages: {} }),
      env: { HOME: "/" },
      _loadSnapshot: memory,
      stdout: () => {},
      stderr: (/** @type {string} */ line) => console.warn(line),
    }),
  );
  // Beyond the package, nothing in the worker needs the network or storage.
  for (const name of ["XMLHttpRequest", "WebSocket", "EventSource", "WebTransport", "indexedDB", "caches"])
    Object.defineProperty(scope, name, { value: undefined, configurable: true });
  answer = python.globals.get("answer");
  tell({ ready: true });
}

/**
 * Opens a model. The importer comes with it, and is unpacked once.
 * @param {Extract<ToWorker, { model: unknown }>} message
 * @returns {Promise<string>}
 */
async function open({ model, importer }) {
  if (!python.FS.analyzePath(IMPORTER).exists) python.FS.writeFile(IMPORTER, await inflated(importer));
  return python.globals.get("open_model")(model.name, model.bytes, IMPORTER);
}

/** Growing the memory fails above a bound, as if the machine had no more. */
function limitMemory() {
  const grow = WebAssembly.Memory.prototype.grow;
  WebAssembly.Memory.prototype.grow = function (pages) {
    if (this.buffer.byteLength / 65_536 + pages > PAGES)
      throw new RangeError("the playground's memory is used up");
    return grow.call(this, pages);
  };
}
