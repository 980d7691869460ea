"""Machine code for a GPU, while TVM compiles a kernel for it: NVIDIA's compiler takes a second or two for
each, so what it made is kept on disk by its source, as kernels are.

TVM asks for it where its runtime for CUDA is there, which needs a GPU's libraries.
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
    """While it is entered, TVM gets machine code for `target` from here, if nvcc is there, and by its own
    means, NVIDIA's package `cuda-bindings`, if not; none where it could not run, and only the source counts.
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
    """While it is entered, TVM calls `function` with CUDA C."""
    import tvm_ffi

    before = tvm_ffi.get_global_func(CALLBACK, allow_missing=True)
    tvm_ffi.register_global_func(CALLBACK, function, override=True)
    try:
        yield
    finally:
        if before is not None:
            tvm_ffi.register_global_func(CALLBACK, before, override=True)


def machine_code(source: str, target: Target) -> bytes:
    """Code for the target's architecture, with PTX for later ones: from the disk, or by nvcc."""
    tool = str(device.nvcc())
    parts = "\n".join((str(Path(tool).resolve()), str(target.dict["arch"]), source))
    key = hashlib.sha256(parts.encode()).hexdigest()[:40]
    if entry := cache.get(key):
        return Path(str(entry["path"])).read_bytes()
    binary = device.fatbin(source, target)
    cache.put(key, binary, ".fatbin", {"name": "fatbin", "target": target.options})
    return binary
