"""Finds the C compiler and objcopy, for this machine or for cross-compilation."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ...ir.errors import RelayError
from .target import Target

COMPILERS = ("cc", "gcc", "clang")


def c_compiler() -> str | None:
    """Return this machine's C compiler, if there is one. It also links."""
    return next((path for name in COMPILERS if (path := shutil.which(name))), None)


class Toolchain(NamedTuple):
    """The paths of a C compiler and of objcopy; `flags` are compiler options that select the processor."""

    compiler: str
    objcopy: str
    flags: tuple[str, ...] = ()


def toolchain(target: Target) -> Toolchain:
    """Return the tools that build programs for a target. Raise a RelayError that names the package of a
    missing one.
    """
    if target.kind == "cuda":
        raise RelayError(
            "a program for a GPU cannot be compiled ahead of time",
            help=['compile for "cpu" or "arm64", or use another executor for the GPU'],
        )
    machine = _machine(target)
    if machine == platform.machine().lower().replace("arm64", "aarch64").replace("amd64", "x86_64"):
        compiler = c_compiler()
        if compiler is None:
            raise _missing("a C compiler (cc, gcc or clang)", "gcc")
        return Toolchain(compiler, _tool("objcopy", "binutils"))
    prefix = f"{machine}-linux-gnu"
    package = prefix.replace("_", "-")
    compiler = _tool(f"{prefix}-gcc", f"gcc-{package} libc6-dev-{_DEBIAN.get(machine, machine)}-cross")
    return Toolchain(compiler, _tool(f"{prefix}-objcopy", f"binutils-{package}"))


_DEBIAN = {"aarch64": "arm64", "x86_64": "amd64"}


def _machine(target: Target) -> str:
    triple = str(target.dict.get("mtriple", ""))
    return triple.partition("-")[0] if triple else platform.machine()


def _tool(name: str, package: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise _missing(name, package)
    return path


def _missing(what: str, package: str) -> RelayError:
    return RelayError(
        f"compiling ahead of time needs {what}, which is not on the PATH",
        help=[f"on Debian and Ubuntu: sudo apt-get install {package}"],
    )


def called(command: Sequence[str | Path], what: str) -> None:
    """Run a tool. Raise a RelayError with its output if it fails; `what` describes the task."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        name = Path(command[0]).name
        raise RelayError(f"{name} cannot {what}", help=[done.stderr.strip()[-1500:]])
