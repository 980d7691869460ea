"""Modules below Relay whose names are those of the installed TVM: `te` and `topi`.

Functions that describe tensor expressions mean the same today. Those that scheduled them are gone from TVM;
asking for one gives an error that says so.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from ..compiling import compiler_is_here
from ..hook import real_tvm


def forward(module: str) -> Callable[[str], Any]:
    """Return a module's `__getattr__` that looks names up in `module` of the installed TVM. Where it is not
    installed, there are no names.
    """

    def get(name: str) -> Any:
        if name == "__all__":
            return _names(module)
        if name.startswith("_") or name not in _names(module):
            raise AttributeError(name)
        return getattr(real_tvm(module), name)

    return get


def _names(module: str) -> list[str]:
    if not compiler_is_here():
        return []
    names = vars(real_tvm(module)).items()
    return [name for name, value in names if not name.startswith("_") and _is_of_tvm(value)]


def _is_of_tvm(value: object) -> bool:
    """Whether a value is a function or a class of TVM, not a module that the module imports."""
    home = getattr(value, "__module__", None) or ""
    return not isinstance(value, types.ModuleType) and callable(value) and home.startswith("tvm")
