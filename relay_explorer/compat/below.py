"""The modules of `tvm` below Relay that tests and scripts of Relay programs import.

`tvm.py` creates them. A module without places only exists so that it can be imported; the error for a name in
it says what replaces the name.
"""

from __future__ import annotations

_TOPI_TESTING = tuple(
    [f"compat.topi_testing.{part}" for part in ("conv", "nn", "data", "image", "installed")]
)

PLACES: dict[str, tuple[str, ...]] = {
    "tvm.auto_scheduler": ("compat.tuning:ApplyHistoryBest",),
    "tvm.autotvm": (
        "compat.tuning:ApplyHistoryBest", "compat.tuning:apply_history_best", "compat.tuning:DispatchContext",
        "compat.tuning:FallbackContext",
    ),
    "tvm.autotvm.task": ("compat.tuning:DispatchContext", "compat.tuning:FallbackContext"),
    "tvm.autotvm.task.space": (),
    "tvm.contrib.cc": ("compat.toolchains",),
    "tvm.contrib.cublas": ("compat.tuning:exists",),
    "tvm.contrib.cudnn": ("compat.tuning:exists",),
    "tvm.contrib.debugger": (),
    "tvm.contrib.debugger.debug_executor": ("compat.debugging:GraphModuleDebug", "compat.debugging:create"),
    "tvm.contrib.debugger.debug_runtime": ("compat.debugging:GraphModuleDebug", "compat.debugging:create"),
    "tvm.contrib.ndk": ("compat.toolchains",),
    "tvm.contrib.nvcc": ("compat.tuning:have_fp16",),
    "tvm.contrib.util": ("compat.folders",),
    "tvm.contrib.utils": ("compat.folders",),
    "tvm.meta_schedule": (),
    "tvm.rpc": (),
    "tvm.runtime.executor": ("compat.debugging:AotModule",),
    "tvm.runtime.executor.aot_executor": ("compat.debugging:AotModule",),
    "tvm.runtime.profiler_vm": ("compat.debugging:VirtualMachineProfiler",),
    "tvm.runtime.profiling": ("compat.debugging:Report",),
    "tvm.target.codegen": ("compat.tuning:llvm_version_major",),
    "tvm.testing.utils": ("compat.testing",),
    "tvm.topi": (),
    "tvm.topi.cuda": (),
    "tvm.topi.cuda.conv3d_winograd": ("compat.tuning:_infer_tile_size",),
    "tvm.topi.nn": (),
    "tvm.topi.testing": _TOPI_TESTING,
    "tvm.topi.utils": ("compat.topi_utils",),
}  # fmt: skip
