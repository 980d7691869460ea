"""`%%pocket`: a cell runs in its module, and the reader's version of a file is kept and used."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pocket
import pytest

from tests.book.chapters import own_pocket

BOOK = Path(__file__).parents[2] / "book"


@pytest.fixture
def fresh() -> Iterator[Any]:
    """The package without any of its modules."""
    with own_pocket():
        import pocket

        yield pocket


def test_a_cell_runs_in_its_module_and_its_names_are_copied(fresh: Any) -> None:
    names: dict[str, Any] = {}
    fresh.run("ir.py", "import sys\nclass Expr: ...\ndef make(): return Expr()\n", names)
    fresh.run("ir.py", "def twice(): return [make(), make()]\n", names)
    assert sorted(names) == ["Expr", "make", "sys", "twice"]
    assert not hasattr(fresh.ir, "Call")
    assert isinstance(names["twice"]()[0], names["Expr"])
    assert fresh.ir.make is names["make"]
    assert names["make"].__module__ == "pocket.ir"
    fresh.run("ir.py", "def make(): return 1\n", names)
    assert names["twice"]() == [1, 1]


def test_what_is_no_file_is_refused(fresh: Any) -> None:
    for file in ("ir", "", "../ir.py"):
        with pytest.raises(ValueError, match="takes a file's name"):
            fresh.run(file, "x = 1\n", {})


FILE = """\
# %%
import a

t = {}


# %%
@a.node
def f():
    return 1


t |= {1: f}
t |= {2: g}


# %%
def h(): ...


t["k"] = 1
"""


def test_a_definition_takes_the_place_of_the_one_of_its_name() -> None:
    cell = "@a.node\ndef f():\n    # another\n    return 3\n\n\nt |= {1: f, 3: f}\n"
    new = pocket.merge(FILE, cell)
    assert new == FILE.replace("    return 1", "    # another\n    return 3").replace(
        "{1: f}", "{1: f, 3: f}"
    )
    assert pocket.merge(new, cell) == new
    assert pocket.merge(FILE, FILE) == FILE


def test_what_is_new_stands_where_it_does_in_the_cell() -> None:
    new = pocket.merge(FILE, "import b\nimport a\n")
    assert new == "import b\n" + FILE
    new = pocket.merge(FILE, "def helper(): ...\n\ndef h(): return helper()\nt |= {4: h}\n")
    assert new == FILE.replace(
        "\n\n\n# %%\ndef h(): ...",
        "\n\n\ndef helper(): ...\n\n\n# %%\ndef h(): return helper()\n\n\nt |= {4: h}",
    )
    assert pocket.merge(FILE, "def last(): ...\n") == FILE + "\n\ndef last(): ...\n"


def test_a_cell_without_those_before_it_finds_the_books_definitions(fresh: Any) -> None:
    names: dict[str, Any] = {}
    fresh.run("printer.py", "def operands(exprs, block):\n    return SHORT\n", names)
    assert names["operands"]((), None) is fresh.printer.SHORT
    assert fresh.printer.show


def python(code: str, folder: Path, keeps: bool = True) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{BOOK.parent}{os.pathsep}{BOOK}"}
    environment["RELAY_EXPLORER_BOOK_BUILD"] = "" if keeps else "1"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


CHANGE = """import pocket; pocket.run("types.py", "def commas(value):\\n    return {!r}\\n", {{}})"""
SHOW = "from pocket.types import commas; print(commas([1]))"


def test_the_readers_version_is_used_from_then_on(tmp_path: Path) -> None:
    python(CHANGE.format("mine"), tmp_path, keeps=False)
    assert not list(tmp_path.iterdir())
    python(CHANGE.format("mine"), tmp_path)
    assert python(SHOW, tmp_path).stdout == "mine\n"
    assert python(SHOW, tmp_path, keeps=False).stdout == "1\n"
    original = (BOOK / "pocket" / "types.py").read_text("utf-8")
    python(f"import pocket; pocket.keep('types.py', {original!r})", tmp_path)
    assert not list((tmp_path / "my_pocket").glob("*.py"))


def test_an_error_in_the_readers_version_says_how_to_do_without_it(tmp_path: Path) -> None:
    (tmp_path / "my_pocket").mkdir()
    file = tmp_path / "my_pocket" / "types.py"
    for text in ("def show(:\n", "1 / 0\n"):
        file.write_text(text, "utf-8")
        error = python(SHOW, tmp_path).stderr
        assert str(file) in error
        assert "delete the file" in error


def test_the_magic_is_there_in_a_notebook(tmp_path: Path) -> None:
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_cell('import pocket')\n"
        "shell.run_cell('%%pocket ir.py\\nanswer = 42\\n')\n"
        "shell.run_cell('print(answer, pocket.ir.answer)')\n"
    )
    assert "42 42" in python(code, tmp_path, keeps=False).stdout
