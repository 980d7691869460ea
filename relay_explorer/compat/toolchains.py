"""`tvm.contrib.cc` and `tvm.contrib.ndk`: the linkers that old code passes to `export_library`, which ignores
them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

from ..ir.errors import RelayError


def create_shared(output: str, objects: Any, *arguments: Any, **options: Any) -> None:
    """Raise a RelayError: object files are not linked here; `export_library` writes whole programs."""
    raise RelayError("object files are not linked here", help=["write the program: lib.export_library(path)"])


create_executable = create_staticlib = create_shared


def cross_compiler(compile_func: Any, *arguments: Any, **options: Any) -> Callable[..., None]:
    """Return the function that would link for another machine."""
    return create_shared


def get_cc() -> str | None:
    """Return the path of a C++ compiler, or None."""
    return next(
        (path for name in ("g++", "gcc", "clang++", "clang", "c++", "cc") if (path := shutil.which(name))),
        None,
    )


__all__ = ["create_executable", "create_shared", "create_staticlib", "cross_compiler", "get_cc"]
