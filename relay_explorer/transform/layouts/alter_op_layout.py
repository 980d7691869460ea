"""AlterOpLayout: let operators choose their layouts by registered functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, Function
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...typing import infer_types
from ..infrastructure import Contract, PassContext
from ..infrastructure.function_passes import TypedPass, rewritten
from .convert_layout import tensor_types
from .rewrite import LayoutRewriter

PROPERTY = "FTVMAlterOpLayout"
# Maps the attributes, the arguments, their types and the type of the result to another call, or None.
Alter = Callable[[Anything, list[Expr], Sequence[Anything], Anything], Anything]


@dataclass(frozen=True)
class AlterOpLayout(TypedPass):
    """Replace each operator that has the property `FTVMAlterOpLayout` by what the property's function
    returns.

    The function gets the attributes, the arguments, their types and the type of the result, and returns
    another call or None. The call may be of another operator, in other layouts, with other attributes:

        @relay.op.register_alter_op_layout("nn.conv2d")
        def in_blocks(attrs, inputs, tinfos, out_type):
            return relay.nn.conv2d(*inputs, **{**attrs, "data_layout": "NCHW16c", "kernel_layout": "OIHW16i"})

    Operators that follow adopt the layout, as in ConvertLayout. No operator has the property by default,
    because the target decides which layout is fast. `rules`, a mapping from operator names to such functions,
    replaces the properties.
    """

    name = "AlterOpLayout"
    opt_level = 3
    contract = Contract(error=1e-5)

    rules: Mapping[str, Alter] | None = None

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return infer_types(super().transform_module(mod, ctx))

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewritten(function, LayoutRewriter(self._altered, self._may_alter).run(function))

    def _rule(self, op: Op) -> Alter | None:
        rule: Alter | None = op.get_attr(PROPERTY) if self.rules is None else self.rules.get(op.name)
        return rule

    def _may_alter(self, op: Op) -> bool:
        return self._rule(op) is not None

    def _altered(self, old: Call, new: Call) -> Call | None:
        op = new.op
        assert isinstance(op, Op)
        alter = self._rule(op)
        assert alter is not None
        altered = alter(new.attrs, list(new.args), tensor_types(old), old.checked_type)
        if altered is not None and not isinstance(altered, Call):
            raise RelayError(
                f"the layout of `{op.name}` is altered into {altered!r:.80}",
                help=["only a call can take the place of a call"],
            )
        return altered
