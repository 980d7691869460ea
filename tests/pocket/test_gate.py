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
    (4, "printer.py", "for name, value in attrs.items()", "for name, value in []", "attributes are lost"),
    (4, "ir.py", '"params", "var", "pattern"', '"params", "pattern"', "the children of Let"),
    (
        5,
        "scopes.py",
        "[e for e in order if isinstance(e, ir.Var) and e not in bound]",
        "[]",
        "free variables",
    ),
    (5, "scopes.py", "and child is not expr.condition", "", "an operand is not a name"),
    (
        5,
        "scopes.py",
        "(ir.Function, ir.Clause))\n    return",
        "(ir.Function,))\n    return",
        "is used where it is not defined",
    ),
    (6, "interpreter.py", ":: strides[0], :: strides[1]", ":: strides[1], :: strides[0]", "nn.conv2d"),
    (6, "interpreter.py", "x - x.max(axis, keepdims=True)", "x - x.max()", "nn.softmax"),
    (5, "scopes.py", "for child in ir.children(root):", "for child in ir.children(root)[::-1]:", "ch05.py"),
    (5, "scopes.py", "scope = scope[:-1]", "scope = old", "ch05.py"),
    (7, "interpreter.py", "x @ weight.T", "x @ weight", "in <lambda>"),
    (7, "interpreter.py", "pattern.callee is value.callee", "True", "interpreter.py"),
    (7, "interpreter.py", "[0].body, frame", "[-1].body, frame", "and not [0, 1, 5]"),
    (8, "visitor.py", "return new[root]", "return change(new[root])", "sees each node once"),
    (8, "visitor.py", "new[expr] = change(map_children(expr, new.get))", "new[expr] = expr", "Assertion"),
    (9, "importer.py", "if missing := used - converters.keys()", "if missing := set()", "aten."),
    (9, "importer.py", "number(epsilon)", "number(1.0)", "the results differ"),
    (9, "importer.py", "node.name in weights", "False", "the weights are constants"),
    (11, "relations.py", "require(x.shape[1] == inputs, ", "require(True, ", "nn.conv2d takes"),
    (11, "relations.py", "len(dtypes) == 1", "True", "add takes"),
    (12, "solver.py", 'solver.equate("branches", expr, *branches)', "pass", "infer_types accepts"),
    (
        12,
        "solver.py",
        "require(a not in scopes.post_order(b), ",
        "require(True, ",
        "unified what cannot be equal",
    ),
    (12, "solver.py", "return {e: solver.resolve(t)", "return {} and {e: solver.resolve(t)", "no type of"),
    (12, "solver.py", 'require(not solver.relations, "too little is known")', "pass", "infer_types accepts"),
    (14, "passes.py", "solver.infer_types(module)", "pass", "no error"),
    (15, "folding.py", "then_branch if value else else_branch", "then_branch", "ch15.py"),
    (15, "cse.py", "return name, args, str(attrs)", "return name, args", "share_common"),
    (15, "cse.py", "case ir.Tuple() | ir.TupleGetItem()", "case ir.Tuple()", "a field is taken out twice"),
    (15, "cse.py", "case ir.Tuple() | ir.TupleGetItem()", "case ir.TupleGetItem()", "not all is shared"),
    (15, "cse.py", "return str(value.dtype), value.shape, ", "return ", "different element types"),
    (15, "dce.py", "[bound.get(part, part) for part in parts]", "parts", "ch15.py"),
    (16, "fusion.py", "phase == 1 and use == ELEMENTWISE", "phase == 1", "Assertion"),
    (18, "partial.py", 'callee", built) is built', 'callee", built)', "ch18.py"),
    (18, "partial.py", "if all(isinstance(part, ir.Var) for part in names)", "if 1", "has no value"),
    (19, "gradient.py", "minus(ONE, times(y, y))", "minus(ONE, y)", "AssertionError: tanh"),
    (21, "loops.py", "{h} + {top}", "{h} + {left}", "ch21.py"),
    (21, "loops.py", '"({} - {})"', '"({} - y)"', "the loops do not compile"),
    (21, "loops.py", "shape[axis + 1 :]", "shape[axis:]", "the loops compute something else"),
    (21, "loops.py", "top + height + bottom", "height", "outside of a buffer"),
    (22, "c_code.py", "a > b || a != a ? a : b", "a > b ? a : b", "should be nan"),
    (
        22,
        "c_code.py",
        "(row, first) + around(order, update)",
        "(row, first + around(order, update))",
        "is wrong, by by_rows",
    ),
    (25, "memory.py", "< offset + sizes[var]", "< offset", "overlap"),
    (25, "memory.py", "lives[other][1] < begin or end < lives[other][0]", "False", "needed at once"),
    (25, "executor.py", 'np.asarray(x, "float32", order="C")', 'np.asarray(x, "float32")', "another order"),
]


@pytest.mark.parametrize(("chapter", "file", "old", "new", "names"), MISTAKES)
def test_a_mistake_is_found(chapter: int, file: str, old: str, new: str, names: str, tmp_path: Path) -> None:
    text = (POCKET / file).read_text("utf-8")
    assert old in text
    done = run_checks(chapter, tmp_path, {file: text.replace(old, new)})
    assert done.returncode != 0
    assert names in done.stderr[-3000:]


def test_checks_that_take_too_long_say_where_they_were(tmp_path: Path) -> None:
    text = (POCKET / "scopes.py").read_text("utf-8").replace("if root not in order:", "if True:")
    done = run_checks(5, tmp_path, {"scopes.py": text}, timeout=5)
    assert done.returncode != 0
    assert "in post_order" in done.stderr
    assert "ran longer than 5 seconds" in done.stderr


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
    (
        4,
        "printer.py",
        """
def name_of(expr, block):
    if expr not in block.names:
        stem, number = getattr(expr, "name", ""), 0
        while (name := f"%{stem}_{number}" if stem else f"%{number}") in block.names.values():
            number += 1
        block.names[expr] = name
    return block.names[expr]
""",
    ),
    (
        14,
        "passes.py",
        """
def sequential(*passes, verbose=False):
    def pipeline(module):
        for step in passes:
            before, module = printer.show(module), step(module)
            try:
                solver.infer_types(module)
            except (TypeError, ValueError) as error:
                error.add_note(f"The types are wrong after {step.__name__}.")
                raise
            if verbose and printer.show(module) != before:
                print("After", step.__name__)
                print(printer.show(module))
        return module

    return pipeline
""",
    ),
    (19, "gradient.py", 'RULES |= {"sqrt": lambda dy, y, x: [over(dy, plus(y, y))]}\n'),
    (
        21,
        "loops.py",
        """
SUM = "{} = 0.0f;", "{0} = {0} + ({1});"
TEMPLATES |= {"sigmoid": "(1.0f / (1.0f + expf(-{})))"}


def windows(kernel, x, fill, strides=(1, 1), padding=(0, 0, 0, 0)):
    def place(n, step, offset):
        return f"({n} * {step} + {offset})"

    if not any(padding):
        return lambda n, c, h, w, a, b: x[n, c, place(h, strides[0], a), place(w, strides[1], b)]
    top, left, bottom, right = padding
    n, c, height, width = x.shape
    shape = n, c, top + height + bottom, left + width + right
    image = kernel.store(Tensor(shape, lambda *index: fill))
    inner = Tensor(x.shape, lambda n, c, h, w: image[n, c, place(h, 1, top), place(w, 1, left)])
    kernel.stages.append((inner, x))
    return lambda n, c, h, w, a, b: image[n, c, place(h, strides[0], a), place(w, strides[1], b)]


def read(buffer, shape):
    def element(*index):
        place = "0"
        for i, extent in zip(index, shape):
            place = f"({place} * {extent} + {i})"
        return f"{buffer}[{place}]"

    return Tensor(shape, element)


def around(axes, lines):
    for i, extent in reversed(axes):
        lines = [f"for (int {i}=0; {i} < {extent}; ++{i})", "{", *lines, "}"]
    return lines
""",
    ),
    (22, "c_code.py", 'FLAGS = "-O2 -march=native -shared -fPIC -x c - -o kernels.so -lm"\n'),
    (
        25,
        "memory.py",
        """
def plan(lives, sizes):
    offsets = {}
    for var in sorted(lives, key=lambda var: -lives[var][0]):
        begin, end = lives[var]
        at_once = [n for n in offsets if lives[n][0] <= end and begin <= lives[n][1]]
        offset = 0
        for other in sorted(at_once, key=offsets.get):
            if offset + sizes[var] > offsets[other]:
                offset = max(offset, offsets[other] + sizes[other])
        offsets[var] = offset
    return offsets
""",
    ),
]


@pytest.mark.parametrize(("chapter", "file", "cell"), OTHERS)
def test_a_readers_own_way_passes(chapter: int, file: str, cell: str, tmp_path: Path) -> None:
    text = pocket.merge((POCKET / file).read_text("utf-8"), cell)
    assert cell.strip().splitlines()[-1] in text
    done = run_checks(chapter, tmp_path, {file: text})
    assert done.returncode == 0, done.stderr[-3000:]
