"""Imports TVM when it is first needed, and checks that its version is one that works."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from .. import _project
from ..ir.errors import RelayError
from .threads import use_all_cores

if TYPE_CHECKING:
    from pathlib import Path

    from .tvm_types import TVM

_importing = threading.RLock()  # two threads must not hide and restore a module at the same time
INSTALL = f'pip install "{_project.requirement("compile")}"'
PINS = {"apache-tvm": "0.27.0", "apache-tvm-ffi": "0.1.14"}  # releases; any post-release of one will do


def versions() -> dict[str, str]:
    """Return the installed versions. Raise a RelayError if one is missing, or is not the required one."""
    from importlib import metadata  # only here, since it imports many modules

    installed = {}
    for name, required in PINS.items():
        try:
            installed[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            raise RelayError(f"compiling needs {name}, which is not installed", help=[INSTALL]) from None
        if installed[name].partition(".post")[0] != required:
            raise RelayError(
                f"compiling needs {name} {required}, but {installed[name]} is installed",
                help=[INSTALL, _reason(name)],
            )
    return installed


def _reason(name: str) -> str:
    if name == "apache-tvm-ffi":
        return "later versions of it crash in apache-tvm 0.27, and earlier ones lack what it uses"
    return "TVM's Python interface changes from release to release"


@cache
def tvm() -> TVM:
    """Import TVM, and return the module `tvm`."""
    versions()
    use_all_cores()
    with _without_torch():
        import tvm
        import tvm.s_tir
        import tvm.te
        import tvm.topi
    module: TVM = tvm
    return module


@cache
def runtime() -> Any:
    """Import the module `tvm_ffi` together with the runtime library that compiled kernels call. It loads in a
    tenth of the time of `tvm()`, and suffices for running kernels.
    """
    versions()
    use_all_cores()
    with _without_torch():
        import tvm_ffi
    if "tvm" not in sys.modules:
        import ctypes

        ctypes.CDLL(str(_library("libtvm_runtime")), ctypes.RTLD_GLOBAL)
    return tvm_ffi


def _library(name: str) -> Path:
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec("tvm")
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    ending = {"darwin": "dylib", "win32": "dll"}.get(sys.platform, "so")
    for place in places:
        path = Path(place) / "lib" / f"{name}.{ending}"
        if path.is_file():
            return path
    raise RelayError(f"apache-tvm is installed without its library {name}", help=[f"again: {INSTALL}"])


@contextmanager
def _without_torch() -> Iterator[None]:
    """Keep TVM from importing PyTorch, which it does if PyTorch is installed, and which takes seconds.
    Tensors are exchanged by DLPack, so nothing is lost. If PyTorch is already imported, it stays.
    """
    name = "TVM_FFI_DISABLE_TORCH_C_DLPACK"
    with _importing:
        before = os.environ.get(name)
        os.environ[name] = "1"
        hidden = "torch" not in sys.modules
        if hidden:
            sys.modules["torch"] = None  # type: ignore[assignment]  # makes `import torch` fail
        try:
            yield
        finally:
            if hidden:
                del sys.modules["torch"]
            if before is None:
                del os.environ[name]
            else:
                os.environ[name] = before
