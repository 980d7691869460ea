"""Register the theme, copy the explorers' bundle into the site, and load it on pages with explorers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from relay_explorer import _project

THEME = Path(__file__).parents[2] / "_theme" / "relay_book"
BUNDLE = Path(_project.__file__).parent / "widgets" / "static" / "relay_explorer.js"

# The bundle's last statement, as esbuild writes it: `export{a as default,b as mount};`.
_EXPORTS = re.compile(r"export\s*\{[^{}]*\};?\s*(//[^\n]*\s*)?$")


def classic_script(module: str) -> str:
    """Convert the bundle to a classic script, because a page that was opened as a file may not load an ES
    module. Raise an ExtensionError if the bundle is not one self-contained module.
    """
    body, count = _EXPORTS.subn("", module)
    if count != 1 or "import.meta" in body:
        raise ExtensionError(
            "relay_explorer.js is not one self-contained module that ends in its exports; "
            "build it with `make frontend`"
        )
    return f"(()=>{{{body}\n}})();\n"


def _add_scripts(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if 'class="relay-explorer"' in context.get("body", ""):
        if not BUNDLE.is_file():
            raise ExtensionError(
                f"{page} holds an explorer, and there is no bundle; build it with `make frontend`"
            )
        app.add_js_file("relay_explorer.js", loading_method="defer")


def _write_bundle(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html" and BUNDLE.is_file():
        target = Path(app.outdir) / "_static" / "relay_explorer.js"
        target.write_text(classic_script(BUNDLE.read_text("utf-8")), "utf-8")


def setup(app: Sphinx) -> None:
    """Connect this file's handlers."""
    app.add_html_theme("relay_book", str(THEME))
    app.connect("html-page-context", _add_scripts)
    app.connect("build-finished", _write_bundle)
    app.add_js_file("book.js", loading_method="defer")
