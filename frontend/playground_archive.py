# Run by playground.mjs in Pyodide, where the package is in /src: loads everything that a request may need, so that the page
# starts from a copy of this memory. Nothing can be imported later, because the page has no files; only the importer of ONNX files
# comes in an archive of its own, without the modules of the standard library that it needs, which are in `libraries`.
import gc
import importlib
import json
import sys
from pathlib import Path

sys.path.insert(0, "/src")
from relay_explorer.playground.description import description  # noqa: E402
from relay_explorer.playground.worker import start  # noqa: E402

missing = []
for path in sorted(Path("/src").rglob("*.py")):
    name = ".".join(path.relative_to("/src").with_suffix("").parts).removesuffix(".__init__")
    try:
        importlib.import_module(name)
    except ImportError as error:
        missing.append(f"{name}: {error}")
print("\n".join(missing))
# What the standard library itself imports only when it is used.
for name in ("ast", "difflib", "encodings.idna", "encodings.latin_1", "linecache", "tempfile", "tokenize", "traceback", "zipfile", *libraries.split()):  # noqa: F821
    importlib.import_module(name)

described = description()
answer, open_model = start()
for example in described["examples"]:
    reply = json.loads(answer(json.dumps({key: example[key] for key in ("text", "view", "options")})))
    print(example["title"], reply["seconds"], [problem["message"] for problem in reply["problems"]])
answer('{"text": "", "view": "ir", "options": {}}')
described = json.dumps(described, separators=(",", ":"))
# The page has no files: what was not imported does not exist.
sys.path.clear()
sys.path_importer_cache.clear()
gc.collect()
