"""Build the emulated GPU's libraries, and load them instead of NVIDIA's."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from ...ir.errors import RelayError
from ...lower.cache import store as kernels_on_disk
from ...lower.codegen.device_code import CALLBACK, in_place_of_tvm
from ...lower.require import tvm
from ...lower.targets import device
from .launches import Launch, launches

HERE = Path(__file__).parent
RUNTIME, DRIVER = "libcudart.so.13", "libcuda.so.1"
MARK = b"emulated:"
SOURCES = ("gpu.cpp", "libraries.cpp")
EXPORTED = "cu*; rx_*; __tsan_*; threadIdx; blockIdx; blockDim; gridDim;"
COMPILERS = ("g++", "c++", "clang++")
HEADERS = ("kernel.h", "half.h", "gpu.h", "device.h")
COMMON = ("-std=c++17", "-fPIC", "-U_FORTIFY_SOURCE", "-w")
OF_KERNELS = ("-O1", "-g0", "-fsanitize=thread", *COMMON)
SIZES = {
    "char": 1,
    "bool": 1,
    "short": 2,
    "half": 2,
    "bfloat16": 2,
    "int": 4,
    "float": 4,
    "double": 8,
    "long": 8,
}


class EmulatedGPU:
    """Access to the launches of the kernels that run while `emulated_gpu` is active."""

    def __init__(self, library: Any) -> None:
        self._library = library

    @property
    def launches(self) -> list[Launch]:
        """The kernels that ran, in order."""
        return launches(self._library.rx_report().decode())

    def forget(self) -> None:
        """Discard the recorded launches."""
        self._library.rx_forget()


@contextmanager
def emulated_gpu(
    arch: str = "sm_80", counts: bool = False, edit: Callable[[str], str] = str
) -> Iterator[EmulatedGPU]:
    """Let TVM find a GPU of the given architecture on this machine. With `counts`, the memory requests of
    warps are counted, which is slower. `edit` may change the CUDA C of the modules compiled meanwhile. Needs
    a C++ compiler.

    A run raises a RelayError for a kernel with a fault (see the package's docstring).
    """
    library = _loaded()
    major, minor = divmod(int("".join(re.findall(r"\d", arch))), 10)
    library.rx_settings(1, major, minor, counts)
    library.rx_forget()
    device.EMULATED.append(arch)
    try:
        with in_place_of_tvm(lambda source: machine_code(edit(str(source)))):
            yield EmulatedGPU(library)
    finally:
        device.EMULATED.pop()
        library.rx_settings(bool(device.EMULATED), major, minor, counts)


def compiler() -> str:
    """Return the path of the C++ compiler; raise a RelayError where there is none."""
    tool = next((path for name in COMPILERS if (path := shutil.which(name))), None)
    if tool is None:
        raise RelayError(
            "an emulated GPU needs a C++ compiler (g++, c++ or clang++), which is not on the PATH",
            help=["on Debian and Ubuntu: sudo apt-get install g++"],
        )
    return tool


@cache
def stand_ins() -> Any:
    """Load the libraries that replace NVIDIA's. Because TVM loads NVIDIA's where they exist, on a machine
    with a GPU this must happen before TVM is imported.
    """
    if other := _nvidia():
        raise RelayError(
            "this process uses the machine's GPU, so it cannot emulate one",
            help=[f"in a new process, enter emulated_gpu() before anything else ({other} is loaded)"],
        )
    folder = _libraries()
    library = ctypes.CDLL(str(folder / RUNTIME), ctypes.RTLD_GLOBAL)
    ctypes.CDLL(str(folder / DRIVER), ctypes.RTLD_GLOBAL)
    library.rx_report.restype = ctypes.c_char_p
    return library


@cache
def _loaded() -> Any:
    """Load the libraries, and TVM's runtime for CUDA on top of them."""
    library = stand_ins()
    ctypes.CDLL(str(Path(tvm().__file__).parent / "lib" / "libtvm_runtime_cuda.so"), ctypes.RTLD_GLOBAL)
    # From now on TVM calls this whenever it compiles; outside of `emulated_gpu` no machine code is needed.
    import tvm_ffi

    tvm_ffi.register_global_func(CALLBACK, lambda source: b"", override=True)
    return library


def _nvidia() -> str:
    """Return the path of NVIDIA's library if this process has loaded it."""
    maps = Path("/proc/self/maps")
    match = re.search(r"\S*libcudart\.so\S*", maps.read_text()) if maps.exists() else None
    return match[0] if match else ""


@cache
def _libraries() -> Path:
    """Return the folder with both libraries and the precompiled header of kernels; build them if the disk
    does not have them yet.
    """
    tool = compiler()
    digest = hashlib.sha256(tool.encode())
    for name in (*SOURCES, *HEADERS):
        digest.update((HERE / name).read_bytes())
    folder = kernels_on_disk.folder() / f"emulated-{digest.hexdigest()[:20]}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
            build = Path(temporary) / "made"
            build.mkdir()
            versions = Path(temporary) / "versions"
            versions.write_text(f"{RUNTIME} {{ global: {EXPORTED} local: *; }};\n")
            sources = [HERE / name for name in SOURCES]
            flags = [f"-Wl,-soname,{RUNTIME}", f"-Wl,--version-script={versions}", "-ldl"]
            _call(tool, "-O2", "-shared", *COMMON, "-o", build / RUNTIME, *sources, *flags)
            empty = Path(temporary) / "empty.cpp"
            empty.write_text("")
            _call(tool, "-shared", *COMMON, "-o", build / DRIVER, empty, f"-Wl,-soname,{DRIVER}")
            for name in HEADERS:
                shutil.copy(HERE / name, build)
            header = build / HEADERS[0]
            _call(tool, *OF_KERNELS, "-x", "c++-header", "-o", f"{header}.gch", header)
            try:
                os.rename(build, folder)
            except OSError:  # another process has built it meanwhile
                if not folder.is_dir():
                    raise
    return folder


def _call(*command: Any) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line]
        raise RelayError("the C++ compiler rejects the code for the emulated GPU", help=lines[:8])


# -- kernels


def machine_code(source: str) -> bytes:
    """Replace nvcc: compile a module's kernels to a library and return its path, which gpu.cpp's
    `cuModuleLoadData` loads.
    """
    return MARK + str(_library(source)).encode()


@cache
def _library(source: str) -> Path:
    directory = Path(_folder().name)
    name = hashlib.sha256(source.encode()).hexdigest()[:20]
    source_file, object_, library = (directory / f"{name}{ending}" for ending in (".cpp", ".o", ".so"))
    source_file.write_text(as_cpp(source))
    # Linked without the sanitizer's own library: gpu.cpp defines the functions that the code calls.
    where = [f"-I{folder}" for folder in (_libraries(), HERE)]
    _call(compiler(), *OF_KERNELS, *where, "-c", "-o", object_, source_file)
    _call(compiler(), "-shared", "-o", library, object_)
    return library


@cache
def _folder() -> Any:
    return tempfile.TemporaryDirectory(prefix="emulated-gpu-")


def as_cpp(source: str) -> str:
    """Translate CUDA C to C++, with unchanged line numbers, and append each kernel's declaration for the
    emulated GPU.
    """
    headers = r"^( *)#include <(cuda|mma|math_constants|sm_61_intrinsics)[\w./]*>"
    text = re.sub(headers, r"\1", source, flags=re.MULTILINE)
    text = re.sub(r"__shared__ alignas\((\d+)\)", r"__shared__ __attribute__((aligned(\1)))", text)
    text = re.sub(r"extern __shared__([^;]*)\[\];", r"__shared__\1[1 << 17];", text)
    text = re.sub(
        r"^( *__shared__ \S+) (half\w*|nv_bfloat\w*) (\w+)\[(\d+)\];",
        r"\1 RX_RAW(\2, \3, \4);",
        text,
        flags=re.M,
    )
    kernels = []
    for part in re.split(r'(?=extern "C" __global__)', text)[1:]:
        head = re.match(r'extern "C" __global__ void (?:__launch_bounds__\((\d+)\) )?(\w+)\((.*?)\) \{', part)
        if head is None:
            continue  # only declared
        names = (
            ", ".join(f'"{_pointer(parameter)}"' for parameter in head[3].split(","))
            if head[3].strip()
            else '""'
        )
        kernels.append(f"RX_KERNEL({head[2]}, {head[1] or 0}, {_shared(part)}, {names})")
    return '#include "kernel.h"\n#line 1\n' + text + "\n" + "\n".join(kernels) + "\n"


def _pointer(parameter: str) -> str:
    """Return the name of a pointer parameter without TVM's suffix; "" for a scalar."""
    return re.sub(r"_ptr$", "", parameter.split()[-1]) if "*" in parameter else ""


def _shared(kernel: str) -> int:
    """Return the bytes of shared memory that a kernel declares."""
    plain = re.sub(r"RX_RAW\((\w+), (\w+), (\d+)\);", r"\1 \2[\3];", kernel)
    arrays = re.findall(r"__shared__ (?:__attribute__\S+ )?([\w ]+?) \w+\[(\d+)\];", plain)
    return sum(SIZES.get(name.split()[-1], 4) * int(count) for name, count in arrays)
