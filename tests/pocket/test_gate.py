"""What a reader has after a chapter works, with nothing that later chapters write; a mistake is reported."""

from __future__ import annotations

from pathlib import Path

import pocket
import pytest

from tests.pocket.gate import CHECKS, run_checks
from tools.pocket import POCKET

CHAPTERS = sorted(int(path.stem[2:]) for path in CHECKS.glob("ch*.py"))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_what_a_reader_has_after_a_chapter_works(chapter: int, tmp_path: Path) -> None:
    done = run_checks(chapter, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]


MISTAKES = [
    (4, "printer.py", "if n not in taken", "if n", "ch04.py"),
    (5, "scopes.py", "for child in ir.children(root):", "for child in ir.children(root)[::-1]:", "ch05.py"),
    (5, "scopes.py", "scope = scope[:-1]", "scope = old", "ch05.py"),
    (7, "interpreter.py", "x @ weight.T", "x @ weight", "in <lambda>"),
    (7, "interpreter.py", "pattern.callee is value.callee", "True", "interpreter.py"),
    (8, "visitor.py", "new[expr] = change(map_children(expr, new.get))", "new[expr] = expr", "Assertion"),
    (11, "relations.py", "len(dtypes) == 1", "True", "add takes"),
    (12, "solver.py", 'solver.equate("branches", expr, *branches)', "pass", "assert notes"),
    (
        12,
        "solver.py",
        "require(a not in scopes.post_order(b), ",
        "require(True, ",
        "unified what cannot be equal",
    ),
    (14, "passes.py", "solver.infer_types(module)", "pass", "assert notes"),
    (15, "folding.py", "then_branch if value else else_branch", "then_branch", "ch15.py"),
    (15, "cse.py", "return name, args, str(attrs)", "return name, args", "share_common"),
    (15, "dce.py", "[bound.get(part, part) for part in parts]", "parts", "ch15.py"),
    (16, "fusion.py", "phase == 1 and use == ELEMENTWISE", "phase == 1", "Assertion"),
    (18, "partial.py", 'callee", built) is built', 'callee", built)', "ch18.py"),
    (19, "gradient.py", "minus(ONE, times(y, y))", "minus(ONE, y)", "AssertionError: tanh"),
    (21, "loops.py", "{h} + {top}", "{h} + {left}", "ch21.py"),
    (
        22,
        "c_code.py",
        "(row, first) + around(order, update)",
        "(row, first + around(order, update))",
        "Assertion",
    ),
    (25, "memory.py", "< offset + sizes[var]", "< offset", "Assertion"),
]


@pytest.mark.parametrize(("chapter", "file", "old", "new", "names"), MISTAKES)
def test_a_mistake_is_found(chapter: int, file: str, old: str, new: str, names: str, tmp_path: Path) -> None:
    text = (POCKET / file).read_text("utf-8")
    assert old in text
    done = run_checks(chapter, tmp_path, {file: text.replace(old, new)})
    assert done.returncode != 0
    assert names in done.stderr[-3000:]


OTHERS = [
    (
        11,
        "relations.py",
        """
from itertools import zip_longest

def broadcast(*operands):
    dtypes = {operand.dtype for operand in operands}
    require(len(dtypes) == 1, f"element types differ: {dtypes}")
    shape, from_last = [], [operand.shape[::-1] for operand in operands]
    for extents in zip_longest(*from_last, fillvalue=1):
        larger = set(extents) - {1} or {1}
        require(len(larger) == 1, f"{operands} do not broadcast")
        shape.insert(0, larger.pop())
    return TensorType(tuple(shape), operands[0].dtype)
""",
    ),
    (
        8,
        "visitor.py",
        """
def rewrite(root, change):
    new = {}

    def visit(expr):
        if expr not in new:
            new[expr] = change(map_children(expr, visit))
        return new[expr]

    return visit(root)
""",
    ),
]


@pytest.mark.parametrize(("chapter", "file", "cell"), OTHERS)
def test_a_readers_own_way_passes(chapter: int, file: str, cell: str, tmp_path: Path) -> None:
    text = pocket.merge((POCKET / file).read_text("utf-8"), cell)
    assert "operands[0].dtype" in text or "return visit(root)" in text
    done = run_checks(chapter, tmp_path, {file: text})
    assert done.returncode == 0, done.stderr[-3000:]
