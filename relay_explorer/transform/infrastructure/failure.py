"""Report the failure of a pass of the package: which pass, at which expression, and a file that reproduces
it.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

from ...ir.errors import PassError
from ...ir.expr import Expr
from ...ir.module import IRModule
from ...ir.walk import post_order

if TYPE_CHECKING:
    from pathlib import Path

MAX_LENGTH = 200  # characters of an expression in a message
_PACKAGE = os.path.normpath(os.path.join(os.path.dirname(__file__), "..", ".."))


def is_ours(error: Exception) -> bool:
    """Whether an error was raised in the package itself, rather than in a function that was passed to it."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return at is not None and at.tb_frame.f_code.co_filename.startswith(_PACKAGE)


def failed(name: str, mod: IRModule, error: Exception) -> PassError:
    """Build the error to raise in place of `error`, which the pass called `name` raised on `mod`."""
    at = _expression(mod, error.__traceback__)
    shown = "" if at is None else f", at `{_short(at)}`"
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    file = _write_report(name, mod, error)
    message = "this is a fault of the pass, not of the program"
    help = [message if file is None else f"{message}; please report it with the file {file}"]
    return PassError(
        f"the pass {name} failed{shown}: {reason:.500}", None if at is None else at.span, help=help
    )


def _expression(mod: IRModule, traceback: TracebackType | None) -> Expr | None:
    """Find the expression of the program that the innermost frame of the traceback was working on."""
    own = {id(node) for f in mod.functions.values() if isinstance(f, Expr) for node in post_order(f)}
    innermost: Expr | None = None
    while traceback is not None:
        for value in traceback.tb_frame.f_locals.values():
            if isinstance(value, Expr) and id(value) in own:
                innermost = value
        traceback = traceback.tb_next
    return innermost


def _short(expr: Expr) -> str:
    from ...text import astext

    try:
        text = " ".join(astext(expr, show_meta_data=False).split())
    except Exception:  # the pass may have left it malformed: show its kind
        return type(expr).__name__
    text = re.sub(r"free_var [^;]*; ", "", text.removeprefix('#[version = "0.0.5"] '))
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 1] + "…"


def _write_report(name: str, mod: IRModule, error: Exception) -> Path | None:
    """Write a file with the program and the command that reproduces the failure; return None if no file can
    be written.
    """
    import hashlib

    try:
        text = mod.astext()
        path = _private_folder() / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.relay"
        version, _, program = text.partition("\n")
        _write(
            path,
            f"{version}\n"
            f"// The pass {name} fails on this program: {type(error).__name__}.\n"
            "// To see it again:\n"
            "//   from relay_explorer import relay\n"
            f'//   relay.transform.{name}()(relay.parse(open("{path.name}").read()))\n'
            f"{program}\n",
        )
    except Exception:  # the disk is full, or the program cannot be printed
        return None
    return path


def _private_folder() -> Path:
    """Return a folder for temporary files that only this user can write to.

    Its name can be guessed, so another user may have created it first; a new folder is created then.
    """
    import tempfile
    from pathlib import Path

    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"relay-explorer-{user}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    state = folder.lstat()  # of a symbolic link itself
    if stat.S_ISDIR(state.st_mode) and state.st_uid == user and not state.st_mode & 0o077:
        return folder
    return Path(tempfile.mkdtemp(prefix="relay-explorer-"))


def _write(path: Path, text: str) -> None:
    """Write a file that only this user can read. Raise an OSError if the path is a symbolic link."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
