"""The front end's sources are clean, the committed bundle is built from them, and their own tests pass."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def frontend(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the sources and the committed bundle, and install exactly the packages in the lock file."""
    top = tmp_path_factory.mktemp("frontend")
    shutil.copytree(ROOT / "frontend", top / "frontend", ignore=shutil.ignore_patterns("node_modules", "out"))
    static = Path("relay_explorer", "widgets", "static")
    shutil.copytree(ROOT / static, top / static)
    run(["npm", "ci", "--no-audit", "--no-fund"], top / "frontend")
    return top / "frontend"


def run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"


@pytest.mark.slow
def test_bundle_is_what_the_sources_give(frontend: Path) -> None:
    run(["npm", "run", "check"], frontend)


@pytest.mark.slow
def test_its_own_tests(frontend: Path) -> None:
    run(["npm", "test"], frontend)


@pytest.mark.slow
@pytest.mark.parametrize("script", ["lint", "types", "format:check"])
def test_sources_are_clean(frontend: Path, script: str) -> None:
    run(["npm", "run", script], frontend)
