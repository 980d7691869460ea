"""`tvm.testing.requires_…`: what a test requires of the machine and of TVM's build.

Old tests run on the CPU here, compiled or interpreted as they ask. A test that only requires a CPU target
therefore runs; one that requires another device, a library of operators or a certain version of a compiler is
skipped, with the reason.
"""

from __future__ import annotations

import importlib.util
import platform
from collections.abc import Callable
from typing import Any

from .compiling import compiler_is_here

_NO_DEVICE = "old tests run on the CPU"
_NO_CODE = "it is about the code of a certain version, and the installed TVM generates the code"
_NO_LIBRARY = "no libraries of operators are called: every kernel is generated"


class Feature:
    """A requirement of a test. It is a decorator, `@requires_cuda`, and provides marks for single parameters,
    `pytest.param(…, marks=requires_cuda.marks())`.
    """

    def __init__(self, name: str, missing: str | None = None) -> None:
        self.name = name
        self.missing = missing  # the reason why it is missing; None where it is available

    def marks(self) -> list[Any]:
        """Return the pytest marks of the feature."""
        import pytest

        marks = [pytest.mark.gpu] if self.name in _GPU else []
        if self.missing is not None:
            marks.append(pytest.mark.skip(reason=f"needs {self.name}: {self.missing}"))
        return marks

    def __call__(self, func: Callable[..., Any] | None = None, **options: object) -> Any:
        """Decorate a test or a class; `@requires_llvm()` works as well."""
        if func is None:
            return self
        for mark in self.marks():
            func = mark(func)
        return func


def _no_code_for(*machines: str) -> str | None:
    """Return why there is no machine code for processors with these names; None where there is."""
    if platform.machine() not in machines:
        return f"this machine is {platform.machine()}"
    return None if compiler_is_here() else "TVM, which generates machine code, is not installed"


_GPU = ("a GPU", "CUDA", "ROCm", "Vulkan", "Metal", "OpenCL")

requires_llvm = Feature("LLVM")
requires_gpu = Feature("a GPU", _NO_DEVICE)
requires_cuda = Feature("CUDA", _NO_DEVICE)
requires_nvptx = Feature("CUDA", _NO_DEVICE)
requires_cudagraph = Feature("CUDA", _NO_DEVICE)
requires_tensorcore = Feature("CUDA", _NO_DEVICE)
requires_rocm = Feature("ROCm", _NO_DEVICE)
requires_matrixcore = Feature("ROCm", _NO_DEVICE)
requires_vulkan = Feature("Vulkan", _NO_DEVICE)
requires_metal = Feature("Metal", _NO_DEVICE)
requires_opencl = Feature("OpenCL", _NO_DEVICE)
requires_adreno_opencl = Feature("OpenCL", _NO_DEVICE)
requires_hexagon = Feature("Hexagon", _NO_DEVICE)
requires_x86 = Feature("code for x86", _no_code_for("x86_64", "AMD64"))
requires_x86_vnni = Feature("code for x86 with VNNI", _NO_CODE)
requires_x86_avx512 = Feature("code for x86 with AVX-512", _NO_CODE)
requires_x86_amx = Feature("code for x86 with AMX", _NO_CODE)
requires_arm_dot = Feature("code for ARM with dot products", _NO_CODE)
requires_arm_fp16 = Feature("code for ARM with half precision", _NO_CODE)
requires_aarch64_sve = Feature("code for ARM with SVE", _NO_CODE)
requires_aprofile_aem_fvp = Feature("a model of an ARM machine", _NO_CODE)
requires_corstone300 = Feature("a model of an ARM machine", _NO_CODE)
requires_ethosn = Feature("Ethos-N", _NO_CODE)
requires_ethosu = Feature("Ethos-U", _NO_CODE)
requires_cmsisnn = Feature("CMSIS-NN", _NO_LIBRARY)
requires_micro = Feature("microTVM", _NO_CODE)
requires_rpc = Feature("remote calls", "programs run in this process")
requires_vitis_ai = Feature("Vitis AI", _NO_LIBRARY)
requires_cudnn = Feature("cuDNN", _NO_LIBRARY)
requires_cublas = Feature("cuBLAS", _NO_LIBRARY)
requires_cutlass = Feature("CUTLASS", _NO_LIBRARY)
requires_hipblas = Feature("hipBLAS", _NO_LIBRARY)
requires_rocblas = Feature("rocBLAS", _NO_LIBRARY)
requires_mps = Feature("Metal's shaders", _NO_LIBRARY)
requires_nnapi = Feature("NNAPI", _NO_LIBRARY)
requires_mkl = Feature("MKL", _NO_LIBRARY)
requires_mkldnn = Feature("oneDNN", _NO_LIBRARY)
requires_dnnl = Feature("oneDNN", _NO_LIBRARY)
requires_libtorch = Feature("libtorch inside TVM", _NO_LIBRARY)
requires_opencl_clml = Feature("CLML", _NO_LIBRARY)
requires_openclml = Feature("CLML", _NO_LIBRARY)
requires_libxsmm = Feature("libxsmm", _NO_LIBRARY)


def requires_llvm_minimum_version(major_version: int) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a test of the code that LLVM from a certain version on generates."""
    return Feature(f"LLVM {major_version}", _NO_CODE)


def requires_nvcc_version(
    major: int, minor: int = 0, release: int = 0
) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a test of the code that a certain version of nvcc generates."""
    return Feature(f"nvcc {major}.{minor}.{release}", _NO_CODE)


def requires_cuda_compute_version(
    major: int, minor: int = 0, exact: bool = False
) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a test that needs a GPU of a certain compute capability."""
    return Feature("CUDA", _NO_DEVICE)


def requires_package(*packages: str) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a test that needs Python packages: it is skipped where one is not installed."""
    absent = [name for name in packages if importlib.util.find_spec(name.partition(".")[0]) is None]
    return Feature(f"the package {', '.join(packages)}", f"{absent[0]} is not installed" if absent else None)


def uses_gpu(*func: Callable[..., Any]) -> Any:
    """Decorate a test that runs on a GPU too, where there is one. Here it runs on the CPU."""
    import pytest

    return pytest.mark.uses_gpu(func[0]) if func else pytest.mark.uses_gpu


__all__ = [name for name in dir() if name.startswith("requires_")]
__all__ += ["Feature", "uses_gpu"]
