"""Build the book into _build/html: execute every page, and treat warnings as errors."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import webbrowser
from pathlib import Path

ROOT = Path(__file__).parents[1]
SITE = ROOT / "_build" / "html"
LOG = ROOT / "_build" / "book.log"

# The package cannot be run with -m, and its console script need not be on the path.
_MAIN = "from jupyter_book.cli.main import main; main()"
_COMMAND = ["-c", _MAIN, "build", ".", "-W", "-n", "--keep-going"]


def build(root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run Jupyter Book; its output goes to `_build/book.log` too, for the tests to show."""
    done = subprocess.run(
        [sys.executable, *_COMMAND],
        cwd=root,
        env={**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(root), "RELAY_EXPLORER_QUIET": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    log = root / "_build" / "book.log"
    log.parent.mkdir(exist_ok=True)
    log.write_text(done.stdout, "utf-8")
    return done


def has_display() -> bool:
    """Whether there is somewhere to open a browser."""
    return sys.platform in {"darwin", "win32"} or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


def main() -> int:
    """Build, and say where the book is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--open", action="store_true", help="open the book when there is a display")
    arguments = parser.parse_args()
    done = build()
    if done.returncode:
        print(done.stdout)
        print(f"The book did not build; the whole log is in {LOG.relative_to(ROOT)}.", file=sys.stderr)
        return done.returncode
    page = (SITE / "index.html").as_uri()
    print(f"The book: {page}")
    if arguments.open and os.environ.get("BOOK_OPEN", "1") != "0" and has_display():
        webbrowser.open(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
