"""The modules of `tvm.relay.frontend` that old code imports, for the table in `tvm.py`."""

from __future__ import annotations

_COMMON = (
    "compat.frontend_common", "compat.relay_testing:run_infer_type as infer_type",
    "ir.tuple_wrapper:TupleWrapper",
)  # fmt: skip

PLACES: dict[str, tuple[str, ...]] = {
    "tvm.relay.frontend": ("frontends",),
    "tvm.relay.frontend.common": _COMMON,
    "tvm.relay.frontend.keras": ("frontends:from_keras",),
    "tvm.relay.frontend.mxnet": ("frontends:from_mxnet",),
    "tvm.relay.frontend.onnx": ("frontends:from_onnx",),
    "tvm.relay.frontend.pytorch": ("frontends:from_pytorch",),
    "tvm.relay.frontend.pytorch_utils": ("compat.frontend_common:is_version_greater_than",),
    "tvm.relay.frontend.tensorflow": ("frontends:from_tensorflow",),
    "tvm.relay.frontend.tensorflow2": ("frontends:from_tensorflow",),
    "tvm.relay.frontend.tflite": ("frontends.tflite:from_tflite", "frontends.tflite:OperatorConverter"),
}
