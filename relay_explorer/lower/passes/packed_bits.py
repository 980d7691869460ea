"""Packs the weights of few bits (`nn.contrib_dense_nbits`) for a processor's vectors, when the program is
compiled.

The bytes of a row are joined to words of 32 bits, and the words of as many rows as a vector has lanes become
neighbours. One load then brings a word for each of these outputs, and shifts and masks unpack it: eight
weights of four bits for each output, without leaving the registers.
"""

from __future__ import annotations

from ...ir.expr import Call, Expr, Function, const
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.typed import tensor_type
from ...ops.numeric import np
from ...transform.infrastructure import PassContext
from ...transform.infrastructure.function_passes import TypedPass, rewritten
from ...transform.tools.typed_rewrite import call, rewrite_calls
from ..targets.target import Target
from .blocks import block_of, is_known

NAME = "nn.contrib_dense_nbits"
WORD_BITS, WORD_BYTES = 32, 4  # of a lane
DTYPES = ("float32", "float16")


@dataclass(frozen=True)
class PackBits(TypedPass):
    """Pack constant weights of few bits into words, in blocks of as many outputs as a vector has lanes.

    Rows are padded to whole groups; `PadDense` has padded the outputs to whole vectors. Sums are computed in
    float32. A weight whose groups do not fill whole words stays as it is.
    """

    name = "PackBits"
    opt_level = 3

    target: Target

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewritten(function, rewrite_calls(function, {NAME: self.packed}))

    def packed(self, old: Call, new: Call) -> Expr | None:
        """Pack the weight, the scales and the zero points of a product."""
        data, weight, scales, zeros = (tensor_type(arg) for arg in old.args)
        group, attrs = whole_group(old), new.attrs
        assert attrs is not None
        block = block_of(tensor_type(old).concrete_shape[-1], self.target.lanes("float32")) if group else 1
        if group is None or block == 1 or not all(map(is_known, new.args[1:])):
            return None
        units, groups = scales.concrete_shape
        layout = f"NC{block}n"

        def in_blocks(matrix: Expr) -> Expr:
            return call("layout_transform", matrix, src_layout="NC", dst_layout=layout)

        words = groups * group * attrs["bits"] // WORD_BITS
        parts = [
            in_blocks(_words(new.args[1], units, weight.concrete_shape[1], words)),
            in_blocks(call("cast", new.args[2], dtype="float32")),
            in_blocks(new.args[3]) if zeros.shape else new.args[3],
        ]
        x = new.args[0] if data.dtype == "float32" else call("cast", new.args[0], dtype="float32")
        surplus = groups * group - data.concrete_shape[-1]
        if surplus:
            x = call("nn.pad", x, const(0.0), pad_width=(*[(0, 0)] * (len(data.shape) - 1), (0, surplus)))
        result = call(NAME, x, *parts, bits=attrs["bits"], group_size=group, weight_layout=layout)
        return result if data.dtype == "float32" else call("cast", result, dtype=data.dtype)


def whole_group(old: Call) -> int | None:
    """Return the number of weights in a group of a product, rounded up to whole words if there is a single
    group; None if the weight cannot be packed into words.
    """
    attrs = old.attrs
    assert attrs is not None
    types = [tensor_type(arg) for arg in old.args]
    data, weight, scales = types[:3]
    if not all(type_.is_static and 0 not in type_.shape for type_ in types) or attrs["weight_layout"] != "NC":
        return None
    if weight.dtype != "uint8" or {data.dtype, scales.dtype} - set(DTYPES):
        return None
    features, per = data.concrete_shape[-1], WORD_BITS // attrs["bits"]
    group: int = attrs["group_size"]
    if group == 0 or group >= features:
        group = -(-features // per) * per
    return None if group % per else group


def _words(weight: Expr, units: int, have: int, words: int) -> Expr:
    """Join the bytes of each row, of which there are `have`, to words: the first byte is the lowest."""
    surplus = words * WORD_BYTES - have
    if surplus:
        weight = call("nn.pad", weight, const(0, "uint8"), pad_width=((0, 0), (0, surplus)))
    parts = call("reshape", call("cast", weight, dtype="int32"), newshape=(units, words, WORD_BYTES))
    shifts = const(np.arange(WORD_BYTES, dtype="int32") * 8)
    return call("sum", call("left_shift", parts, shifts), axis=[2])
