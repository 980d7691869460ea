"""The modules of `tvm` below Relay that tests and scripts of Relay programs import.

`tvm.py` creates them. A module without places only exists so that it can be imported; the error for a name in
it says what replaces the name.
"""

from __future__ import annotations

_TOPI_TESTING = tuple(
    [f"compat.topi_testing.{part}" for part in ("conv", "nn", "data", "image", "installed")]
)

PLACES: dict[str, tuple[str, ...]] = {
    "tvm.auto_scheduler": ("compat.auto_scheduler",),
    "tvm.auto_scheduler.measure": ("compat.auto_scheduler",),
    "tvm.auto_scheduler.measure_record": ("compat.auto_scheduler",),
    "tvm.auto_scheduler.task_scheduler": ("compat.auto_scheduler",),
    "tvm.auto_scheduler.utils": (),
    "tvm.autotvm": ("compat.tuning", "compat.autotvm"),
    "tvm.autotvm.callback": ("compat.autotvm:log_to_file", "compat.autotvm:progress_bar"),
    "tvm.autotvm.graph_tuner": ("compat.autotvm:DPTuner", "compat.autotvm:PBQPTuner"),
    "tvm.autotvm.measure": ("compat.autotvm",),
    "tvm.autotvm.record": ("compat.autotvm",),
    "tvm.autotvm.task": ("compat.tuning", "compat.autotvm"),
    "tvm.autotvm.task.space": (),
    "tvm.autotvm.tuner": ("compat.autotvm",),
    "tvm.contrib.download": ("compat.download",),
    "tvm.contrib.cc": ("compat.toolchains",),
    "tvm.contrib.cublas": ("compat.tuning:exists",),
    "tvm.contrib.cudnn": ("compat.tuning:exists",),
    "tvm.contrib.debugger": (),
    "tvm.contrib.debugger.debug_executor": ("compat.debugging:GraphModuleDebug", "compat.debugging:create"),
    "tvm.contrib.debugger.debug_runtime": ("compat.debugging:GraphModuleDebug", "compat.debugging:create"),
    "tvm.contrib.ndk": ("compat.toolchains",),
    "tvm.contrib.nvcc": ("compat.tuning:have_fp16",),
    "tvm.contrib.thrust": ("compat.tuning:can_use_thrust",),
    "tvm.contrib.util": ("compat.folders",),
    "tvm.contrib.utils": ("compat.folders",),
    "tvm.driver": (),
    "tvm.driver.tvmc": ("compat.tvmc",),
    "tvm.driver.tvmc.model": ("compat.tvmc",),
    "tvm.meta_schedule": (),
    "tvm.rpc": ("compat.rpc",),
    "tvm.rpc.client": ("compat.rpc",),
    "tvm.rpc.server": ("compat.rpc:Server",),
    "tvm.rpc.tracker": ("compat.rpc:Tracker",),
    "tvm.runtime.executor": ("compat.debugging:AotModule",),
    "tvm.runtime.executor.aot_executor": ("compat.debugging:AotModule",),
    "tvm.runtime.profiler_vm": ("compat.debugging:VirtualMachineProfiler",),
    "tvm.runtime.profiling": ("compat.debugging:Report",),
    "tvm.target.codegen": ("compat.tuning:llvm_version_major",),
    "tvm.testing.utils": ("compat.testing",),
    "tvm.topi": ("compat.forwarded.topi_root",),
    "tvm.topi.cuda": (),
    "tvm.topi.cuda.conv3d_winograd": ("compat.tuning:_infer_tile_size",),
    "tvm.topi.image": ("compat.forwarded.topi_image",),
    "tvm.topi.nn": ("compat.forwarded.topi_nn",),
    "tvm.topi.nn.qnn": ("compat.qnn_tables",),
    "tvm.topi.vision": ("compat.forwarded.topi_vision",),
    "tvm.topi.testing": _TOPI_TESTING,
    "tvm.topi.utils": ("compat.topi_utils",),
}  # fmt: skip
