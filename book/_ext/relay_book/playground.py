"""The page of the playground: its scripts, and a policy that forbids requests to other sites."""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape
from typing import Any

from sphinx.application import Sphinx

from .assets import THEME

HOST = 'class="relay-playground"'
SCRIPTS = ("relay_explorer.js", "playground/description.js", "playground/playground.js")


def policy() -> str:
    """Return the page's policy: scripts from the book alone, and one inline script, the theme's, by its
    digest. WebAssembly may be compiled; text may not become code.
    """
    layout = (THEME / "layout.html").read_text("utf-8")
    inline = re.findall(r"<script>(.*?)</script>", layout, re.DOTALL)
    digests = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in inline
    )
    return (
        f"default-src 'none'; script-src 'self' blob: 'wasm-unsafe-eval' {digests}; worker-src blob:; "
        "style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data: blob:; base-uri 'none'; "
        "form-action 'self'"
    )


def _furnish(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if HOST in context.get("body", ""):
        meta = f'<meta http-equiv="Content-Security-Policy" content="{escape(policy())}">'
        context["metatags"] = f"{meta}\n{context.get('metatags', '')}"
        for script in SCRIPTS:
            app.add_js_file(script, loading_method="defer")


def setup(app: Sphinx) -> None:
    """Connect this file's handler."""
    app.connect("html-page-context", _furnish)
