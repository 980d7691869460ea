"""ConvertLayout: convert operators to desired layouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from ...ir.errors import PassOptionError, UnknownOperatorError
from ...ir.expr import Call, Function
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.types import TupleType, Type
from ...typing import infer_types
from ..canonicalize_ops import CanonicalizeOps
from ..infrastructure import Contract, Converted, PassContext
from ..infrastructure.function_passes import FunctionPass, rewritten
from .convert import converted
from .rewrite import LayoutRewriter


def _layouts(desired: object) -> object:
    """Convert names of operators and layouts to strings, because they may be objects that print as them."""
    if not isinstance(desired, Mapping):
        return desired
    return {
        str(name): [str(layout) for layout in layouts] if isinstance(layouts, (list, tuple)) else layouts
        for name, layouts in desired.items()
    }


@dataclass(frozen=True)
class ConvertLayout(FunctionPass):
    """Convert operators to `desired_layouts`, which maps names of operators to a layout for each argument.

        ConvertLayout({"nn.conv2d": ["NHWC", "default"], "nn.max_pool2d": ["NHWC"]})

    Operators between them adopt the layout if they can, so layout transforms remain only at the boundaries.
    `nn.bias_add` is first replaced by an addition. A layer that cannot have the layout, for example because
    16 does not divide its channels, stays as it is. A `LayoutConfig` excludes layers.
    """

    name = "ConvertLayout"
    opt_level = 3
    required = ("InferType", "CanonicalizeOps")
    # Sums may be accumulated in another order.
    contract = Contract(error=1e-5)

    desired_layouts: Annotated[Mapping[str, Sequence[str]] | None, Converted(_layouts)] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.desired_layouts or ():
            try:
                Op.get(name)
            except UnknownOperatorError as unknown:
                raise PassOptionError(f"ConvertLayout: {unknown.message}", help=unknown.help) from None

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        result = super().transform_module(infer_types(CanonicalizeOps()(mod)), ctx)
        return infer_types(result)

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        rewriter = LayoutRewriter(self._change, lambda op: op.name in (self.desired_layouts or ()))
        return rewritten(function, rewriter.run(function))

    def _change(self, old: Call, new: Call) -> Call | None:
        assert isinstance(new.op, Op)
        assert self.desired_layouts is not None
        return converted(new, tensor_types(old), self.desired_layouts[new.op.name])


def tensor_types(call: Call) -> list[Type]:
    """Return the types of a call's arguments, with tuples flattened."""
    types: list[Type] = []
    for arg in call.args:
        type_ = arg.checked_type
        types += type_.fields if isinstance(type_, TupleType) else [type_]
    return types
