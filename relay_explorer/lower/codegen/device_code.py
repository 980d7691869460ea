"""Machine code for a GPU, which TVM requests while it compiles a kernel. NVIDIA's compiler takes a second or
two for each kernel, so its output is cached on disk, keyed by the source, in the kernel cache.

TVM requests it only if its CUDA runtime is available, which needs a GPU's libraries.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from ..cache import store as cache
from ..targets import device
from ..targets.target import Target

CALLBACK = "tvm_callback_cuda_compile"  # TVM's name for the function that compiles CUDA C


@contextmanager
def compiled_for(target: Target) -> Iterator[None]:
    """Supply TVM with machine code for `target` while the context is entered: from nvcc and the cache if nvcc
    is installed, otherwise from TVM's own compiler (NVIDIA's package `cuda-bindings`). If this machine cannot
    run the target, only the source is needed, so the machine code is empty.
    """
    compile_source: Any = None
    if not target.runs_here:
        compile_source = lambda source: b""  # noqa: E731
    elif not device.EMULATED and device.nvcc() is not None:
        compile_source = lambda source: machine_code(str(source), target)  # noqa: E731
    with target.tvm, nullcontext() if compile_source is None else in_place_of_tvm(compile_source):
        yield


@contextmanager
def in_place_of_tvm(function: Any) -> Iterator[None]:
    """Make TVM call `function` to compile CUDA C while the context is entered."""
    import tvm_ffi

    before = tvm_ffi.get_global_func(CALLBACK, allow_missing=True)
    tvm_ffi.register_global_func(CALLBACK, function, override=True)
    try:
        yield
    finally:
        if before is not None:
            tvm_ffi.register_global_func(CALLBACK, before, override=True)


def machine_code(source: str, target: Target) -> bytes:
    """Return machine code for the target's architecture, with PTX for later ones: from the cache, or compiled
    by nvcc.
    """
    tool = str(device.nvcc())
    parts = "\n".join((str(Path(tool).resolve()), str(target.dict["arch"]), source))
    key = hashlib.sha256(parts.encode()).hexdigest()[:40]
    if entry := cache.get(key):
        return Path(str(entry["path"])).read_bytes()
    binary = device.fatbin(source, target)
    cache.put(key, binary, ".fatbin", {"name": "fatbin", "target": target.options})
    return binary
