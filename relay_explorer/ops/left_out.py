"""Operators of TVM 0.14 that this package lacks, with the reasons: a backend, a pass or an annotation
scheme introduces them, so programs as users write them have none. Names are the operators' own; a name that
ends in a dot stands for all that begin with it.
"""

from __future__ import annotations

from ..ir.hooks import provide

_KERNELS = "it is one backend's own algorithm for {instead}"
_PLACES = "it names the device of a value; here a program runs in this process"
_MEMORY = "it is the code of TVM's virtual machine or of its memory planning, not of a program"
_TUNING = "auto-tuning inserted it, for layouts that its search had chosen"
_MARKS = "it marks a program for one of TVM's passes, and computes nothing"

LEFT_OUT: dict[str, str] = {
    "nn.contrib_conv2d_winograd_nnpack_weight_transform": _KERNELS.format(instead="nn.conv2d"),
    "nn.contrib_conv2d_winograd_nnpack_without_weight_transform": _KERNELS.format(instead="nn.conv2d"),
    "nn.contrib_conv2d_gemm_weight_transform": _KERNELS.format(instead="nn.conv2d"),
    "nn.contrib_conv2d_gemm_without_weight_transform": _KERNELS.format(instead="nn.conv2d"),
    "nn.contrib_conv3d_winograd_weight_transform": _KERNELS.format(instead="nn.conv3d"),
    "nn.contrib_conv3d_winograd_without_weight_transform": _KERNELS.format(instead="nn.conv3d"),
    "nn.internal.": _KERNELS.format(instead="nn.sparse_dense"),
    "nn.sparse_conv2d": _KERNELS.format(instead="nn.conv2d"),
    "auto_scheduler_layout_transform": _TUNING,
    "meta_schedule_layout_transform": _TUNING,
    "device_copy": _PLACES,
    "shape_func": _MEMORY,
    "memory.": _MEMORY,
    "vm.": _MEMORY,
    "call_lowered": _MEMORY,
    "annotation.bitpack_start": _MARKS,
    "annotation.bitpack_end": _MARKS,
    "debug": "it stops in a debugger of C++; relay_explorer.explore shows a program's values",
    "contrib.ethosu.": _KERNELS.format(instead="a convolution or a pool"),
}


def reason(name: str) -> str | None:
    """Return why there is no operator called `name`; None where TVM had none either, or where it is
    declared.
    """
    for left_out, why in LEFT_OUT.items():
        if name == left_out or (left_out.endswith(".") and f"{name}.".startswith(left_out)):
            return why
    return None


provide("why_left_out", reason)
