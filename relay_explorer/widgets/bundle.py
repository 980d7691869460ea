"""The front end's bundle: as a module, as a script, and compressed for outputs and widgets of notebooks."""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from functools import cache
from pathlib import Path

STATIC = Path(__file__).parent / "static"

# The bundle's last statement, as esbuild writes it: `export{a as default,b as mount};`.
_EXPORTS = re.compile(r"export\s*\{[^{}]*\};?\s*(//[^\n]*\s*)?$")


@cache
def module(name: str = "relay_explorer.js") -> str:
    """Return a file of the front end; the bundle itself is an ES module."""
    try:
        return (STATIC / name).read_text("utf-8")
    except FileNotFoundError:
        raise RuntimeError(
            "the explorers' bundle is missing from this installation: `make frontend` builds it"
        ) from None


@cache
def script() -> str:
    """Return the bundle as a classic script: unlike a module, it also runs from a file, and in outputs whose
    host inserts them as text.
    """
    code, count = _EXPORTS.subn("", module())
    if count != 1 or "import.meta" in code:
        raise RuntimeError(
            "relay_explorer.js is not one module that ends in its exports: build it with `make frontend`"
        )
    # Inside a script element these would end or hide it; in JavaScript strings and expressions the backslash
    # has no effect.
    code = re.sub(r"</(script)", r"<\\/\1", code, flags=re.IGNORECASE).replace("<!--", "<\\!--")
    return f"(()=>{{{code}\n}})();"


@cache
def digest() -> str:
    """Return the name of this version of the bundle in a page: outputs of one notebook may have several."""
    return hashlib.sha256(script().encode()).hexdigest()[:16]


@cache
def compressed() -> str:
    """Return `script()` as raw DEFLATE data in base64, 0.45 times as long."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(packer.compress(script().encode()) + packer.flush()).decode()


@cache
def holder() -> str:
    """Return the script of an output that carries the bundle, and loads it unless the page has it."""
    return f'(()=>{{{module("holder.js")}relayExplorerHolder.load("{digest()}","{compressed()}")}})();'


def reference() -> str:
    """Return the script of an output that uses the bundle of another one."""
    return module("reference.js")
