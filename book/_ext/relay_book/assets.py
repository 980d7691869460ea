"""Puts the theme and the explorers' bundle into the site, and onto the pages that need them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from relay_explorer import _project
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

THEME = Path(__file__).parents[2] / "_theme"
BUNDLE = Path(_project.__file__).parent / "widgets" / "static" / "relay_explorer.js"

# Ahead of the bundle's own last statement, esbuild writes `export{a as default,b as mount};`.
_EXPORTS = re.compile(r"export\s*\{[^{}]*\};?\s*(//[^\n]*\s*)?$")


def classic_script(module: str) -> str:
    """The bundle as a classic script: browsers refuse to load an ES module from a page that was opened as a file."""
    body, count = _EXPORTS.subn("", module)
    if count != 1 or re.search(r"\bimport\s*(\(|[\w{*\"'])", body) or "import.meta" in body:
        raise ExtensionError(
            "relay_explorer.js is not one self-contained module that ends in its exports; "
            "build it with `make frontend`"
        )
    return f"(()=>{{{body}\n}})();\n"


def _set_address(app: Sphinx, config: Config) -> None:
    """Point the launch buttons at the repository's public address, which only `_project` names."""
    config.html_theme_options["repository_url"] = _project.REPOSITORY
    config.html_theme_options["repository_branch"] = _project.TAG


def _add_scripts(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if 'class="relay-explorer"' in context.get("body", ""):
        app.add_js_file("relay_explorer.js", loading_method="defer")


def _copy(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for folder in ("fonts", "katex"):
        shutil.copytree(THEME / folder, static / folder, dirs_exist_ok=True)
    for name in ("book.css", "book.js"):
        shutil.copyfile(THEME / name, static / name)
    (static / "relay_explorer.js").write_text(classic_script(BUNDLE.read_text("utf-8")), "utf-8")


def setup(app: Sphinx) -> None:
    """Connect this file's handlers."""
    app.connect("config-inited", _set_address)
    app.connect("html-page-context", _add_scripts)
    app.connect("build-finished", _copy)
    app.add_css_file("book.css", priority=900)
    app.add_js_file("book.js", loading_method="defer")
