"""Time `import relay_explorer` in a fresh process, along with `import numpy` and `import torch`, and list
what it loads.

python -m benchmarks.import_time
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial

from benchmarks.common import alternate, median, report, table

HEAVY = ("numpy", "torch", "tvm", "lark", "networkx", "anywidget", "IPython")
STATEMENTS = {
    "nothing": "pass",
    "relay_explorer": "import relay_explorer",
    "relay_explorer.relay, with every operator": "from relay_explorer import relay",
    "numpy": "import numpy",
    "torch": "import torch",
}


def run(statement: str) -> None:
    subprocess.run([sys.executable, "-c", statement], check=True)


def loaded() -> list[str]:
    """Return which of the heavy packages the import loads."""
    code = f"import sys, relay_explorer; print([m for m in {HEAVY!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    modules: list[str] = eval(out.stdout)
    return modules


def main() -> None:
    times = alternate({name: partial(run, statement) for name, statement in STATEMENTS.items()}, rounds=9)
    empty = median(times["nothing"])
    rows = [
        (name, f"{median(seconds) * 1e3:.0f} ms", f"{(median(seconds) - empty) * 1e3:.0f} ms")
        for name, seconds in times.items()
    ]
    text = table(["import", "process, median of 9", "minus Python's startup"], rows)
    report(
        "import_time.md",
        text,
        f"\nOf {', '.join(HEAVY)}, `import relay_explorer` loads: {', '.join(loaded()) or 'none'}.\n",
    )


if __name__ == "__main__":
    main()
