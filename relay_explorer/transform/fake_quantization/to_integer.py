"""FakeQuantizationToInteger: the pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from ...ir.errors import PassOptionError, UnknownOperatorError
from ...ir.expr import Function
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...ops.qnn.config import COMPUTE_DTYPES, ROUNDINGS
from ...typing import infer_types
from ..infrastructure import Contract, Converted, PassContext
from ..infrastructure.function_passes import TypedPass, rewritten
from ..infrastructure.options import refusal
from .affine import Arithmetic
from .regions import RegionConverter
from .single import SingleConverter


def _names(names: object) -> object:
    return (
        [str(name) for name in names] if isinstance(names, (list, tuple)) else () if names is None else names
    )


@dataclass(frozen=True)
class FakeQuantizationToInteger(TypedPass):
    """Compute with integers what lies between `qnn.dequantize` and `qnn.quantize`.

        qnn.quantize(nn.dense(qnn.dequantize(%x, …), qnn.dequantize(%w, …)), …)
        becomes  qnn.requantize(qnn.dense(%x, %w, …), …)

    A region in which one operator has no integer form, or reads a value that is not quantized, stays as it
    is, and an event (`fake_quantization.Region`) says why; with `hard_fail` this is an error. With `use_qat`,
    operators of such regions whose operands are all dequantized are then converted one at a time.
    `optional_qnn_ops` names operators that are only converted on request: "nn.softmax", whose integer form is
    less accurate.

    `rounding` and `compute_dtype` are those of `qnn.requantize`: with "TOEVEN" and "float32" the integers are
    those of a program that computes in float32 between its `qnn.dequantize` and `qnn.quantize`, except in
    rare cases of a sum near a tie.

    Each element is rounded once where the scales differ, so that results may differ by one step of the scale
    of the `qnn.quantize`. A value that would be quantized between its operators is computed with more bits.
    """

    name = "FakeQuantizationToInteger"
    opt_level = 0
    # Integers may differ by one; see the docstring.
    contract = Contract(error=1.0)

    hard_fail: bool = False
    use_qat: bool = False
    optional_qnn_ops: Annotated[Sequence[str], Converted(_names)] = ()
    rounding: str = "None"
    compute_dtype: str = "None"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.optional_qnn_ops:
            try:
                Op.get(name)
            except UnknownOperatorError as unknown:
                raise PassOptionError(
                    f"FakeQuantizationToInteger: {unknown.message}", help=unknown.help
                ) from None

        for name, allowed in (("rounding", ROUNDINGS), ("compute_dtype", COMPUTE_DTYPES)):
            if getattr(self, name) not in ("None", *allowed):
                words = "one of " + ", ".join(repr(word) for word in ("None", *allowed))
                raise refusal("FakeQuantizationToInteger", name, getattr(self, name), words)

    @property
    def _arithmetic(self) -> Arithmetic:
        return Arithmetic(self.rounding, self.compute_dtype)

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        result = super().transform_module(mod, ctx)
        if not self.use_qat:
            return result
        result = infer_types(result)
        optional = frozenset(self.optional_qnn_ops)
        for var, function in result.functions.items():
            if isinstance(function, Function) and "Compiler" not in function.attrs:
                result[var] = rewritten(function, SingleConverter(optional, self._arithmetic).run(function))
        return result

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        converter = RegionConverter(self.hard_fail, frozenset(self.optional_qnn_ops), self._arithmetic)
        return rewritten(function, converter.run(function))
