"""The linter, the formatter and the type checker have nothing to say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        pytest.param(["mypy"], marks=pytest.mark.slow),
    ],
    ids=" ".join,
)
def test_clean(command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_files_stay_readable() -> None:
    """No Python file of the package has grown beyond what one can hold in the head."""
    long = {
        path.relative_to(ROOT).as_posix(): lines
        for path in (ROOT / "relay_explorer").rglob("*.py")
        if (lines := len(path.read_text("utf-8").splitlines())) > 450
    }
    assert not long
