"""A pool of worker processes that compile kernels in parallel. They keep running for the next build."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from ...ir.errors import RelayError
from ..cache.store import folder
from ..targets.target import Target
from .worker import failure

# An interrupt (Ctrl-C) is for the process that sends the requests, even while the worker is still starting.
_START = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.path.insert(0, {root!r}); "
    "from relay_explorer.lower.codegen.worker import serve; serve()"
)


class Request(NamedTuple):
    """A kernel to compile."""

    text: str
    name: str
    target: Target
    choice: dict[str, Any] | None = None


Told = Callable[[int, dict[str, Any]], None]  # receives the index of a completed request, and its entry


class _Process:
    """A worker process, started at its first request."""

    def __init__(self) -> None:
        self.running: subprocess.Popen[str] | None = None

    def ask(self, request: Request) -> dict[str, Any]:
        """Send a request and return the answer. If the process ends instead, as it does on a fatal error of
        LLVM's, return an error.
        """
        if self.running is None or self.running.poll() is not None:
            root = str(Path(__file__).parents[3])
            self.running = subprocess.Popen(
                [sys.executable, "-c", _START.format(root=root)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
                stderr=subprocess.DEVNULL if sys.stderr is None else None,  # None: there may be no terminal
            )  # fmt: skip
        process = self.running
        assert process.stdin is not None
        assert process.stdout is not None
        message = {**request._asdict(), "target": asdict(request.target), "cache": str(folder())}
        try:
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = ""
        if not line:
            self.stop()
            return {"error": f"the worker process ended with status {process.wait()}"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def stop(self) -> None:
        process, self.running = self.running, None
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            process.terminate()  # a process that was forked from this one may hold the pipe open
            process.wait()


class Pool:
    """A pool of worker processes. It grows to the most workers that a build has requested."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.idle: SimpleQueue[_Process] = SimpleQueue()
        self.processes: list[_Process] = []
        self.inherited: list[_Process] = []

    def forget(self) -> None:
        """Forget the worker processes in a forked process: they, and the threads that wait for them, belong
        to the parent.
        """
        self.lock, self.idle = threading.Lock(), SimpleQueue()
        self.inherited += self.processes  # kept alive: deleting them would write to their pipes
        self.processes = []

    def compile(self, requests: Sequence[Request], workers: int, on_entry: Told) -> None:
        """Compile all requests; report each result as soon as it is available. If some cannot be compiled,
        compile the rest, and then raise a RelayError.
        """
        failed: list[tuple[Request, dict[str, Any]]] = []
        count = min(workers, len(requests))
        with self.lock, ThreadPoolExecutor(max(1, count)) as threads:  # one build at a time
            self._grow(count)
            futures = {threads.submit(self._ask, r): number for number, r in enumerate(requests)}
            try:
                for future in as_completed(futures):
                    number, answer = futures[future], future.result()
                    if "entry" in answer:
                        on_entry(number, answer["entry"])
                    else:
                        failed.append((requests[number], answer))
            except BaseException:  # an interrupt: finish the requests that have begun, cancel the rest
                threads.shutdown(wait=False, cancel_futures=True)
                raise
        if failed:
            raise _error(*failed[0])

    def _grow(self, count: int) -> None:
        while len(self.processes) < count:
            process = _Process()
            self.processes.append(process)
            self.idle.put(process)

    def _ask(self, request: Request) -> dict[str, Any]:
        process = self.idle.get()
        try:
            return process.ask(request)
        finally:
            self.idle.put(process)

    def stop(self) -> None:
        """Stop the processes; the next build starts new ones."""
        for process in self.processes:
            process.stop()


def compiled_here(request: Request) -> dict[str, Any]:
    """Compile a kernel in this process and return its entry. An error reads as if it came from a worker
    process.
    """
    from .compile_kernel import compiled

    try:
        return compiled(request.text, request.name, request.target, request.choice)
    except RelayError:
        raise
    except Exception as problem:
        raise _error(request, failure(problem)) from problem


def _error(request: Request, answer: dict[str, Any]) -> RelayError:
    help = [*answer.get("help", ()), f"its function is\n{request.text.partition(chr(10))[2].strip()}"]
    if "traceback" in answer:
        help.append(f"this is a bug in the compiler, at\n{answer['traceback'].strip()}")
    return RelayError(f"the kernel `{request.name}` cannot be compiled: {answer['error']}", help=help)


POOL = Pool()
atexit.register(POOL.stop)
if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=POOL.forget)
