"""A view as HTML: an element for a page that loads the bundle itself, an output of a notebook, and a
standalone file. All text that comes from a program is escaped.
"""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape

from .. import _project
from ..ops.anchors import addresses
from ..views.format import TokenClass, View
from ..views.picture import html as picture
from . import bundle

_PAGE_STYLE = (
    ":root{color-scheme:light dark;--rx-cap:calc(100svh - 24px)}"
    "body{margin:0;padding:12px;font:15px/1.5 system-ui,sans-serif}"
    ".relay-explorer{max-width:1500px;margin:0 auto}pre{font:12.5px/1.5 ui-monospace,monospace}"
)


def script_json(text: str) -> str:
    """Escape JSON for a `script` element, so that no `<` in it can end the element."""
    return text.replace("<", "\\u003c")


def element(view: View, name: str, state: str = "", book: bool = False, kind: str = "relay-explorer") -> str:
    """Return the explorer's HTML element: its data, and the picture that is shown until the bundle draws.
    `name` identifies the explorer in addresses. In the `book`, operators link to their entries in its
    reference. The bundle draws elements of the class (`kind`) `relay-explorer`.
    """
    more = f' data-state="{escape(state)}"' if state else ""
    if not book:
        more += f' data-playground="{_project.site_address("book/playground.html")}"'
    else:
        more += f' data-operators="{escape(json.dumps(_operators(view), separators=(",", ":")))}"'
    return (
        f'<div class="{kind}" id="rx-{escape(name)}"{more}>'
        f'<script type="application/json">{script_json(view.to_json())}</script>'
        f"{picture(view)}</div>"
    )


def _operators(view: View) -> dict[str, str]:
    """Return the entries in the book's reference of the operators that a view's rows name."""
    return addresses(
        t.text
        for rows in view.programs()
        for row in rows
        for t in row.tokens
        if t.kind == TokenClass.OPERATOR
    )


def output(view: View, name: str, state: str = "", carries: bool = True) -> str:
    """Return the element and a script, which a notebook stores as the output of a cell. It needs no network
    and no kernel. The script `carries` the bundle, or uses that of another output.
    """
    code = bundle.holder() if carries else bundle.reference()
    return f"{element(view, name, state)}<script>{code}</script>"


def standin(view: View, name: str, state: str = "", carries: bool = True) -> str:
    """Return an output like `output`, whose explorer is drawn only where the page does not show the live
    widget called `name`. Where no script runs, its picture is shown.
    """
    code = bundle.holder() if carries else bundle.reference()
    code += bundle.module("standin.js")
    return f"{element(view, name, state, kind='relay-explorer-standin')}<script>{code}</script>"


def page(view: View, name: str, state: str = "") -> str:
    """Return a self-contained HTML document. Its own security policy forbids every request, and every script
    except the bundle.
    """
    code = bundle.script()
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(view.title)}</title>\n<style>{_PAGE_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"{element(view, name, state)}\n</main>\n<script>{code}</script>\n</body>\n</html>\n"
    )
