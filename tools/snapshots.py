"""Rewrite every text that a test pins: `make snapshots`, or `make snapshots TESTS=tests/views`.

There are two kinds. Messages and sentences stand in the tests themselves, as `snapshot("…")` of
inline-snapshot. Views that the front end's tests draw are JSON files in `frontend/test/data`, which
modules of `tests/views` write. Read what changed in `git diff`. A test that fails for another reason
still fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
SAMPLES = "frontend/test/data"


def snapshot_files(paths: list[Path]) -> list[Path]:
    """Return the test files among `paths` that hold snapshots, the largest first."""
    files = {file for path in paths for file in (path.rglob("test_*.py") if path.is_dir() else [path])}
    return sorted(
        (file for file in files if "inline_snapshot" in file.read_text("utf-8")),
        key=lambda file: (-file.stat().st_size, file),
    )


def sample_modules(paths: list[Path]) -> list[str]:
    """Return the modules next to the tests in `paths` that write samples for the front end's tests."""
    return sorted(
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for path in paths
        if path.is_dir()
        for file in path.rglob("*.py")
        if not file.name.startswith("test_")
        and SAMPLES in (text := file.read_text("utf-8"))
        and "__main__" in text
    )


def _run(arguments: list[str]) -> int:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # ruff formats
    environment = {**os.environ, "PATH": programs, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, env=environment, check=False
    ).returncode


def main(arguments: list[str]) -> int:
    """Run the tests that hold snapshots with `--inline-snapshot=create,fix`, then write the samples."""
    paths = [Path(argument).resolve() for argument in arguments or ["tests"]]
    files = snapshot_files(paths)
    processes = min(os.cpu_count() or 1, len(files))
    # inline-snapshot does not work under pytest-xdist, so each process gets files of its own.
    pytest = [
        "pytest",
        "-q",
        "--no-header",
        "-p",
        "no:cacheprovider",
        "-n",
        "0",
        "--inline-snapshot=create,fix",
    ]
    commands = [[*pytest, *map(str, files[i::processes])] for i in range(processes)]
    with ThreadPoolExecutor() as pool:
        failures = [status for status in pool.map(_run, commands) if status]
    failures += [status for module in sample_modules(paths) if (status := _run([module]))]
    subprocess.run(["git", "--no-pager", "diff", "--stat", "--", *paths, SAMPLES], cwd=ROOT, check=False)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
