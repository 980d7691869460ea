"""Passes ask operators for traits; no pass lists operators by name.

A list of names silently leaves out the next operator that has the same property, a user's in particular. A
table of rewrite rules is no such list: each rule is about the one operator that it stands at.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from relay_explorer.ir import Op

PACKAGE = Path(__file__).parents[2] / "relay_explorer"
FOLDERS = ("analysis", "dataflow_pattern", "execute", "lower", "transform", "typing", "views", "widgets")
NAMES = frozenset(Op.list_op_names())

# Lists of words that happen to be operators' names, by file and first word, each with its reason.
ALLOWED = {
    ("execute/aot/computed.py", "round"): "values of the attribute `rounding_method`",
    ("lower/schedules/inlining_cost.py", "sin"): "TVM's intrinsics, in expressions of kernels",
    ("lower/schedules/inlining_cost.py", "floor"): "TVM's intrinsics, in expressions of kernels",
}


def strings(nodes: list[ast.expr | None]) -> list[str]:
    """Return the string literals among some expressions."""
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def is_rule(value: ast.expr) -> bool:
    """Whether an entry of a table is a function, as a rewrite rule is, or several."""
    if isinstance(value, (ast.List, ast.Tuple)):
        return bool(value.elts) and all(map(is_rule, value.elts))
    return isinstance(value, (ast.Name, ast.Attribute, ast.Call, ast.Lambda))


def words(node: ast.AST) -> list[str]:
    """Return the strings that one expression or pattern lists."""
    match node:
        case ast.Set() | ast.List() | ast.Tuple():
            return strings([*node.elts])
        case ast.Dict() if not all(map(is_rule, node.values)):
            return strings(node.keys)
        case ast.Call(func=ast.Attribute(attr="split", value=ast.Constant(value=str() as text))):
            return text.split()
        case ast.BoolOp(op=ast.Or()):
            compared = [value for value in node.values if isinstance(value, ast.Compare)]
            return strings([other for value in compared for other in value.comparators])
        case ast.MatchOr():
            return strings([part.value for part in node.patterns if isinstance(part, ast.MatchValue)])
    return []


def name_lists(source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lists of two or more operator names in a file, each with its line."""
    for node in ast.walk(ast.parse(source)):
        names = [word for word in words(node) if word in NAMES]
        if len(names) > 1:
            yield getattr(node, "lineno", 0), names


def found() -> Iterator[tuple[str, int, list[str]]]:
    for folder in FOLDERS:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            for line, names in name_lists(path.read_text("utf-8")):
                yield path.relative_to(PACKAGE).as_posix(), line, names


def test_no_pass_lists_operators_by_name() -> None:
    wrong = [
        f"{file}:{line} lists {', '.join(names)}"
        for file, line, names in found()
        if (file, names[0]) not in ALLOWED
    ]
    assert not wrong, "give the operators a trait, and ask for it (`ir.declaration.Trait`):\n" + "\n".join(
        wrong
    )


def test_every_exception_is_needed() -> None:
    assert {(file, names[0]) for file, _, names in found()} >= set(ALLOWED)


@pytest.mark.parametrize(
    "source",
    [
        'POOLS = ("nn.max_pool2d", "nn.avg_pool2d")',
        'KINDS = {"zeros": 0, "ones": 1}',
        'RESHAPES = "reshape squeeze".split()',
        'if name in {"add", "subtract"}: pass',
        'if name == "add" or name == "subtract": pass',
        'match name:\n    case "zeros" | "ones": pass',
        'rules.update(dict.fromkeys(["nn.relu", "tanh"], rule))',
    ],
)
def test_lists_are_found(source: str) -> None:
    assert [line for line, _ in name_lists(source)]


@pytest.mark.parametrize(
    "source",
    [
        'RULES = {"nn.dense": rules.dense, "add": [twice, binomial], "nn.relu": scaled(2)}',
        'call("multiply", x, call("rsqrt", y))',
        'if name == "add" and other == "multiply": pass',
        'WORDS = ("row", "column")',
    ],
)
def test_rules_are_no_lists(source: str) -> None:
    assert not list(name_lists(source))
