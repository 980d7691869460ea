"""Brings the operands of products of small integers to the element types that the processor's dot instruction
multiplies, with the same 32-bit results.

`vpdpbusd` multiplies unsigned data by signed weights. Signed data x is therefore shifted to x + 128, which
adds 128 · Σ w to each sum; that is a constant for each output channel, which is subtracted again. A value is
shifted where it is computed, once for all its users, so that the shift is fused into its producer. A
processor that only multiplies pairs of 16-bit integers gets both operands widened.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.annotate import set_origin
from ...ir.declaration import Trait
from ...ir.expr import Call, Constant, Expr, Function, TupleGetItem, const
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.rewrites import emit_rewrite
from ...ir.typed import tensor_type
from ...ir.types import TensorType
from ...ir.walk import post_order, rewrite_nodes
from ...ops.nn.layout import layout_map, parse_layout
from ...transform.infrastructure import PassContext
from ...transform.infrastructure.function_passes import TypedPass, rewritten
from ...transform.tools.typed_rewrite import call
from ..targets.dots import Dot, columns_dot, dots_of
from ..targets.target import Target
from .blocks import is_known
from .layouts import types_of
from .padded_products import pays_off

SMALL = ("int8", "uint8", "int16")  # element types of the operands
OFFSET = 128  # between a signed byte and the unsigned byte of the same order


@dataclass(frozen=True)
class IntegerProducts(TypedPass):
    """Convert the operands of `nn.conv2d`, `nn.dense` and `nn.batch_matmul` from 8-bit integers to what the
    target's dot instruction multiplies. The result is the same 32-bit integer. The weight of a layer must be
    constant.

    A convolution becomes `nn.contrib_conv2d_NCHWc` in its own layout, whose attribute `pad_value` can hold
    the zero point of its data, so an `nn.pad` before it disappears.
    """

    name = "IntegerProducts"
    opt_level = 3

    target: Target

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        dots = dots_of(self.target)
        if not dots:
            return function
        columns = [dot for dot in dots if columns_dot(self.target, dot.data, dot.weight) == dot]
        return rewritten(function, _Products(dots, columns).run(function))


class _Products:
    """Rewrites one function. `plans` maps each call to rewrite to its plan; `types` maps each value that
    plans read in another element type to that type, and `converted` its rewritten expression to the value in
    that type. `columns` are the instructions that depthwise convolutions use, too.
    """

    def __init__(self, dots: tuple[Dot, ...], columns: Sequence[Dot]) -> None:
        self.dots = dots
        self.columns = columns
        self.plans: dict[Expr, _Plan] = {}
        self.types: dict[Expr, str] = {}
        self.converted: dict[tuple[Expr, str], Expr] = {}

    def run(self, function: Function) -> Expr:
        for node in post_order(function):
            plan = self._plan(node) if isinstance(node, Call) else None
            if plan is not None:
                self.plans[node] = plan
                if plan.dtype != tensor_type(plan.data).dtype and isinstance(plan.data, (Call, TupleGetItem)):
                    self.types.setdefault(plan.data, plan.dtype)
        return rewrite_nodes(function, self._rewritten) if self.plans else function

    def _plan(self, old: Call) -> _Plan | None:
        """Return how to multiply by a dot instruction; None for calls that it does not apply to."""
        if not isinstance(old.op, Op) or not old.op.has(Trait.MULTIPLY_ADD) or old.attrs is None:
            return None
        types = types_of(old)
        tensors = [t for t in types if isinstance(t, TensorType) and t.is_static and 0 not in t.shape]
        if len(tensors) < len(types) or tensors[2].dtype != "int32":
            return None
        if not old.op.has(Trait.LINEAR_IN_WEIGHT):
            return self._plan_of_pairs(old)
        if not is_known(old.args[1]):
            return None
        data, weight = tensors[0].dtype, tensors[1].dtype
        if data not in SMALL or weight not in SMALL or _blocked(old) or _has_several_outputs(old):
            return None
        source, padding, border = _without_pad(old)
        depthwise = _is_depthwise(old)
        for dot in self.dots:
            if depthwise and dot not in self.columns:
                return _Plan(source, padding, border, data, weight)
            if converts(data, dot.data) and _weight_fits(old.args[1], weight, dot.weight):
                return _Plan(source, padding, border, dot.data, dot.weight)
        return None

    def _plan_of_pairs(self, old: Call) -> _Plan | None:
        """Return the plan for a product of two computed matrices: both are widened, if that is what a dot
        instruction multiplies. A shift would need sums of rows and columns.
        """
        types = [tensor_type(arg).dtype for arg in old.args]
        *_, rows, columns = tensor_type(old).concrete_shape
        assert old.attrs is not None
        inner = tensor_type(old.args[0]).concrete_shape[1 if old.attrs["transpose_a"] else 2]
        for dot in self.dots:
            whole = inner % dot.products == 0 or pays_off(rows, columns, inner)
            if [dot.data, dot.weight] == types and whole:
                return _Plan(old.args[0], None, 0, dot.data, dot.weight)
        wide = any(dot.data == dot.weight == "int16" for dot in self.dots)
        if not wide or not set(types) <= {"int8", "uint8"}:
            return None
        return _Plan(old.args[0], None, 0, "int16", "int16")

    def _rewritten(self, node: Expr, rebuilt: Expr) -> Expr | None:
        plan = self.plans.get(node)
        if plan is not None:
            assert isinstance(node, Call)
            assert isinstance(rebuilt, Call)
            result = self._product(node, rebuilt, plan)
            set_origin(result, (node,))
            emit_rewrite(self._product, rebuilt, result, node)
            rebuilt = result
        if node not in self.types:
            return rebuilt if plan is not None else None
        dtype, own = self.types[node], tensor_type(node).dtype
        other = conversion(rebuilt, own, dtype)
        back = conversion(other, dtype, own)
        self.converted[back, dtype] = other
        set_origin(back, (node,))
        return back

    def _product(self, old: Call, new: Call, plan: _Plan) -> Expr:
        """Multiply operands of the element types of the dot instruction."""
        assert old.attrs is not None
        data_type, weight_type = tensor_type(old.args[0]).dtype, tensor_type(old.args[1]).dtype
        data = new.args[0]
        if plan.padding is not None:
            assert isinstance(data, Call)
            data = data.args[0]
        data = self._as(data, data_type, plan.dtype)
        weight = new.args[1]
        if plan.weight != weight_type:
            weight = call("cast", weight, dtype=plan.weight)
        offset = offset_of(data_type, plan.dtype)
        values = dict(old.attrs.items())
        assert isinstance(old.op, Op)
        if not old.op.has(Trait.LINEAR_IN_WEIGHT):
            return call(old.op.name, data, weight, **values)
        if "units" in values:
            return _less(call("nn.dense", data, weight, **values), weight, offset, (1,), 1)
        kernel_layout, layout = values["kernel_layout"], values["out_layout"] or values["data_layout"]
        if plan.padding is not None:
            values["padding"] = plan.padding
        values.update(pad_value=plan.border + offset, out_layout=layout)
        name = "nn.contrib_depthwise_conv2d_NCHWc" if _is_depthwise(old) else "nn.contrib_conv2d_NCHWc"
        letters = [letter for letter, _ in parse_layout(kernel_layout)]
        reduced = tuple([axis for axis, letter in enumerate(letters) if letter != "O"])
        after = len(layout) - layout.index("C")
        return _less(call(name, data, weight, **values), weight, offset, reduced, after)

    def _as(self, data: Expr, own: str, dtype: str) -> Expr:
        """Return a value in another element type, converted once."""
        if own == dtype:
            return data
        if (data, dtype) not in self.converted:
            self.converted[data, dtype] = conversion(data, own, dtype)
        return self.converted[data, dtype]


@dataclass(frozen=True)
class _Plan:
    """The operands of one product: the value that is its data, without an `nn.pad` that a convolution's own
    `padding` replaces, whose value is then `border`; and the element types of data and weight.
    """

    data: Expr
    padding: tuple[int, ...] | None
    border: int
    dtype: str
    weight: str


def converts(own: str, dtype: str) -> bool:
    """Whether a value can be represented in another element type, shifted if necessary."""
    return own == dtype or own != "int16"


def offset_of(own: str, dtype: str) -> int:
    """Return what a conversion adds to each element."""
    return OFFSET * ((own, dtype) == ("int8", "uint8")) - OFFSET * ((own, dtype) == ("uint8", "int8"))


def conversion(value: Expr, own: str, dtype: str) -> Expr:
    """Convert a value to another element type. A byte is shifted by inverting its highest bit."""
    if offset_of(own, dtype):
        highest = const(-128 if own == "int8" else 128, own)
        value = call("bitwise_xor", value, highest)
    return call("cast", value, dtype=dtype)


def _less(product: Expr, weight: Expr, offset: int, reduced: tuple[int, ...], after: int) -> Expr:
    """Subtract the sums of the weights times `offset`; `after` is the number of the result's axes from its
    channels on.
    """
    if not offset:
        return product
    sums = call("sum", call("cast", weight, dtype="int32"), axis=reduced)
    surplus = call("multiply", sums, const(offset, "int32"))
    if after > 1:
        surplus = call("expand_dims", surplus, axis=1, num_newaxis=after - 1)
    return call("subtract", product, surplus)


def _weight_fits(weight: Expr, own: str, dtype: str) -> bool:
    """Whether a constant weight is exact in another element type. Unsigned weights are also signed if none
    exceeds 127.
    """
    if own == dtype or dtype == "int16":
        return True
    return (
        (own, dtype) == ("uint8", "int8")
        and isinstance(weight, Constant)
        and bool(weight.data.numpy().max() < 128)
    )


def _blocked(old: Call) -> bool:
    """Whether a layer already has a blocked layout."""
    assert old.attrs is not None
    names = [old.attrs[name] for name in ("data_layout", "kernel_layout", "out_layout") if name in old.attrs]
    return any(letter.islower() for name in names for letter in name)


def _has_several_outputs(old: Call) -> bool:
    """Whether a depthwise convolution has several outputs per channel and a layout whose I is their number,
    such as HWOI.
    """
    attrs = old.attrs
    assert attrs is not None
    if "groups" not in attrs or attrs["groups"] == 1:
        return False
    weight = layout_map(attrs["kernel_layout"], "OIHW").forward(
        tensor_type(old.args[1]).shape, 1, "the weight"
    )
    layout = attrs["out_layout"] or attrs["data_layout"]
    return bool(tensor_type(old).shape[layout.index("C")] != weight[0])


def _is_depthwise(old: Call) -> bool:
    """Whether a convolution has one filter for each channel."""
    attrs = old.attrs
    assert attrs is not None
    if "groups" not in attrs or attrs["groups"] == 1:
        return False
    weight = layout_map(attrs["kernel_layout"], "OIHW").forward(
        tensor_type(old.args[1]).shape, 1, "the weight"
    )
    return bool(attrs["groups"] == weight[0] and weight[1] == 1)


def _without_pad(old: Call) -> tuple[Expr, tuple[int, ...] | None, int]:
    """Return the data of a layer. If an `nn.pad` of rows and columns by a constant comes before a convolution
    that does not pad, return the operand of the pad, the padding that replaces it, and its value.
    """
    data = old.args[0]
    assert old.attrs is not None
    if "padding" not in old.attrs or any(old.attrs["padding"]):
        return data, None, 0
    if not (isinstance(data, Call) and data.op is Op.get("nn.pad") and data.attrs is not None):
        return data, None, 0
    value, widths = data.args[1], data.attrs["pad_width"]
    by_axis = dict(zip(old.attrs["data_layout"], widths, strict=True))
    constant = isinstance(value, Constant) and data.attrs["pad_mode"] == "constant"
    if not constant or any(sum(by_axis[letter]) for letter in "NC") or any(n < 0 for w in widths for n in w):
        return data, None, 0
    assert isinstance(value, Constant)
    (top, bottom), (left, right) = by_axis["H"], by_axis["W"]
    return data.args[0], (top, left, bottom, right), int(value.data.numpy().reshape(()))
