"""Runs the parallel loops of kernels on the thread pool of programs that are compiled ahead of time.

While TVM's own pool waits, its threads call `sched_yield` in a loop. If another process is busy on one of the
cores, Linux then lets them wait for whole time slices, so that a run of a network takes many times as long
(`benchmarks/thread_pools.py`). The threads of this pool pause for a moment, and then sleep.
"""

from __future__ import annotations

import _ctypes
import ctypes
import hashlib
import platform
import shutil
import sys
import tempfile
from contextlib import suppress
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from ...ir.errors import RelayError
from ..cache import store
from ..targets.toolchain import c_compiler, called
from ..threads import threads

LARGEST = 32  # threads; MOST_THREADS in parallel.c
POINTER = "__TVMBackendParallelLaunch"  # the variable of a kernel's library through which it runs a loop
FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-shared")


def connect(library: Path) -> None:
    """Let the kernels of a library that TVM has loaded run their parallel loops on this pool.

    They stay with TVM's pool if there is no C compiler, or if there are more threads than this pool can have.
    """
    address = _address()
    if address is None:
        return
    loaded = ctypes.CDLL(str(library))  # the library that is already loaded, once more
    with suppress(ValueError):  # it has no parallel loop
        ctypes.c_void_p.in_dll(loaded, POINTER).value = address
    _ctypes.dlclose(loaded._handle)


@cache
def _address() -> int | None:
    """Load the pool, and return the address of its function that runs a loop."""
    compiler = c_compiler()
    if compiler is None or sys.platform != "linux" or threads() > LARGEST:
        return None
    pool = ctypes.CDLL(_library(compiler))
    return ctypes.cast(pool.relay_explorer_parallel, ctypes.c_void_p).value


def _library(compiler: str) -> str:
    """Return the path of the pool's library. It is compiled once, and stored among the kernels."""
    shared = files(__package__) / "thread_pool.c"
    loops = files("relay_explorer.execute.aot") / "parallel.c"
    parts = [shared.read_text("utf-8"), loops.read_text("utf-8"), compiler, platform.machine(), *FLAGS]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]
    if (entry := store.get(key)) is not None:
        return str(entry["path"])
    place = Path(tempfile.mkdtemp(prefix="relay_explorer_"))
    output = place / "thread_pool.so"
    with as_file(shared) as source, as_file(loops) as included:
        command: list[str | Path] = [
            compiler,
            *FLAGS,
            "-I",
            included.parent,
            "-o",
            output,
            source,
            "-lpthread",
        ]
        called(command, "compile the thread pool")
    try:
        path = str(store.put(key, output.read_bytes(), ".so", {"name": "thread_pool"})["path"])
    except RelayError:  # the cache cannot be written to
        return str(output)
    shutil.rmtree(place, ignore_errors=True)
    return path
