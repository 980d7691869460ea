"""Imports go one way: when it is loaded, a folder imports only from itself and from those above it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "relay_explorer"

# As in CONTRIBUTING; the façade `relay` stands ahead of what is built with it.
LAYERS = [
    "_project", "ir", "ops", "text", "typing", "prelude", "analysis", "dataflow_pattern", "transform",
    "quantize", "execute", "lower", "frontends", "relax", "_missing", "relay", "models", "testing", "views",
    "widgets", "explorer", "grading", "compat", "cli",
]  # fmt: skip


def imported(tree: ast.Module, package: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """The layers that a module imports at its top level, not those that a function imports lazily."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                if parts[0] == "relay_explorer" and len(parts) > 1:
                    yield node.lineno, parts[1]
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            parts = base + (node.module or "").split(".") if node.module else base
            if parts and parts[0] == "relay_explorer":
                names = [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]
                for name in names:
                    yield node.lineno, name


def violations(source: str, path: str) -> list[str]:
    """What a file, at a path relative to the package, imports from below its own layer."""
    parts = Path(path).with_suffix("").parts
    if parts[0] == "__init__":
        return []
    own = LAYERS.index(parts[0])
    package = ("relay_explorer", *parts[:-1])
    return [
        f"{path}:{line} imports {name}, which is below it"
        for line, name in imported(ast.parse(source), package)
        if name in LAYERS and LAYERS.index(name) > own
    ]


def test_every_layer_is_listed() -> None:
    found = {
        path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert found - {"__init__", "__main__"} <= set(LAYERS)


def test_imports_go_one_way() -> None:
    wrong = [
        line
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.name != "__main__.py"
        for line in violations(path.read_text("utf-8"), path.relative_to(PACKAGE).as_posix())
    ]
    assert not wrong


@pytest.mark.parametrize(
    "line",
    [
        "from relay_explorer.text import parse",
        "from ..text import parse",
        "import relay_explorer.text.parser",
        "from .. import text",
    ],
)
def test_a_wrong_import_is_found(line: str) -> None:
    assert violations(line, "ir/expr.py") == ["ir/expr.py:1 imports text, which is below it"]


def test_a_lazy_import_is_allowed() -> None:
    assert violations("def f():\n    from ..text import parse\n", "ir/expr.py") == []
