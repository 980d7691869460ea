"""Find how deep a function can call itself in TVM's Relax virtual machine.

python -m benchmarks.relax_recursion        (needs apache-tvm; takes about two minutes)

Each depth runs in its own process, on the usual stack and on a thread with a stack of 2 GB, because too deep
a recursion crashes the process. Writes the table.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

from benchmarks.common import report, table

DEPTHS = (500, 1_000, 2_000, 4_000, 8_000, 16_000, 50_000)
LARGE_STACK = (1 << 31) - 4096  # bytes, the maximum that Python accepts


def _program() -> Any:
    """Return a module whose `main` calls itself n times before it adds anything."""
    from tvm import relax
    from tvm.script import ir as I
    from tvm.script import relax as R

    @I.ir_module
    class Module:
        @R.function  # type: ignore[untyped-decorator]
        def main(n: R.Tensor((), "float32")) -> R.Tensor((), "float32"):  # type: ignore[valid-type]  # noqa: N805
            more = R.greater(n, R.const(0.0, "float32"))
            if more:
                below = R.subtract(n, R.const(1.0, "float32"))
                rest = Module.main(below)
                result = R.add(rest, R.const(1.0, "float32"))
            else:
                result = n
            return result

    return relax.transform.LegalizeOps()(Module)


def count(depth: int) -> int:
    """Compile the program, run it to a depth, and check its result."""
    import numpy as np
    import tvm
    from tvm import relax

    machine = relax.VirtualMachine(tvm.compile(_program(), target="llvm"), tvm.cpu())
    result = machine["main"](tvm.runtime.tensor(np.array(depth, "float32")))
    assert float(result.numpy()) == depth
    return depth


def outcome(depth: int, large: bool) -> str:
    """Run `count` in a separate process; return how it ended."""
    command = [sys.executable, "-m", "benchmarks.relax_recursion", str(depth), *(["large"] if large else [])]
    status = subprocess.run(command, capture_output=True, check=False).returncode
    return "runs" if status == 0 else f"crashes (signal {-status})" if status < 0 else f"fails ({status})"


def main() -> None:
    if sys.argv[1:]:
        depth, large = int(sys.argv[1]), "large" in sys.argv
        if large:
            threading.stack_size(LARGE_STACK)
        ended: list[int] = []
        run = threading.Thread(target=lambda: ended.append(count(depth)))
        run.start() if large else run.run()
        if large:
            run.join()
        sys.exit(0 if ended else 1)
    rows = [(f"{depth:,}", outcome(depth, False), outcome(depth, True)) for depth in DEPTHS]
    report("relax_recursion.md", table(["recursion depth", "usual stack", "stack of 2 GB"], rows))


if __name__ == "__main__":
    main()
