// Builds the playground into a folder: `node playground.mjs FOLDER`. It consists of the page's own code, and of Python and the
// package, as scripts that hand over compressed text, because a page that was opened as a file may load nothing else.
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundled, licences } from "./bundling.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const PACKAGE = join(here, "..", "relay_explorer");
const PYODIDE = join(here, "node_modules", "pyodide");
/** The oldest browsers that run Pyodide's WebAssembly. */
const WORKER_TARGETS = ["safari16.4", "firefox115", "chrome109", "edge109"];
/** Folders of the package that nothing in the page imports. */
const LEFT_OUT =
  /^(lower|compat|grading|models|testing|cli|interop|frontends\/(aten|keras|mxnet|onnx|pytorch|tensorflow|tflite|torch_\w+)|accelerator|__main__\.py)(\/|$)/;

function* sources(folder = PACKAGE) {
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    const inside = relative(PACKAGE, path).replaceAll("\\", "/");
    if (name === "__pycache__" || LEFT_OUT.test(inside)) continue;
    if (statSync(path).isDirectory()) yield* sources(path);
    else if (/\.(py|rly)$/.test(name)) yield [`relay_explorer/${inside}`, readFileSync(path)];
  }
}

/** Python's memory once the package is loaded: the page starts from a copy, in a tenth of the time. */
async function snapshot() {
  const { loadPyodide } = await import("pyodide");
  // A stranger to newer WebAssembly, as iPhones are: then the copy runs in every browser.
  Object.defineProperty(globalThis, "navigator", { value: { userAgent: "iPhone" }, configurable: true });
  const python = await loadPyodide({
    _makeSnapshot: true,
    env: { HOME: "/", PYTHONDONTWRITEBYTECODE: "1", PYTHONHASHSEED: "0" },
  });
  for (const [path, content] of sources()) {
    python.FS.mkdirTree(`/src/${dirname(path)}`);
    python.FS.writeFile(`/src/${path}`, content);
  }
  python.runPython(readFileSync(join(here, "playground_archive.py"), "utf8"));
  return { memory: python.makeMemorySnapshot(), description: python.globals.get("described") };
}

const page = () =>
  bundled("playground/index.js", {
    format: "iife",
    banner: { js: "/* relay_explorer playground, Apache-2.0; its libraries: playground.licenses.txt */" },
  });

const worker = () =>
  bundled("playground/worker.js", {
    // A page that was opened as a file starts classic workers only. Pyodide refuses those that can import scripts.
    format: "iife",
    banner: { js: "self.importScripts=()=>{throw new Error()};" },
    target: WORKER_TARGETS,
    external: ["node:*", "ws", "fs", "path", "crypto", "child_process", "url", "vm"],
    define: {
      "import.meta.url": '"https://playground.invalid/"',
      PYODIDE_INFO: JSON.stringify(JSON.parse(readFileSync(join(PYODIDE, "pyodide-lock.json"), "utf8")).info),
    },
  });

const pack = (bytes) => gzipSync(bytes, { level: 9 }).toString("base64");
const deliver = (parts) =>
  Object.entries(parts)
    .map(([name, bytes]) => `(window.relayPlaygroundParts??={}).${name}=${JSON.stringify(pack(bytes))};\n`)
    .join("");

const folder = process.argv[2];
if (!folder) throw new Error("node playground.mjs FOLDER");
mkdirSync(folder, { recursive: true });
const [{ memory, description }, editor, python] = await Promise.all([snapshot(), page(), worker()]);
const files = {
  "playground.js": editor.outputFiles[0].text,
  "description.js": `window.relayPlaygroundDescription=${description.replaceAll("<", "\\u003c")};\n`,
  "python.js": deliver({
    worker: python.outputFiles[0].contents,
    wasm: readFileSync(join(PYODIDE, "pyodide.asm.wasm")),
  }),
  "package.js": deliver({ memory }),
  "playground.licenses.txt": licences("The playground", {
    ...editor.metafile.inputs,
    ...python.metafile.inputs,
  }),
};
for (const [name, text] of Object.entries(files)) {
  writeFileSync(join(folder, name), text);
  console.log(`${name}: ${(text.length / 1000).toFixed(0)} kB`);
}
