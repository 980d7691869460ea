"""Pads the units of matrix products with a constant weight to whole vectors, so that their weights can be
packed. The extra units are zeros, which are sliced off again.
"""

from __future__ import annotations

from ...ir.declaration import Trait
from ...ir.expr import Call, Constant, Expr, Function, const
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.typed import tensor_type
from ...transform.infrastructure import PassContext
from ...transform.infrastructure.function_passes import rewritten
from ...transform.tools.typed_rewrite import Rule, call, rewrite_calls
from ..targets.dots import dot_for
from .blocks import block_of, is_known, is_static
from .layouts import in_vectors, types_of
from .packed_bits import NAME as NBITS
from .packed_bits import whole_group
from .padding import Padding, Widening

STREAM_COUNTS = range(4, 9)  # numbers of blocks to sum at a time: fewer do not hide the latency


@dataclass(frozen=True)
class PadDense(Padding):
    """Pad the units of `nn.dense` to whole vectors. A bias and an activation are computed before the extra
    units are sliced off, so that they stay in the kernel of the product.
    """

    name = "PadDense"

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        rules = _Rules(self.target)
        named: dict[str, Rule] = {
            "nn.dense": rules.dense,
            NBITS: rules.nbits,
            "strided_slice": rules.slice,
        }
        named.update(dict.fromkeys(Op.names_with(Trait.POLYNOMIAL), rules.broadcast))
        named.update(dict.fromkeys(Op.names_with(Trait.CAST), rules.elementwise))
        named.update(dict.fromkeys(Op.names_with(Trait.ACTIVATION), rules.elementwise))
        return rewritten(function, rewrite_calls(function, named))


def padded_units(units: int, lanes: int) -> int:
    """Return the number of units to pad a product to; `units` if it can be packed as it is. A few extra
    blocks pay off if several blocks can then be summed at a time.
    """
    if block_of(units, lanes) >= max(lanes // 2, 4):
        return units
    block = lanes
    while block // 2 >= max(units, 4):
        block //= 2
    blocks = -(-units // block)
    for more in range(blocks, blocks + blocks // 16 + 1):
        if any(more % streams == 0 for streams in STREAM_COUNTS):
            return more * block
    return blocks * block


class _Rules(Widening):
    """The rewrite rules for one target: one for each class of operators."""

    def dense(self, old: Call, new: Call) -> Expr | None:
        """Pad the units of a matrix product that do not fill vectors, and slice off the surplus after it."""
        types = types_of(old)
        if not all(map(is_static, types)) or not is_known(new.args[1]):
            return None
        data, weight, out = tensor_type(old.args[0]), tensor_type(old.args[1]), tensor_type(old)
        dot = dot_for(self.target, data.dtype, weight.dtype)
        if not in_vectors(types) and dot is None:
            return None
        units, features = weight.concrete_shape
        padded = padded_units(units, self.target.lanes(out.dtype))
        missing = 0 if dot is None else -features % dot.products  # a lane adds that many products at a time
        if (padded, missing) == (units, 0):
            return None
        assert old.attrs is not None
        widths = ((0, padded - units), (0, missing))
        args = [new.args[0], call("nn.pad", new.args[1], const(0, weight.dtype), pad_width=widths)]
        if missing:
            sides = (*[(0, 0)] * (len(data.shape) - 1), (0, missing))
            args[0] = call("nn.pad", args[0], const(0, data.dtype), pad_width=sides)
        product = call("nn.dense", *args, units=padded, out_dtype=old.attrs["out_dtype"])
        return self.cut(product, len(out.shape) - 1, units, padded)

    def nbits(self, old: Call, new: Call) -> Expr | None:
        """Pad the units of a product with weights of few bits; the scales of the surplus are 0."""
        units = tensor_type(old.args[1]).shape[0]
        if not isinstance(units, int) or whole_group(old) is None or not all(map(is_known, new.args[1:])):
            return None
        padded = padded_units(units, self.target.lanes("float32"))
        if padded == units:
            return None
        args = [new.args[0]]
        for arg in new.args[1:]:
            type_ = tensor_type(old.args[len(args)])
            widths = ((0, padded - units), (0, 0))
            args.append(call("nn.pad", arg, const(0, type_.dtype), pad_width=widths) if type_.shape else arg)
        axis = len(tensor_type(old).shape) - 1
        return self.cut(Call(new.op, args, new.attrs), axis, units, padded)

    def broadcast(self, old: Call, new: Call) -> Expr | None:
        """Add a bias, or multiply by a scale, before the surplus units are sliced off."""
        for place, other in ((0, 1), (1, 0)):
            padded, bias = self.wide.get(new.args[place]), new.args[other]
            if padded is None or not isinstance(bias, Constant):
                continue
            wide, width = padded
            shape = tensor_type(bias).concrete_shape
            rank, units = len(tensor_type(old).shape), tensor_type(old).concrete_shape[-1]
            if tensor_type(old) != tensor_type(old.args[place]) or len(shape) > rank:
                continue
            if shape and (shape[-1] not in (1, units) or any(size != 1 for size in shape[:-1])):
                continue
            more: Expr = bias
            if shape and shape[-1] == units:
                widths = (*[(0, 0)] * (len(shape) - 1), (0, width - units))
                more = call("nn.pad", bias, const(0, tensor_type(bias).dtype), pad_width=widths)
            args = [wide, more] if place == 0 else [more, wide]
            return self.cut(Call(new.op, args, new.attrs), rank - 1, units, width)
        return None

    def elementwise(self, old: Call, new: Call) -> Expr | None:
        """Compute an activation before the surplus units are sliced off."""
        return self.alike(old, new, len(tensor_type(old).shape) - 1)

    def slice(self, old: Call, new: Call) -> Expr | None:
        """Combine a slice of a slice into one slice."""
        padded, attrs = self.wide.get(new.args[0]), new.attrs
        assert attrs is not None
        last = [len(tensor_type(old).shape) - 1]
        if padded is None or list(attrs["axes"] or ()) != last or list(attrs["strides"]) != [1]:
            return None
        begin, end = attrs["begin"][0], attrs["end"][0]
        if attrs["slice_mode"] != "end" or not 0 <= begin < end <= tensor_type(old.args[0]).shape[-1]:
            return None
        return call("strided_slice", padded[0], begin=[begin], end=[end], strides=[1], axes=last)
