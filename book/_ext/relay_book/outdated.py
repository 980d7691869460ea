"""Execute every page again when the package has changed, because it computes the outputs in the pages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from relay_explorer import _project


def fingerprint(package: Path) -> str:
    """Hash the package's Python sources, grammars and Relay programs."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*")):
        if path.suffix in {".py", ".lark", ".relay"}:
            digest.update(path.relative_to(package).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _outdated(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> Iterable[str]:
    now = fingerprint(Path(_project.__file__).parent)
    state: dict[str, Any] = env.__dict__.setdefault("relay_book", {})
    if state.get("package") == now:
        return []
    state["package"] = now
    return [page for page in env.found_docs if _runs(Path(env.doc2path(page)))]


def _runs(source: Path) -> bool:
    return "{code-cell}" in source.read_text("utf-8")


def setup(app: Sphinx) -> None:
    """Connect this file's handlers."""
    app.connect("env-get-outdated", _outdated)
