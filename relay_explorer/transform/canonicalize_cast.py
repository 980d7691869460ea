"""CanonicalizeCast: duplicate widening casts, so that each fuses with its reader."""

from __future__ import annotations

import re

from ..ir.annotate import set_origin
from ..ir.expr import Call, Expr, Function
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.op import Op, OpPattern
from ..ir.rewrites import emit_rewrite
from ..ir.types import TensorType
from ..ir.walk import children, post_order, rebuild
from .infrastructure import PassContext
from .infrastructure.function_passes import TypedPass, rewritten


@dataclass(frozen=True)
class CanonicalizeCast(TypedPass):
    """Give each element-wise or broadcasting operator that reads a shared widening `cast` its own copy of it.

    Each copy can then be fused with its reader, so that the smaller tensor is passed between the kernels.
    """

    name = "CanonicalizeCast"
    opt_level = 3

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        memo: dict[Expr, Expr] = {}
        read: set[Expr] = set()
        for node in post_order(function):
            copies = (
                isinstance(node, Call) and isinstance(node.op, Op) and node.op.pattern <= OpPattern.BROADCAST
            )
            parts = []
            for part in children(node):
                result = memo[part]
                if copies and isinstance(part, Call) and _widens(part):
                    result = _copy(result, part) if part in read else result
                    read.add(part)
                parts.append(result)
            memo[node] = rebuild(node, parts)
        return rewritten(function, memo[function])


def _widens(node: Call) -> bool:
    """Whether a call is a cast to a type of more bits."""
    if not (isinstance(node.op, Op) and node.op.name == "cast"):
        return False
    before, after = node.args[0].checked_type, node.checked_type
    assert isinstance(before, TensorType)
    assert isinstance(after, TensorType)
    return _bits(before.dtype) < _bits(after.dtype)


def _bits(dtype: str) -> int:
    match = re.search(r"\d+", dtype)
    return int(match[0]) if match else 1


def _copy(result: Expr, old: Expr) -> Expr:
    assert isinstance(result, Call)
    new = Call(result.op, result.args, result.attrs, result.type_args, result.span)
    set_origin(new, (old,))
    emit_rewrite(_copy, old, new, sentence="Each reader of a widening cast gets its own copy of the cast.")
    return new
