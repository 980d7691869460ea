"""Attributes that old code sets on operators: `register_gradient("exp", …)`, `TempOpAttr`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir.op import Op
from ..ops.register import (
    register,
    register_alter_op_layout,
    register_convert_op_layout,
    register_infer_correct_layout,
    register_legalize,
    register_mixed_precision_conversion,
    register_op_attr,
    register_pattern,
    register_stateful,
)
from ..transform.fake_quantization import (
    register_fake_quantization_to_integer,
    register_optional_fake_quantization_to_integer,
)


def _setter(key: str, what: str) -> Callable[..., Any]:
    def enter(op_name: str, value: Any = None, level: int = 10) -> Any:
        return register_op_attr(op_name, key, value, level)

    enter.__doc__ = f"Set {what} of an operator (`{key}`); `get_attr` returns it."
    return enter


register_gradient = _setter("FPrimalGradient", "the gradient")
register_compute = _setter("FTVMCompute", "the tensor expression")
register_strategy = _setter("FTVMStrategy", "the choice of implementations")
register_schedule = _setter("FTVMSchedule", "the schedule")
register_shape_func = _setter("FShapeFunc", "the function of shapes")
register_qnn_legalize = _setter("FTVMQnnLegalize", "the replacement on a target, for the dialect `qnn`,")
register_qnn_canonicalize = _setter("FTVMQnnCanonicalize", "the plain form of an operator of `qnn`")


class TempOpAttr:
    """Sets an attribute of an operator for the duration of a `with`."""

    def __init__(self, op_name: str, attr_key: str, attr_value: Any) -> None:
        self.op = Op.get(op_name)
        self.key = attr_key
        self.value = attr_value
        self.before: Any = None

    def __enter__(self) -> TempOpAttr:
        self.before = self.op.get_attr(self.key)
        self.op.reset_attr(self.key)
        self.op.set_attr(self.key, self.value)
        return self

    def __exit__(self, *exception: object) -> None:
        self.op.reset_attr(self.key)
        if self.before is not None:
            self.op.set_attr(self.key, self.before)


__all__ = [
    "TempOpAttr", "register", "register_alter_op_layout", "register_compute", "register_convert_op_layout",
    "register_fake_quantization_to_integer", "register_gradient", "register_infer_correct_layout",
    "register_legalize", "register_mixed_precision_conversion", "register_op_attr",
    "register_optional_fake_quantization_to_integer",
    "register_pattern", "register_schedule", "register_shape_func",
    "register_stateful", "register_strategy",
]  # fmt: skip
