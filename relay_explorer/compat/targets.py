"""`tvm.target.cuda()` and similar functions: targets by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .devices import Target

_KINDS = {
    "adreno": "opencl -device=adreno", "arm_cpu": "llvm -device=arm_cpu", "bifrost": "opencl -device=bifrost",
    "cuda": "cuda", "hexagon": "hexagon", "intel_graphics": "opencl -device=intel_graphics",
    "mali": "opencl -device=mali", "metal": "metal", "rasp": "llvm -device=arm_cpu",
    "riscv_cpu": "llvm -device=riscv_cpu", "rocm": "rocm", "stm32": "c -device=stm32", "vulkan": "vulkan",
}  # fmt: skip


def _maker(text: str) -> Callable[..., Target]:
    def make(model: str = "unknown", options: str | Sequence[str] | None = None) -> Target:
        more = [options] if isinstance(options, str) else list(options or ())
        return Target(" ".join([text, f"-model={model}", *more]))

    make.__doc__ = f"The target `{text}` for a model of the device, with more options."
    return make


adreno, arm_cpu, bifrost, cuda, hexagon, intel_graphics, mali, metal, rasp, riscv_cpu, rocm, stm32, vulkan = (
    _maker(text) for text in _KINDS.values()
)

__all__ = sorted(_KINDS)
