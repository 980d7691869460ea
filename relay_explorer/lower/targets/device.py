"""The GPU of this machine, if it has one, and NVIDIA's compiler nvcc."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ...ir.errors import RelayError
from ..require import tvm
from .target import Target

EMULATED: list[str] = []  # the architecture of the emulated GPU, if there is one (see `emulated`)


def lacks(target: Target) -> str:
    """Return the reason why this machine cannot run a kernel for a GPU; "" if it can."""
    device = tvm().cuda(0)
    if not device.exist:
        return _no_device()
    required, have = _version(str(target.dict["arch"])), _version(str(device.compute_version))
    if required > have:
        return f"the GPU here is of the architecture sm_{have}"
    if not EMULATED and not _can_compile():
        return (
            "CUDA C cannot be compiled here: neither nvcc nor the Python package cuda-bindings is installed"
        )
    return ""


def _no_device() -> str:
    """Return the reason why TVM finds no GPU. TVM itself reports nothing if there is a GPU but NVIDIA's
    libraries have another version than TVM was built with.
    """
    if shutil.which("nvidia-smi") is not None:
        problem = cannot_load(Path(tvm().__file__).parent / "lib" / "libtvm_runtime_cuda.so")
        if problem:
            return f"TVM's runtime for CUDA cannot be loaded: {problem}"
    return "there is no GPU here that CUDA can use"


def cannot_load(library: Path) -> str:
    """Return the reason why a library cannot be loaded; "" if it can."""
    try:
        ctypes.CDLL(str(library))
    except OSError as problem:
        return str(problem)
    return ""


def _version(text: str) -> int:
    """Return the number of a compute capability: 90 for sm_90a and for 9.0."""
    return int("".join(re.findall(r"\d+", text)) or "0")


def _can_compile() -> bool:
    """Whether CUDA C can be compiled here. If nvcc is installed, configure TVM to use it; otherwise TVM
    requires the Python package cuda-bindings.
    """
    if nvcc() is not None:
        os.environ.setdefault("TVM_CUDA_COMPILE_MODE", "nvcc")
        return True
    from importlib.util import find_spec

    try:
        return find_spec("cuda.bindings") is not None
    except ModuleNotFoundError:
        return False


def on_device(run: Callable[..., object], inputs: int, device: Any) -> Callable[..., None]:
    """Wrap a device kernel for tensors in host memory. The first `inputs` tensors, which the kernel reads,
    are copied to the device; the others, which it writes, are copied back.
    """

    def called(*tensors: Any) -> None:
        there = [_moved(tensor, device, filled=n < inputs) for n, tensor in enumerate(tensors)]
        run(*there)
        device.sync()
        for here, result in zip(tensors[inputs:], there[inputs:]):
            result.copyto(_as_tvm(here))

    return called


def _moved(tensor: Any, device: Any, filled: bool) -> Any:
    copy = tvm().runtime.empty(tuple(tensor.shape), str(tensor.dtype), device)
    return _as_tvm(tensor).copyto(copy) if filled else copy


def _as_tvm(tensor: Any) -> Any:
    return tvm().runtime.from_dlpack(tensor)


# -- nvcc


def nvcc() -> str | None:
    return shutil.which("nvcc")


def ptx(source: str, target: Target, *flags: str) -> str:
    """Compile CUDA C to PTX, NVIDIA's assembly language; `flags` are additional options of nvcc."""
    output, _ = _compiled(source, target, "-ptx", "PTX", flags)
    return output.decode("utf-8", "replace")


def fatbin(source: str, target: Target) -> bytes:
    """Compile CUDA C to a fat binary, the machine code that the driver loads."""
    output, _ = _compiled(source, target, "-fatbin", "code for a GPU")
    return output


class Usage(NamedTuple):
    """The GPU resources of a kernel's function: `registers` per thread, bytes of `shared` memory per block
    and of `local` memory per thread (its own arrays, and spilled registers), and `threads` per block (0 if
    unknown). At most `blocks` blocks are resident on a multiprocessor at once, which gives the occupancy
    `occupied`, from 0 to 1.
    """

    name: str
    registers: int
    shared: int
    local: int
    threads: int
    blocks: int
    occupied: float


class Limits(NamedTuple):
    """The limits of a multiprocessor: resident `threads`, `blocks`, bytes of `shared` memory, and `registers`
    of 32 bits. A block takes `reserved` bytes of shared memory in addition to its own, and the sum is rounded
    up to a multiple of `portion` bytes.
    """

    threads: int
    blocks: int
    shared: int
    reserved: int = 1 << 10
    portion: int = 128
    registers: int = 1 << 16


PARTITIONS = 4  # of a multiprocessor, each with a quarter of the registers; a warp is in one of them

# By compute capability. NVIDIA, "CUDA C++ Programming Guide", release 13.0, table "Technical Specifications
# per Compute Capability"; portions, partitions and blocks also in `cuda_occupancy.h` of CUDA 13.0. The
# guide's table begins with 7.5; the limits of 7.0 are from its section on 7.x, and from that file.
LIMITS = {
    70: Limits(2048, 32, 96 << 10, 0, 256),
    75: Limits(1024, 16, 64 << 10, 0, 256),
    80: Limits(2048, 32, 164 << 10),
    86: Limits(1536, 16, 100 << 10),
    87: Limits(1536, 16, 164 << 10),
    89: Limits(1536, 24, 100 << 10),
    90: Limits(2048, 32, 228 << 10),
    100: Limits(2048, 32, 228 << 10),
    110: Limits(1536, 24, 228 << 10),
    120: Limits(1536, 24, 100 << 10),
}


def limits_of(target: Target) -> Limits:
    """Return the limits of a GPU's architecture; for one that is not listed, those of the next lower one."""
    version = _version(str(target.dict["arch"]))
    return LIMITS[max([architecture for architecture in LIMITS if architecture <= version], default=70)]


def usage(source: str, target: Target) -> list[Usage]:
    """Return the resources of each function in CUDA C, as reported by nvcc."""
    _, report = _compiled(source, target, "-cubin", "a count of registers")
    bounds = re.findall(r"__launch_bounds__\((\d+)\)\s+(\w+)\s*\(", source)
    threads = {name: int(count) for count, name in bounds}
    limits = limits_of(target)
    usages = []
    parts = re.split(r"Compiling entry function '(\w+)'", report)[1:]
    for name, part in zip(parts[::2], parts[1::2]):
        registers, shared = _number(r"Used (\d+) registers", part), _number(r"(\d+) bytes smem", part)
        block = threads.get(name, 0)
        blocks = resident(block, registers, shared, limits)
        usages.append(
            Usage(
                name, registers, shared, _number(r"(\d+) bytes stack frame", part),
                block, blocks, blocks * block / limits.threads,
            )
        )  # fmt: skip
    return usages


def _number(pattern: str, text: str) -> int:
    match = re.search(pattern, text)
    return int(match[1]) if match else 0


def resident(threads: int, registers: int, shared: int, limits: Limits) -> int:
    """Return the number of blocks that are resident on a multiprocessor at once, for blocks with `threads`
    threads, `registers` per thread and bytes of `shared` memory. Registers are allocated per warp, in
    portions of 256.
    """
    if not threads:
        return 0
    warps = -(-threads // 32)
    of_warp = _whole(max(registers, 1) * 32, 256)
    by_registers = limits.registers // PARTITIONS // of_warp * PARTITIONS // warps
    of_block = _whole(shared + limits.reserved, limits.portion)
    by_shared = limits.shared // of_block if of_block else limits.blocks
    return min(limits.threads // (warps * 32), limits.blocks, by_registers, by_shared)


def _whole(size: int, portion: int) -> int:
    """Round a size up to a multiple of `portion`."""
    return -(-size // portion) * portion


def _compiled(
    source: str, target: Target, kind: str, what: str, flags: tuple[str, ...] = ()
) -> tuple[bytes, str]:
    tool = nvcc()
    if tool is None:
        raise RelayError(
            f"{what} needs NVIDIA's compiler nvcc, which is not on the PATH",
            help=["install the CUDA toolkit (the package `nvidia-cuda-toolkit` of Debian)"],
        )
    with tempfile.TemporaryDirectory() as place:
        source_file, output = Path(place) / "kernel.cu", Path(place) / "kernel.out"
        source_file.write_text(source)
        arch = f"-arch={target.dict['arch']}"
        command = [tool, kind, "-O3", arch, "--resource-usage", *flags, "-o", str(output), str(source_file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error" in line or "fatal" in line.lower()]
            raise RelayError(f"nvcc cannot compile the kernel for {target}", help=errors[:5])
        return output.read_bytes(), done.stdout + done.stderr
