"""A GPU for machines that have none: TVM's own runtime for CUDA, with libraries in the place of NVIDIA's,
which run a kernel's CUDA C on this machine, thread by thread.

    with emulated_gpu() as gpu:
        exe = relay_explorer.build(module, "cuda")
        exe(x)
    print(*gpu.launches)

What it sees, it says: a read or write outside of a tensor, two threads at one place of memory without a
barrier between, barriers that not all threads of a block reach, blocks and grids that no GPU takes. Memory
that nobody wrote is not a number. It does not say how fast anything is.
"""

from __future__ import annotations

from .gpu import EmulatedGPU, emulated_gpu
from .launches import Access, Launch

__all__ = ["Access", "EmulatedGPU", "Launch", "emulated_gpu"]
