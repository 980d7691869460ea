"""Which `tvm` an `import tvm` gives: ours to old code, the installed one to this package and to TVM itself.

An import is known by the module that asks, so both can be used in one process. Ours is
`relay_explorer.compat.tvm`; it never stands in `sys.modules` under the name `tvm`, where the installed one,
whose own modules import each other by that name, keeps its place.
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
    """From here on, `import tvm` in old code gives ours. Doing so twice changes nothing. NumPy has the names
    again that it had then.
    """
    old_numpy.give_back()
    builtins.__import__ = _import_for_old_code
    importlib.import_module = _import_module_for_old_code


def uninstall() -> None:
    """Undoes `install`; what has been imported stays as it is."""
    old_numpy.take_away()
    builtins.__import__ = _import
    importlib.import_module = _import_module


def installed() -> bool:
    """Whether old code gets ours."""
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
    """Our module instead of TVM's `name`."""
    mapped = OURS + name.removeprefix("tvm")
    try:
        return _import_module(mapped)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(OURS):
            raise
        raise missing.module_error("tvm" + (error.name or mapped).removeprefix(OURS)) from None


def _require(module: types.ModuleType, name: str) -> None:
    """Check that `from module import name` finds the name; Python's own error would not say what replaced
    it.
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
        place = sys._getframe(1).f_globals if globals is None else globals
        if _is_old_code(place.get("__name__")):
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
