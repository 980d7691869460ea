"""The GPU of this machine, and the compiler for it, if there are any."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ..ir.errors import RelayError
from .require import tvm
from .target import Target


def lacks(target: Target) -> str:
    """What a kernel for a GPU needs and this machine has not; nothing where it can run."""
    device = tvm().cuda(0)
    if not device.exist:
        return "there is no GPU here that CUDA can use"
    wanted, have = _version(str(target.dict["arch"])), _version(str(device.compute_version))
    if wanted > have:
        return f"the GPU here is of the architecture sm_{have}"
    if not _can_compile():
        return "CUDA C cannot be compiled here: neither nvcc nor the Python package cuda-bindings is there"
    return ""


def _version(text: str) -> int:
    """90 of sm_90a and of 9.0."""
    return int("".join(re.findall(r"\d+", text)) or "0")


def _can_compile() -> bool:
    """Whether CUDA C can be compiled here. TVM asks for the Python package unless it is told of nvcc."""
    if nvcc() is not None:
        os.environ.setdefault("TVM_CUDA_COMPILE_MODE", "nvcc")
        return True
    from importlib.util import find_spec

    try:
        return find_spec("cuda.bindings") is not None
    except ModuleNotFoundError:
        return False


def on_device(run: Callable[..., object], inputs: int, device: Any) -> Callable[..., None]:
    """A kernel of a device as one of this machine's memory: tensors, the first `inputs` of which it reads and
    the others it writes, go to the device and come back.
    """

    def called(*tensors: Any) -> None:
        there = [_moved(tensor, device, filled=n < inputs) for n, tensor in enumerate(tensors)]
        run(*there)
        device.sync()
        for here, found in zip(tensors[inputs:], there[inputs:]):
            found.copyto(_as_tvm(here))

    return called


def _moved(tensor: Any, device: Any, filled: bool) -> Any:
    made = tvm().runtime.empty(tuple(tensor.shape), str(tensor.dtype), device)
    return _as_tvm(tensor).copyto(made) if filled else made


def _as_tvm(tensor: Any) -> Any:
    return tvm().runtime.from_dlpack(tensor)


# -- nvcc


def nvcc() -> str | None:
    return shutil.which("nvcc")


def ptx(source: str, target: Target) -> str:
    """NVIDIA's assembly of CUDA C."""
    made, _ = _compiled(source, target, "-ptx", "PTX")
    return made.decode("utf-8", "replace")


class Usage(NamedTuple):
    """What a function of a kernel takes of a GPU: `registers` a thread, bytes of `shared` memory a block and
    of `local` memory a thread (its own arrays, and registers that did not suffice), `threads` a block (0
    where it does not say). `blocks` of it are on a multiprocessor at once, which is `occupied` to that part.
    """

    name: str
    registers: int
    shared: int
    local: int
    threads: int
    blocks: int
    occupied: float


class _Limits(NamedTuple):
    threads: int
    blocks: int
    shared: int
    registers: int = 65536


# Of a multiprocessor, by architecture: to be compared with the CUDA C Programming Guide before it is quoted.
_LIMITS = {
    70: _Limits(2048, 32, 96 << 10),
    75: _Limits(1024, 16, 64 << 10),
    80: _Limits(2048, 32, 164 << 10),
    86: _Limits(1536, 16, 100 << 10),
    87: _Limits(1536, 16, 164 << 10),
    89: _Limits(1536, 24, 100 << 10),
    90: _Limits(2048, 32, 228 << 10),
    100: _Limits(2048, 32, 228 << 10),
    120: _Limits(1536, 24, 100 << 10),
}


def usage(source: str, target: Target) -> list[Usage]:
    """What each function of CUDA C takes, as NVIDIA's compiler says."""
    _, said = _compiled(source, target, "-cubin", "a count of registers")
    bounds = re.findall(r"__launch_bounds__\((\d+)\)\s+(\w+)\s*\(", source)
    threads = {name: int(count) for count, name in bounds}
    version = _version(str(target.dict["arch"]))
    limits = _LIMITS[max([known for known in _LIMITS if known <= version], default=70)]
    found = []
    parts = re.split(r"Compiling entry function '(\w+)'", said)[1:]
    for name, told in zip(parts[::2], parts[1::2]):
        registers, shared = _number(r"Used (\d+) registers", told), _number(r"(\d+) bytes smem", told)
        block = threads.get(name, 0)
        blocks = _resident(block, registers, shared, limits)
        found.append(
            Usage(
                name, registers, shared, _number(r"(\d+) bytes stack frame", told),
                block, blocks, blocks * block / limits.threads,
            )
        )  # fmt: skip
    return found


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def _resident(threads: int, registers: int, shared: int, limits: _Limits) -> int:
    """Blocks that fit a multiprocessor. Registers are given to a warp, 32 threads, in portions of 256; each
    block takes 1 KB of shared memory besides its own.
    """
    if not threads:
        return 0
    warps = -(-threads // 32)
    of_warp = -(-max(registers, 1) * 32 // 256) * 256
    by_registers = limits.registers // of_warp // warps
    by_shared = limits.shared // (shared + 1024)
    return min(limits.threads // (warps * 32), limits.blocks, by_registers, by_shared)


def _compiled(source: str, target: Target, kind: str, what: str) -> tuple[bytes, str]:
    tool = nvcc()
    if tool is None:
        raise RelayError(
            f"{what} needs NVIDIA's compiler nvcc, which is not on the PATH",
            help=["install the CUDA toolkit (the package `nvidia-cuda-toolkit` of Debian)"],
        )
    with tempfile.TemporaryDirectory() as place:
        written, made = Path(place) / "kernel.cu", Path(place) / "kernel.out"
        written.write_text(source)
        arch = f"-arch={target.dict['arch']}"
        command = [tool, kind, "-O3", arch, "--resource-usage", "-o", str(made), str(written)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            told = [line for line in done.stderr.splitlines() if "error" in line or "fatal" in line.lower()]
            raise RelayError(f"nvcc cannot compile the kernel for {target}", help=told[:5])
        return made.read_bytes(), done.stdout + done.stderr
