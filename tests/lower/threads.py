"""Programs that build, run, type and interpret in eight threads of one process, from its first import on.

`python -m tests.lower.threads first` builds once in each thread; `python -m tests.lower.threads SECONDS` goes
on for as long. Prints what went wrong.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

import numpy as np

THREADS = 8


def program(rows: int, step: int) -> str:
    """Two kernels of operators whose lowerings register something, with other sizes at each step. So few are
    compiled in the process itself.
    """
    columns = 2 + step % 5
    calls = [
        "sum(exp(%x), axis=[1])",
        "prod(tanh(%x), axis=[1])",
        "max(erf(sin(%x)), axis=[0])",
        "cos(log(%x))",
    ]
    one, two = calls[(rows + step) % 4], calls[(rows + step + 1) % 4]
    return f"def @main(%x: Tensor[({rows}, {columns}), float32]) {{ ({one}, {two}) }}"


def build(number: int, step: int) -> None:
    """Compare what a built program computes with what the interpreter computes."""
    from relay_explorer import build, relay

    text = program(3 + number, step)
    module = relay.parse(text)
    x = np.random.default_rng(number).uniform(0.1, 2, (3 + number, 2 + step % 5)).astype("float32")
    results = build(module)(x)
    expected = relay.create_executor("debug", mod=module).evaluate()(x)
    for result, value in zip(results, expected, strict=True):
        np.testing.assert_allclose(np.asarray(result), value.numpy(), rtol=1e-4, atol=1e-5)


def at_once(work: Callable[[int], None]) -> list[str]:
    """Run `work` in threads that start at the same time; return the errors."""
    barrier, faults = threading.Barrier(THREADS), []

    def run(number: int) -> None:
        barrier.wait()
        try:
            work(number)
        except Exception as error:
            faults.append(f"thread {number}: {type(error).__name__}: {str(error)[:2000]}")

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return faults


def main(how_long: str) -> None:
    if how_long == "first":
        faults, steps = at_once(lambda number: build(number, 0)), THREADS
    else:
        end, done = time.monotonic() + float(how_long), [0] * THREADS

        def work(number: int) -> None:
            while time.monotonic() < end:
                build(number, done[number])
                done[number] += 1

        faults, steps = at_once(work), sum(done)
    print("\n".join([*faults, f"{steps} programs built and run"]))


if __name__ == "__main__":
    main(sys.argv[1])
