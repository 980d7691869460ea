"""Kernels run their parallel loops on this package's thread pool, not on TVM's."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.lower.runtime import thread_pool
from relay_explorer.lower.runtime.kernel import Kernel
from relay_explorer.lower.targets.toolchain import c_compiler
from relay_explorer.lower.threads import MAX_THREADS

LOOP = "def @main(%x: Tensor[(512, 512), float32]) { exp(%x) }"
X = np.sin(np.arange(512 * 512, dtype="float32")).reshape(512, 512)


def kernel_with_a_parallel_loop(program: str = LOOP) -> Kernel:
    (kernel,) = relay_explorer.build(relay.parse(program), quiet=True).kernels
    assert "parallel" in kernel.source("scheduled")
    return kernel


def launcher(kernel: Kernel) -> int | None:
    """Return the address of the function that the kernel's library calls for a parallel loop."""
    library = ctypes.CDLL(str(kernel.library))
    return ctypes.c_void_p.in_dll(library, thread_pool.POINTER).value


def test_a_parallel_loop_runs_on_our_pool() -> None:
    kernel = kernel_with_a_parallel_loop()
    np.testing.assert_allclose(kernel(X), np.exp(X), rtol=1e-6)
    assert launcher(kernel) == thread_pool._address() is not None


@pytest.mark.parametrize("missing", ["a compiler", "room for so many threads"])
def test_without_our_pool_kernels_run_on_tvms(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = thread_pool._address()
    if missing == "a compiler":
        monkeypatch.setattr(thread_pool, "c_compiler", lambda: None)
    else:
        monkeypatch.setattr(thread_pool, "threads", lambda: MAX_THREADS)
    monkeypatch.setattr(thread_pool, "_address", thread_pool._address.__wrapped__)
    # A kernel of its own, because a library that is loaded already keeps its pool.
    function, expected = ("sqrt", np.sqrt) if missing == "a compiler" else ("tanh", np.tanh)
    kernel = kernel_with_a_parallel_loop(LOOP.replace("exp", function))
    np.testing.assert_allclose(kernel(abs(X)), expected(abs(X)), rtol=1e-5)
    assert launcher(kernel) not in (None, ours)


def test_the_pool_is_used_where_the_cache_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RELAY_EXPLORER_CACHE", str(tmp_path / "file"))
    compiler = c_compiler()
    assert compiler is not None
    path = Path(thread_pool._library(compiler))
    assert path.is_file()
    assert not path.is_relative_to(tmp_path)


def test_the_pool_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_EXPLORER_CACHE", str(tmp_path))
    compiler = c_compiler()
    assert compiler is not None
    first = thread_pool._library(compiler)
    monkeypatch.setattr(thread_pool, "called", None)  # nothing is compiled again
    assert thread_pool._library(compiler) == first
    assert Path(first).is_relative_to(tmp_path)


def test_threads_and_then_forked_processes_run_kernels() -> None:
    """Four threads, and after them three forked processes, run a kernel, and the program ends."""
    program = f"""
        import os, threading
        import numpy as np
        import relay_explorer
        from relay_explorer import relay

        exe = relay_explorer.build(relay.parse({LOOP!r}), quiet=True)
        x = np.sin(np.arange(512 * 512, dtype="float32")).reshape(512, 512)
        expected = np.exp(x)

        def check():
            for _ in range(50):
                np.testing.assert_allclose(exe(x), expected, rtol=1e-6)

        check()
        threads = [threading.Thread(target=check) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        children = []
        for _ in range(3):
            child = os.fork()
            if child == 0:
                check()
                os._exit(0)
            children.append(child)
        statuses = [os.waitpid(child, 0)[1] for child in children]
        print("statuses", statuses)
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)],
        capture_output=True, text=True, timeout=120, env={**os.environ, "TVM_NUM_THREADS": "3"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == "statuses [0, 0, 0]\n"
