"""Rewrite every text that a test pins: `make snapshots`, or `make snapshots TESTS=tests/views`.

There are two kinds. Messages and sentences are in the tests themselves, as `snapshot("…")` of
inline-snapshot. Views that the front end's tests draw are JSON files in `frontend/test/data`, which modules
of `tests/views` write. Check the changes with `git diff`. A test that fails for another reason still fails.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
SAMPLES = "frontend/test/data"
GROUP = 4  # test files per pytest process


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


def _run(arguments: list[str], quiet: bool = False) -> int:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # finds ruff
    environment = {**os.environ, "PATH": programs, "PYTHONPATH": str(ROOT)}
    output = subprocess.DEVNULL if quiet else None
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, stdout=output, check=False).returncode


def rewrite(files: list[str]) -> int:
    """Rewrite the snapshots of some files that differ, and return the status of their tests afterwards."""
    # inline-snapshot does not work under pytest-xdist. A test whose snapshot it rewrites fails in that run.
    pytest = ["pytest", "-q", "--no-header", "-p", "no:cacheprovider", "-n", "0", *files]
    return _run([*pytest, "--inline-snapshot=create,fix"], quiet=True) and _run(pytest)


def main(arguments: list[str]) -> int:
    """Rewrite the snapshots, several files at a time, then the samples."""
    paths = [Path(argument).resolve() for argument in arguments or ["tests"]]
    files = [str(file) for file in snapshot_files(paths)]
    groups = math.ceil(len(files) / GROUP)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        statuses = list(pool.map(rewrite, (files[i::groups] for i in range(groups))))
    statuses += [_run([module]) for module in sample_modules(paths)]
    subprocess.run(["git", "--no-pager", "diff", "--stat", "--", *paths, SAMPLES], cwd=ROOT, check=False)
    return 1 if any(statuses) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
