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


def test_both_of_two_loops_of_a_cell_are_kept() -> None:
    cell = "t = {}\nfor n in 'ab':\n    t[n] = 1\nfor n in 'cd':\n    t[n] = 2\n"
    new = pocket.merge("t = {}\nfor n in 'ab':\n    t[n] = 0\n", cell)
    assert [line for line in new.split("\n") if line] == cell.split("\n")[:-1]
    assert pocket.merge(new, cell) == new


def test_a_definition_stands_before_what_needs_it() -> None:
    new = pocket.merge(FILE, "class Base: ...\ndef twice(f): return f\n")
    new = pocket.merge(new, "@twice\ndef h(): return Base()\n\n\nclass Last(Base): ...\n")
    assert new.index("def twice") < new.index("def h()") < new.index("class Base") < new.index("class Last")
    exec(new.replace("import a", "import types as a; a.node = g = lambda f: f"), {})
    first = pocket.merge("class A: ...\n", "class A(B): ...\nclass B: ...\n")
    assert first == "class B: ...\n\n\nclass A(B): ...\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import sys\n\nsys.setrecursionlimit(1)\n", "sys.setrecursionlimit(2)\n"),
        ("t = {}\nfor n in 'ab':\n    t[n] = 1\n", "for n in 'ab':\n    t[n] = 2\n"),
        ("A, B = 1, 2\n", "A = 1\nB = 3\n"),
        ("a: int = 1\n", "a = 2\n"),
        ("t = {}\nt.update(a=1)\n", "t = {}\nt.update(a=2)\n"),
        ("n = [1]\nn += [2]\n", "n = [1]\nn += [3]\n"),
    ],
)
def test_a_changed_statement_takes_the_place_of_the_old_one(old: str, new: str) -> None:
    lines = pocket.merge(old, new).split("\n")
    assert [line for line in lines if line][-1] == new.split("\n")[-2]
    assert pocket.merge("\n".join(lines), new) == "\n".join(lines)
    replaced = set(old.split("\n")) - set(new.split("\n")) - {"import sys", "t = {}"}
    assert not replaced & set(lines)


def test_a_cell_without_those_before_it_finds_the_books_definitions(fresh: Any) -> None:
    names: dict[str, Any] = {}
    fresh.run("printer.py", "def operands(exprs, block):\n    return SHORT\n", names)
    assert names["operands"]((), None) is fresh.printer.SHORT
    assert fresh.printer.show


def test_names_that_a_cell_stores_again_are_copied(fresh: Any) -> None:
    names: dict[str, Any] = {}
    fresh.run("types.py", '"""My own types."""\nfrom pocket import ir\n\n\ndef mine(): return ir\n', names)
    assert fresh.types.TensorType  # the cell does not begin as the book's does, so the rest is the book's
    assert names.keys() == {"ir", "mine", "__doc__"} or names.keys() == {"ir", "mine"}


def test_a_new_base_class_is_reported(fresh: Any, capsys: pytest.CaptureFixture[str]) -> None:
    base, derived = "class Node: ...\n", "class Var(Node): ...\n\n\nclass Op(Node): ...\n"
    for cell in (f"import sys\n{base}", derived, base):
        assert not capsys.readouterr().out
        fresh.run("ir.py", cell, {})
    assert "Node is a new class now. Run the cells that define Var, Op again" in capsys.readouterr().out
    fresh.run("ir.py", derived, {})
    fresh.run("ir.py", base + derived, {})
    assert not capsys.readouterr().out


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


def test_a_cell_of_a_broken_file_says_which_file_it_is(tmp_path: Path) -> None:
    (tmp_path / "my_pocket").mkdir()
    file = tmp_path / "my_pocket" / "visitor.py"
    file.write_text("def rewrite(:\n", "utf-8")
    book = (BOOK / "pocket" / "visitor.py").read_text("utf-8")
    error = python(f"import pocket; pocket.run('visitor.py', {book!r}, {{}})", tmp_path).stderr
    assert f'File "{file}", line 1' in error
    assert "delete the file" in error


def test_a_file_that_the_book_does_not_have_is_reported(tmp_path: Path) -> None:
    code = "import pocket\nfor _ in range(2): pocket.run({!r}, 'x = 1', {{}})"
    assert python(code.format("solvr.py"), tmp_path).stdout == (
        "The book has no file solvr.py, so this is a new one. Did you mean solver.py?\n"
    )
    said = python(code.format("forest_of_types.py"), tmp_path).stdout
    assert said == "The book has no file forest_of_types.py, so this is a new one.\n"


def test_what_a_reader_keeps_can_be_imported(tmp_path: Path) -> None:
    cell = "import pocket; pocket.run('solver.py', {!r}, {{}})"
    python(cell.format("class Forest:\n    def find(self): return 7\n"), tmp_path)
    solver = "class Solver(Forest):\n    def __init__(self, module): pass\n"
    done = python(f"{cell.format(solver)}", tmp_path)
    assert not done.stderr, done.stderr
    found = python("from pocket.solver import Solver; print(Solver(None).find())", tmp_path)
    assert found.stdout == "7\n", found.stderr


def test_the_magic_is_there_in_a_notebook(tmp_path: Path) -> None:
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_cell('import pocket')\n"
        "shell.run_cell('%%pocket ir.py\\nanswer = 42\\n')\n"
        "shell.run_cell('print(answer, pocket.ir.answer)')\n"
    )
    assert "42 42" in python(code, tmp_path, keeps=False).stdout
