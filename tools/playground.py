"""Build the playground: the page's code, Python for the browser, and the memory of the loaded package.

    python -m tools.playground [FOLDER]

npm provides Pyodide and the editor; without it the playground is left out, and its page says so. The importer
of ONNX files consists of the installed packages protobuf, whose implementation in Python runs in a browser,
and onnx, of which the page has the messages.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).parents[1]
FRONTEND = ROOT / "frontend"
DIGEST = "digest.txt"
WITHOUT_NPM = (
    "npm is not installed, so the playground is left out: install npm (on Debian and Ubuntu: "
    "sudo apt-get install npm) and build again"
)


BUILT = ROOT / "_build" / "playground"


def build(folder: Path = BUILT, report: Callable[[str], None] = print) -> bool:
    """Build the playground into a folder, unless it is there already and nothing has changed; return whether
    it is there. Raise a CalledProcessError where a tool fails.
    """
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        report(WITHOUT_NPM)
        return False
    parts = json.dumps(_parts())
    digest = _digest(parts)
    stamp = folder / DIGEST
    if stamp.is_file() and stamp.read_text("utf-8") == digest:
        return True
    if not (FRONTEND / "node_modules" / "pyodide").is_dir():
        report("getting what the playground is made of")
        subprocess.run([npm, "ci", "--silent"], cwd=FRONTEND, check=True)
    report("building the playground")
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [node, "playground.mjs", str(folder.resolve()), parts],
        cwd=FRONTEND,
        check=True,
        capture_output=True,
        text=True,
    )
    stamp.write_text(digest, "utf-8")
    return True


def _parts() -> dict[str, object]:
    """Return where the parts of the importer are that are not ours, and their licenses."""
    import onnx

    protobuf = import_module("google.protobuf")
    assert protobuf.__file__ is not None
    return {
        "protobuf": str(Path(protobuf.__file__).parent),
        "messages": str(Path(onnx.__file__).with_name("onnx_ml_pb2.py")),
        "opset": onnx.defs.onnx_opset_version(),
        "licences": [_license("protobuf"), _license("onnx")],
    }


def _license(package: str) -> str:
    installed = distribution(package)
    files = [file for file in installed.files or () if file.name == "LICENSE"]
    return f"{package} {installed.version}\n\n{files[0].read_text().strip()}\n"


def _digest(parts: str) -> str:
    """Return a digest of everything that the playground is made from."""
    total = hashlib.sha256(parts.encode())
    for path in sorted(_sources()):
        total.update(f"{path.relative_to(ROOT)}\n".encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def _sources() -> Iterator[Path]:
    yield from (ROOT / "relay_explorer").rglob("*.py")
    for folder in ("playground", "core"):
        yield from (path for path in (FRONTEND / "src" / folder).rglob("*") if path.is_file())
    for name in (
        "playground.mjs", "playground_archive.py", "playground_onnx.py", "bundling.mjs", "package-lock.json",
    ):  # fmt: skip
        yield FRONTEND / name


def add_to(site: Path, report: Callable[[str], None] = print) -> None:
    """Build the playground, and copy it into a site's static files."""
    if build(report=report):
        shutil.copytree(BUILT, site / "_static" / "playground", dirs_exist_ok=True)


if __name__ == "__main__":
    sys.exit(0 if build(Path(sys.argv[1]) if len(sys.argv) > 1 else BUILT) else 1)
