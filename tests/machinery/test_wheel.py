"""What pip installs holds the package whole: every module, the bundle, its licences, the marker of types."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from relay_explorer import _project

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    (built,) = folder.glob("*.whl")
    return zipfile.ZipFile(built)


@pytest.mark.slow
def test_it_holds_what_the_repository_tracks(wheel: zipfile.ZipFile) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "relay_explorer"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert set(listed) - set(wheel.namelist()) == set()
    pocket = {f"pocket/{path.name}" for path in (ROOT / "book" / "pocket").glob("*.py")}
    assert pocket == {name for name in wheel.namelist() if name.startswith("pocket/")}
    assert "relay_explorer/widgets/static/relay_explorer.js" in wheel.namelist()
    assert "relay_explorer/py.typed" in wheel.namelist()


@pytest.mark.slow
def test_it_holds_nothing_else(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert tops == {"relay_explorer", "pocket", f"relay_explorer-{_project.VERSION}.dist-info"}
