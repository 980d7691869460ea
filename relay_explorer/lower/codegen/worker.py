"""The worker process that compiles kernels: it reads requests as lines of JSON, and writes its answers so.

It is started as a separate program, not forked or spawned by `multiprocessing`, so that neither TVM's threads
nor a user's main module without an `if __name__ == "__main__"` guard can interfere.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from ...ir.errors import RelayError


def serve() -> None:
    """Answer requests until the input ends. Ignore interrupts, which are meant for the process that sends the
    requests; that process terminates this one, which then removes its temporary files.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # the output of TVM and LLVM must not mix with answers
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Compile the kernel that a request describes; return its entry, or the error."""
    from ..cache.store import VARIABLE
    from ..targets.target import Target
    from .compile_kernel import compiled

    os.environ[VARIABLE] = request["cache"]
    try:
        target = Target.from_dict(request["target"])
        return {"entry": compiled(request["text"], request["name"], target, request["choice"])}
    except RelayError as problem:
        return {"error": problem.message, "help": list(problem.help)}
    except Exception as problem:
        return failure(problem)


def failure(problem: Exception) -> dict[str, Any]:
    """Return the answer that reports a bug in the compiler."""
    import traceback

    traceback_text = "".join(traceback.format_exception(problem))
    return {"error": f"{type(problem).__name__}: {problem}", "traceback": traceback_text}


if __name__ == "__main__":
    serve()
