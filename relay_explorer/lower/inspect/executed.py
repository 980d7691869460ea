"""Counts the instructions that a program for another processor executes, under QEMU.

QEMU reproduces the effect of each instruction, but neither how the processor overlaps instructions nor its
caches. The number of instructions is therefore exact, and the time on the real processor remains unknown: a
processor can execute several instructions per cycle, and one that waits for memory takes hundreds of cycles.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path

from ...ir.errors import RelayError
from ...ir.lazy_dataclass import dataclass
from ..targets.toolchain import c_compiler, called
from ..threads import VARIABLE

# Versions of QEMU's interface for plugins. QEMU refuses a plugin that is older or newer than it can load; the
# functions that this one calls are the same in all versions.
INTERFACES = (1, 2, 3, 4, 5)
FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden")


@dataclass(frozen=True)
class Executed:
    """What a run printed, and how many instructions it executed, by the function that contains them and their
    mnemonic.
    """

    output: str
    counts: dict[tuple[str, str], int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def by_function(self) -> Counter[str]:
        """Count the instructions of each function. A function without a name counts as `?`."""
        return self._by(lambda function, mnemonic: function)

    def by_mnemonic(self) -> Counter[str]:
        return self._by(lambda function, mnemonic: mnemonic)

    def _by(self, key: Callable[[str, str], str]) -> Counter[str]:
        sums: Counter[str] = Counter()
        for (function, mnemonic), count in self.counts.items():
            sums[key(function, mnemonic)] += count
        return sums


def executed(
    program: object, text: str = "", *, processor: str = "", emulator: str = "qemu-aarch64"
) -> Executed:
    """Run a program under QEMU with `text` as its standard input; count the instructions that it executes.

    Kernels run on one thread, so that no instructions of waiting threads are counted. `processor` is a name
    that QEMU knows, such as `cortex-a72`; without one, QEMU has the extensions of all processors. Raise a
    RelayError if the program fails, if QEMU or a C compiler is missing, or if QEMU cannot load plugins.
    """
    if not Path(str(program)).is_file():
        raise RelayError(f"there is no program {str(program)!r:.200}")
    compiler = c_compiler()
    if compiler is None:
        raise RelayError(
            "counting instructions needs a C compiler (cc, gcc or clang) for this machine",
            help=["on Debian and Ubuntu: sudo apt-get install gcc"],
        )
    chosen = ["-cpu", processor] if processor else []
    with tempfile.TemporaryDirectory(prefix="relay_explorer_") as folder:
        refused = ""
        for version in INTERFACES:
            counts = Path(folder) / "counts"
            plugin = f"file={_plugin(compiler, Path(folder), version)},to={counts}"
            done = _run([emulator, *chosen, "-plugin", plugin, str(program)], text)
            if counts.exists():
                if done.returncode:
                    raise _failed(program, done)
                return Executed(done.stdout, _read(counts.read_text("utf-8")))
            refused = done.stderr.strip()
    raise RelayError(
        f"{emulator} does not load the plugin that counts instructions",
        help=[refused[-500:] or "it says nothing"],
    )


def _plugin(compiler: str, folder: Path, version: int) -> Path:
    output = folder / f"executed_{version}.so"
    with as_file(files(__package__) / "executed.c") as source:
        called([compiler, *FLAGS, f"-DINTERFACE={version}", source, "-o", output], "compile a plugin of QEMU")
    return output


def _run(command: list[str], text: str) -> subprocess.CompletedProcess[str]:
    try:
        environment = {**os.environ, VARIABLE: "1"}
        return subprocess.run(
            command, input=text, env=environment, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise RelayError(
            f"counting instructions needs {command[0]}, which is not on the PATH",
            help=["on Debian and Ubuntu: sudo apt-get install qemu-user"],
        ) from None


def _failed(program: object, done: subprocess.CompletedProcess[str]) -> RelayError:
    words = (done.stderr or done.stdout).strip()[-500:]
    return RelayError(f"{program} fails with code {done.returncode}", help=[words] if words else [])


def _read(text: str) -> dict[tuple[str, str], int]:
    """Add up the plugin's lines: a function, a mnemonic and a count."""
    counts: Counter[tuple[str, str]] = Counter()
    for line in text.splitlines():
        function, mnemonic, count = line.split(" ")
        counts[function, mnemonic] += int(count)
    return dict(counts)
