// Builds the playground into a folder: `node playground.mjs FOLDER PARTS`. It consists of the page's own code, and of Python, the
// package and the importer of ONNX files, as scripts that hand over compressed text, because a page that was opened as a file may
// load nothing else. PARTS says in JSON where protobuf and onnx are installed (tools/playground.py).
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
/** The importer of ONNX files is loaded only when one is opened. */
const ONNX = /^frontends\/onnx\//;
/** Folders of the package that nothing in the page imports. */
const LEFT_OUT =
  /^(lower|compat|grading|models|testing|cli|interop|frontends\/(aten|keras|mxnet|onnx|pytorch|tensorflow|tflite|torch_\w+)|accelerator|__main__\.py)(\/|$)/;

/**
 * The sources in a folder, with their paths from `root`.
 */
function* sources(folder, root = folder) {
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    if (name === "__pycache__") continue;
    if (statSync(path).isDirectory()) yield* sources(path, root);
    else if (/\.(py|rly)$/.test(name)) yield [relative(root, path).replaceAll("\\", "/"), readFileSync(path)];
  }
}

/** Writes sources into a folder of Pyodide. */
function write(python, folder, files) {
  for (const [path, content] of files) {
    python.FS.mkdirTree(dirname(`${folder}/${path}`));
    python.FS.writeFile(`${folder}/${path}`, content);
  }
}

const SETTINGS = { env: { HOME: "/", PYTHONDONTWRITEBYTECODE: "1", PYTHONHASHSEED: "0" } };
const own = [...sources(PACKAGE)];
const script = (name) => readFileSync(join(here, name), "utf8");

/** Python's memory once the package is loaded: the page starts from a copy, in a tenth of the time. */
async function snapshot(libraries) {
  const { loadPyodide } = await import("pyodide");
  // A stranger to newer WebAssembly, as iPhones are: then the copy runs in every browser.
  Object.defineProperty(globalThis, "navigator", { value: { userAgent: "iPhone" }, configurable: true });
  const python = await loadPyodide({ _makeSnapshot: true, ...SETTINGS });
  write(
    python,
    "/src/relay_explorer",
    own.filter(([path]) => !LEFT_OUT.test(path)),
  );
  python.globals.set("libraries", libraries);
  python.runPython(script("playground_archive.py"));
  return { memory: python.makeMemorySnapshot(), description: python.globals.get("described") };
}

/** The importer of ONNX files as an archive of compiled modules, and the modules of the standard library that they import. */
async function importer({ protobuf, messages, opset }) {
  const { loadPyodide } = await import("pyodide");
  const python = await loadPyodide(SETTINGS);
  write(
    python,
    "/src/relay_explorer",
    own.filter(([path]) => !LEFT_OUT.test(path)),
  );
  write(
    python,
    "/onnx/relay_explorer",
    own.filter(([path]) => ONNX.test(path)),
  );
  write(python, "/onnx/google/protobuf", sources(protobuf));
  write(python, "/onnx", [
    ["google/__init__.py", ""], // an archive's modules are not found in a folder without one
    ["onnx_ml_pb2.py", readFileSync(messages)],
    ["onnx_release.py", `OPSET = ${opset}\n`],
  ]);
  python.runPython(script("playground_onnx.py"));
  return { archive: python.globals.get("archive").toJs(), libraries: python.globals.get("libraries") };
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

const [folder, parts] = process.argv.slice(2);
if (!folder || !parts) throw new Error("node playground.mjs FOLDER PARTS");
const onnx = JSON.parse(parts);
mkdirSync(folder, { recursive: true });
const { archive, libraries } = await importer(onnx);
const [{ memory, description }, editor, python] = await Promise.all([snapshot(libraries), page(), worker()]);
const files = {
  "playground.js": editor.outputFiles[0].text,
  "description.js": `window.relayPlaygroundDescription=${description.replaceAll("<", "\\u003c")};\n`,
  "python.js": deliver({
    worker: python.outputFiles[0].contents,
    wasm: readFileSync(join(PYODIDE, "pyodide.asm.wasm")),
  }),
  "package.js": deliver({ memory }),
  "onnx.js": deliver({ onnx: archive }),
  "playground.licenses.txt": licences(
    "The playground",
    {
      ...editor.metafile.inputs,
      ...python.metafile.inputs,
    },
    onnx.licences,
  ),
};
for (const [name, text] of Object.entries(files)) {
  writeFileSync(join(folder, name), text);
  console.log(`${name}: ${(text.length / 1000).toFixed(0)} kB`);
}
