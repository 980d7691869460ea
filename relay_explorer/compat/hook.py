"""Choose the `tvm` that `import tvm` imports: the replacement in old code, the installed one in this package
and in TVM itself.

The importing module decides, so both can be used in one process. The replacement is
`relay_explorer.compat.tvm`. It is never in `sys.modules` under the name `tvm`, which remains that of the
installed TVM, whose own modules import each other by that name.
"""

from __future__ import annotations

import builtins
import importlib
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any

from .. import _missing as missing
from . import old_numpy

OURS = f"{__package__}.tvm"
# Top-level packages whose own imports of `tvm` mean the installed one.
EXEMPT = frozenset({"relay_explorer", "tvm", "tvm_ffi"})

_import = builtins.__import__
_import_module = importlib.import_module


def install() -> None:
    """Make `import tvm` in old code import the replacement, and restore the names that NumPy had at the time.
    Doing so twice changes nothing.
    """
    old_numpy.give_back()
    builtins.__import__ = _import_for_old_code
    importlib.import_module = _import_module_for_old_code


def uninstall() -> None:
    """Undo `install`; modules that have been imported stay as they are."""
    old_numpy.take_away()
    builtins.__import__ = _import
    importlib.import_module = _import_module


def installed() -> bool:
    """Whether old code imports the replacement."""
    return builtins.__import__ is _import_for_old_code


def real_tvm(name: str = "tvm") -> types.ModuleType:
    """Return the installed TVM, or one of its modules (`"tvm.relax"`), whatever `import tvm` returns
    elsewhere.

    Raise an ImportError that names a remedy where TVM is not installed.
    """
    if name.partition(".")[0] != "tvm":
        raise ValueError(f"{name!r} is not a module of TVM")
    try:
        return _import_module(name)
    except ModuleNotFoundError as error:
        if error.name != "tvm":
            raise
        raise ImportError("TVM is not installed here: pip install apache-tvm", name="tvm") from None


def _is_old_code(importer: object) -> bool:
    return str(importer or "").partition(".")[0] not in EXEMPT


def _is_tvm(name: str) -> bool:
    return name == "tvm" or name.startswith("tvm.")


def _ours(name: str) -> types.ModuleType:
    """Import the replacement of TVM's module `name`."""
    mapped = OURS + name.removeprefix("tvm")
    try:
        return _import_module(mapped)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(OURS):
            raise
        raise missing.module_error("tvm" + (error.name or mapped).removeprefix(OURS)) from None


def _require(module: types.ModuleType, name: str) -> None:
    """Check that `from module import name` will succeed, because Python's own error would not say what
    replaced the name.
    """
    try:
        getattr(module, name)
    except AttributeError as error:
        raise ImportError(str(error), name=name) from None


def _import_for_old_code(
    name: str,
    globals: Mapping[str, object] | None = None,
    locals: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> types.ModuleType:
    if level == 0 and _is_tvm(name):
        importer = sys._getframe(1).f_globals if globals is None else globals
        if _is_old_code(importer.get("__name__")):
            module = _ours(name)
            if not fromlist:
                return sys.modules[OURS]
            for attribute in fromlist:
                if attribute != "*":
                    _require(module, attribute)
            return module
    return _import(name, globals, locals, fromlist or (), level)


def _import_module_for_old_code(name: str, package: str | None = None) -> Any:
    if _is_tvm(name) and _is_old_code(sys._getframe(1).f_globals.get("__name__")):
        return _ours(name)
    return _import_module(name, package)
