"""Build the book into _build/html: execute every page, and treat warnings as errors."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
import webbrowser
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from tools import playground

ROOT = Path(__file__).parents[1]
SITE = ROOT / "_build" / "html"
LOG = ROOT / "_build" / "book.log"
MAX_JOBS = 4  # pages that are executed in parallel, each in its own kernel

# Jupyter Book's command line has no option for parallel reading, but its function has. (The package cannot
# be run with -m, and its console script need not be on the path.)
_MAIN = """
import functools, sys
import jupyter_book.sphinx as book
book.build_sphinx = functools.partial(book.build_sphinx, jobs=int(sys.argv.pop()))
from jupyter_book.cli.main import main
main()
"""
_COMMAND = ["-c", _MAIN, "build", ".", "-W", "-n", "--keep-going"]
PAGE = "executing and reading "  # the start of the line that the book's extension prints for each page


def pages(root: Path = ROOT) -> int:
    """Return how many pages the table of contents lists."""
    contents = (root / "_toc.yml").read_text("utf-8")
    return len(re.findall(r"^(?:root:| *- file:)", contents, re.MULTILINE))


def build(root: Path = ROOT, report: Callable[[str], None] = lambda line: None) -> tuple[int, str]:
    """Run Jupyter Book; return its exit status and its output, which is also written to `_build/book.log`.

    `report` is called with a line for each page as it starts, and for each later phase.
    """
    log = root / "_build" / "book.log"
    log.parent.mkdir(exist_ok=True)
    command = [sys.executable, *_COMMAND, str(min(os.cpu_count() or 1, MAX_JOBS))]
    environment = {
        **os.environ,
        "NO_COLOR": "1",
        "PYTHONPATH": f"{root}{os.pathsep}{root / 'book'}",
        "RELAY_EXPLORER_QUIET": "1",
    }
    total, begun, phase = pages(root), 0, ""
    with (
        log.open("w", encoding="utf-8") as record,
        subprocess.Popen(
            command,
            cwd=root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            record.write(line)
            if line.startswith(PAGE):
                begun += 1
                report(f"page {begun} of {total}: {line.removeprefix(PAGE).strip()}")
            elif (match := re.match(r"(copying images|writing output|dumping search index)", line)) and match[
                1
            ] != phase:
                phase = match[1]
                report(phase)
    if process.returncode == 0:
        playground.add_to(root / "_build" / "html", report)
    return process.returncode, log.read_text("utf-8")


def has_display() -> bool:
    """Return whether there is a display on which a browser can open."""
    return sys.platform in {"darwin", "win32"} or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


def main() -> int:
    """Build the book, and print its path."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--open", action="store_true", help="open the book when there is a display")
    arguments = parser.parse_args()
    start = time.monotonic()

    def report(line: str) -> None:
        print(f"{time.monotonic() - start:4.0f} s  {line}", flush=True)

    report(f"executing and building {pages()} pages; what has not changed since the last build is kept")
    status, output = build(report=report)
    if status:
        print(output)
        print(f"The book did not build; the complete log is in {LOG.relative_to(ROOT)}.", file=sys.stderr)
        return status
    report("done")
    page = (SITE / "index.html").as_uri()
    print(f"The book: {page}")
    if arguments.open and os.environ.get("BOOK_OPEN", "1") != "0" and has_display():
        webbrowser.open(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
