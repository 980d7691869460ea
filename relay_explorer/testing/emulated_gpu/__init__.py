"""An emulated GPU: TVM's own runtime for CUDA, with libraries that replace NVIDIA's and run a kernel's CUDA C
on the CPU, thread by thread.

    with emulated_gpu() as gpu:
        exe = relay_explorer.build(module, "cuda")
        exe(x)
    print(*gpu.launches)

It reports reads and writes outside of a tensor, data races between threads, barriers that not all threads of
a block reach, and blocks and grids that exceed a GPU's limits. Uninitialized memory reads as NaN. It does not
estimate times.
"""

from __future__ import annotations

from .gpu import EmulatedGPU, emulated_gpu
from .launches import Access, Launch

__all__ = ["Access", "EmulatedGPU", "Launch", "emulated_gpu"]
