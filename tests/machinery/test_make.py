"""`make` lists every command, and the scripts beneath it do what they say when something is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from relay_explorer.ir.narrow import as_a
from tools import build_book

ROOT = Path(__file__).parents[2]


def run(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )


def test_help_lists_every_command() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    phony = set(as_a(re.Match, re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE))[1].split())
    listed = set(re.findall(r"^ {2}make (\S+)", run("make", "help").stdout, re.MULTILINE))
    # `html` is `book` without the browser, for scripts; `programs` is a part of `test`.
    assert phony - listed == {"html", "programs"}
    assert {"book", "test", "test-fast", "lint", "figures", "frontend", "exercises", "bench"} <= listed


def test_no_python_is_said_plainly() -> None:
    done = run("tools/find_python.sh", "2.6", PYTHON="")
    assert done.returncode == 1
    assert done.stderr.startswith("No Python 2.6 with venv and ensurepip found. Install one (Debian")


def test_a_missing_program_is_said_plainly(tmp_path: Path) -> None:
    for name in ("id", "sh"):
        (tmp_path / name).symlink_to(f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}")
    done = run("/bin/sh", "tools/install_system.sh", "no-such-program=its-package", PATH=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == (
        "The tests need these, and they are not installed: its-package\n"
        "On Debian and Ubuntu: sudo apt-get install its-package\n"
    )


def test_a_program_that_the_book_can_do_without_is_named_and_no_failure(tmp_path: Path) -> None:
    for name in ("id", "sh"):
        (tmp_path / name).symlink_to(f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}")
    command = ("/bin/sh", "tools/install_system.sh", "--optional", "no-such-program=its-package")
    done = run(*command, PATH=str(tmp_path))
    assert done.returncode == 0
    assert "Cells of the book that need them will say so" in done.stderr
    assert "sudo apt-get install its-package" in done.stderr


def test_building_the_book_installs_what_its_pages_run() -> None:
    """The published pages of chapter 24 contain what the ARM compiler and the emulator print."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in ("book", "html"):
        (recipe,) = re.findall(rf"^{target}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
        assert "install_system.sh --optional $(NATIVE)" in recipe
    assert "qemu-aarch64=qemu-user" in makefile


@pytest.mark.parametrize("code", [0, 1])
def test_continuous_integration_ends_with_the_closing_line(code: int, tmp_path: Path) -> None:
    """`.ci/run` calls `make test`, hands on its status, and lets nothing follow pytest's last line."""
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    (tmp_path / "Makefile").write_text(
        f"test:\n\t@echo begun >&2; echo '== 3 passed in 1s =='; exit {code}\n"
    )
    done = subprocess.run([tmp_path / ".ci" / "run"], capture_output=True, text=True, check=False)
    assert done.stdout == "begun\n== 3 passed in 1s ==\n"
    assert done.stderr == ""
    assert bool(done.returncode) is bool(code)


def test_continuous_integration_ends_a_run_that_hangs(tmp_path: Path) -> None:
    """The tests are interrupted, so that pytest can report where, and the run fails."""
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    wait = "import time\ntry:\n    time.sleep(60)\n"
    hang = wait + "except KeyboardInterrupt:\n    print('interrupted', flush=True)\n"
    (tmp_path / "hang.py").write_text(hang)
    (tmp_path / "Makefile").write_text(f"test:\n\t@{sys.executable} hang.py\n")
    done = subprocess.run(
        [tmp_path / ".ci" / "run"],
        env={**os.environ, "CI_LIMIT": "2"},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert "interrupted" in done.stdout
    assert done.returncode == 124


@pytest.mark.parametrize(
    ("variables", "shown"), [({}, False), ({"DISPLAY": ":0"}, True), ({"WAYLAND_DISPLAY": "w"}, True)]
)
def test_a_browser_is_opened_only_where_there_is_a_display(
    variables: dict[str, str], shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", "linux")
    assert build_book.has_display() is shown
