"""Imports go one way: a folder imports only from itself and from those above it, lazily too."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import tools.layers

Names = tuple[str, ...]  # the parts of a module's name
Imports = Callable[[ast.Module, Names, Names], Iterator[tuple[int, str]]]
ROOT = ("relay_explorer",)
LOWER = ("relay_explorer", "lower")
PACKAGE = Path(__file__).parents[2] / "relay_explorer"

LAYERS = [layer.name for layer in tools.layers.LAYERS]
ROOMS = tools.layers.ROOMS  # of `lower/`


# Imports that go up a layer when a function runs, by file and layer, each with its reason. Keep it short: a
# layer above registers itself with the one below (see `ir/hooks.py`).
LAZY: dict[tuple[str, str], str] = {}

# Imports of modules of the package whose names are computed, by file, each with its reason.
COMPUTED = {
    "__init__.py": "the public names are loaded when they are first used",
    "ir/hooks.py": "expressions print themselves and find operators; the layers above register how",
    "ops/lazy.py": "what an operator's lowering or gradient needs is loaded when it is used; ops only",
    "frontends/__init__.py": "an importer is loaded when it is first used; frontends only",
    "frontends/aten/registry.py": "the converters are loaded when they are first looked up; frontends only",
    "frontends/base/require.py": "a framework's package is imported when a model needs it; none of our own",
    "views/registry.py": "a view is loaded when it is first drawn; views only",
    "interop/require.py": "networkx, graphviz and matplotlib are imported when used; none of our own",
    "compat/hook.py": "old code's `import tvm` is answered by this package; compat is above every layer",
    "compat/namespace.py": "old code's `tvm.…` is answered by this package; compat is above every layer",
}


def package_imports(node: ast.AST, package: Names, root: Names = ROOT) -> Iterator[str]:
    """Yield the layers in `root` that one statement imports."""
    depth = len(root)
    if isinstance(node, ast.Import):
        for alias in node.names:
            parts = alias.name.split(".")
            if tuple(parts[:depth]) == root and len(parts) > depth:
                yield parts[depth]
    elif isinstance(node, ast.ImportFrom):
        base = list(package[: len(package) - node.level + 1]) if node.level else []
        parts = base + (node.module or "").split(".") if node.module else base
        if tuple(parts[:depth]) == root:
            yield from [parts[depth]] if len(parts) > depth else [alias.name for alias in node.names]


def imported(tree: ast.Module, package: Names, root: Names = ROOT) -> Iterator[tuple[int, str]]:
    """Yield the layers that a module imports at its top level, not those that a function imports lazily."""
    for node in tree.body:
        for name in package_imports(node, package, root):
            yield node.lineno, name  # a statement


def imported_lazily(tree: ast.Module, package: Names, root: Names = ROOT) -> Iterator[tuple[int, str]]:
    """Yield the layers that functions of a module import when they run; COMPUTED where the name is
    computed.
    """
    skipped = set(tree.body)
    for block in ast.walk(tree):
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            skipped.update(block.body)
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node not in skipped:
            for name in package_imports(node, package, root):
                yield node.lineno, name
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            called = called_module(node.args[0], package, root)
            if called is not None:
                yield node.lineno, called


def called_module(argument: ast.expr, package: Names, root: Names = ROOT) -> str | None:
    """Return the layer that `import_module(argument)` imports; None outside of `root`; "computed" if
    unknown.
    """
    depth = len(root)
    if isinstance(argument, ast.Call) and isinstance(argument.func, ast.Attribute):
        argument = argument.func.value  # as in f"…".rstrip(".")
    first = argument.values[0] if isinstance(argument, ast.JoinedStr) else argument
    if isinstance(first, ast.FormattedValue):
        own = len(package) > depth and ast.unparse(first.value) == "__name__"
        return package[depth] if own else "computed"
    if not isinstance(first, ast.Constant):
        return "computed"
    name = str(first.value)
    level = len(name) - len(name.lstrip("."))
    parts = [*package[: len(package) - level + 1], *name[level:].split(".")] if level else name.split(".")
    if tuple(parts[:depth]) != root:
        return None
    return parts[depth] if len(parts) > depth and parts[depth] else "computed"


def upward(
    source: str, path: str, imports: Imports, root: Names = ROOT, layers: Sequence[str] = LAYERS
) -> list[tuple[int, str]]:
    """List the imports in a file, at a path relative to the package, from below its own layer: line and
    layer.
    """
    parts = ("relay_explorer", *Path(path).with_suffix("").parts)
    name = parts[len(root)]
    own = len(layers) if name == "__init__" else layers.index(name)
    return [
        (line, name)
        for line, name in imports(ast.parse(source), parts[:-1], root)
        if name == "computed" or (name in layers and layers.index(name) > own)
    ]


def violations(source: str, path: str) -> list[str]:
    """List the imports in a file from below its own layer that run when it is loaded, as messages."""
    return [
        f"{path}:{line} imports {name}, which is below it" for line, name in upward(source, path, imported)
    ]


def files() -> list[tuple[str, str]]:
    """Every file of the package: its path, and its text."""
    paths = [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__main__.py"]
    return [(path.relative_to(PACKAGE).as_posix(), path.read_text("utf-8")) for path in paths]


def test_every_layer_is_listed() -> None:
    result = {
        path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert result - {"__init__", "__main__"} <= set(LAYERS)


def test_imports_go_one_way() -> None:
    assert not [line for path, source in files() for line in violations(source, path)]


def test_lazy_imports_go_one_way() -> None:
    result = {
        (path, name): f"{path}:{line} imports {name} lazily, which is below it"
        for path, source in files()
        for line, name in upward(source, path, imported_lazily)
    }
    allowed = {*LAZY, *((path, "computed") for path in COMPUTED)}
    assert not [message for key, message in result.items() if key not in allowed]
    assert allowed <= result.keys(), "an exception that nothing needs any more"


def test_every_room_of_lower_is_listed() -> None:
    rooms = {path.stem for path in (PACKAGE / "lower").iterdir() if path.suffix == ".py" or path.is_dir()}
    assert rooms - {"__init__", "__pycache__"} == set(ROOMS)


@pytest.mark.parametrize("imports", [imported, imported_lazily])
def test_imports_between_the_rooms_of_lower_go_one_way(imports: Imports) -> None:
    assert not [
        f"{path}:{line} imports {name}, which is below it"
        for path, source in files()
        if path.startswith("lower/")
        for line, name in upward(source, path, imports, LOWER, ROOMS)
    ]


def test_every_hook_is_provided() -> None:
    from relay_explorer.ir.hooks import PROVIDERS, hook, provide

    assert all(callable(hook(name)) for name in PROVIDERS)
    with pytest.raises(KeyError, match="no layer asks for `paint`"):
        provide("paint", print)


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


def test_a_wrong_import_between_rooms_is_found() -> None:
    source = "from ..link.native import link\ndef f():\n    from .. import link\n"
    assert upward(source, "lower/codegen/search.py", imported, LOWER, ROOMS) == [(1, "link")]
    assert upward(source, "lower/codegen/search.py", imported_lazily, LOWER, ROOMS) == [(3, "link")]
    assert upward(source, "lower/build.py", imported, LOWER, ROOMS) == []


@pytest.mark.parametrize(
    "line",
    [
        "from relay_explorer.text import parse",
        "from ..text import parse",
        "from .. import text",
        "import_module('relay_explorer.text')",
        "importlib.import_module('..text.parser', __package__)",
        "importlib.import_module(f'relay_explorer.text.{name}')",
    ],
)
def test_a_wrong_lazy_import_is_found(line: str) -> None:
    source = f"def f():\n    {line}\n"
    assert violations(source, "ir/expr.py") == []
    assert upward(source, "ir/expr.py", imported_lazily) == [(2, "text")]


def test_a_computed_import_is_found() -> None:
    source = "def f(name):\n    importlib.import_module(name)\n"
    assert upward(source, "ir/expr.py", imported_lazily) == [(2, "computed")]


def test_imports_for_type_checkers_are_not_counted() -> None:
    source = "if TYPE_CHECKING:\n    from ..text import parse\n"
    assert upward(source, "ir/expr.py", imported_lazily) == []
