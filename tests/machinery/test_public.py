"""Public names: those of `relay_explorer`, and those that the packages in its docstring list in `__all__`."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

import relay_explorer

PACKAGE = Path(relay_explorer.__file__).parent
NAMED = re.search(
    r"in the `__all__` of these packages: (.*?)\. ", (relay_explorer.__doc__ or "").replace("\n", " ")
)
PUBLIC = re.findall(r"`(\w+)`", NAMED[1]) if NAMED else []


def own_names(path: Path) -> list[str]:
    """Return the private names of other packages that a module imports: `_name`, or a module with such a
    name.
    """
    package = ("relay_explorer", *path.relative_to(PACKAGE).parts[:-1])
    names = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.ImportFrom) or (not node.level and not _ours(node.module)):
            continue
        base = package[: len(package) - node.level + 1] if node.level else ()
        full = (*base, *(node.module or "").split(".")) if node.module else base
        for alias in node.names:
            parts = (*full, alias.name)
            for at, part in enumerate(parts):
                private = part.startswith("_") and not part.startswith("__")
                if private and package[: min(at, 2)] != parts[: min(at, 2)]:
                    names.append(f"{path.name}:{node.lineno} {'.'.join(parts)}")
    return names


def _ours(module: str | None) -> bool:
    return (module or "").partition(".")[0] == "relay_explorer"


def test_every_package_with_a_public_face_is_named() -> None:
    faces = {
        path.parent.name
        for path in PACKAGE.glob("*/__init__.py")
        if "\n__all__ = " in path.read_text("utf-8")
    }
    assert set(PUBLIC) == faces


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_exist(name: str) -> None:
    module = importlib.import_module(f"relay_explorer.{name}")
    assert [public for public in module.__all__ if not hasattr(module, public)] == []


def test_public_names_of_the_package_exist() -> None:
    assert [name for name in relay_explorer.__all__ if not hasattr(relay_explorer, name)] == []
    assert dir(relay_explorer) == sorted(relay_explorer.__all__)


def test_private_names_stay_within_their_package() -> None:
    assert [name for path in sorted(PACKAGE.rglob("*.py")) for name in own_names(path)] == []
