"""EliminateCommonSubexpr: compute equal subexpressions once."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from ..ir.annotate import set_origin
from ..ir.expr import Call, Constant, Expr, Function, Tuple, TupleGetItem
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.rewrites import emit_rewrite
from ..ir.walk import rewrite_nodes
from ..typing import infer_types
from .infrastructure import PassContext
from .infrastructure.function_passes import FunctionPass, rewritten


@dataclass(frozen=True)
class EliminateCommonSubexpr(FunctionPass):
    """Replace equal operator calls, and equal projections of a tuple, by one shared expression.

    Calls are equal if they have equal attributes and the same arguments. Expressions for which `fskip(expr)`
    is true are left alone.
    """

    name = "EliminateCommonSubexpr"
    opt_level = 3
    required = ("InferType",)

    fskip: Callable[[Expr], bool] | None = None

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return infer_types(super().transform_module(mod, ctx))

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        first: dict[Hashable, Expr] = {}
        became: dict[int, list[Expr]] = {}  # by the id of a shared expression: the originals that it replaces

        def shared(node: Expr, new: Expr) -> Expr | None:
            key = _key(new)
            if key is None or (self.fskip is not None and self.fskip(new)):
                return None
            earlier = first.setdefault(key, new)
            if earlier is not new:
                why = "An equal expression was computed before, so it is reused."
                emit_rewrite(self.transform_function, new, earlier, node, sentence=why)
            became.setdefault(id(earlier), []).append(node)
            return earlier

        return rewritten(function, _with_origins(rewrite_nodes(function, shared), became))


def _with_origins(root: Expr, became: dict[int, list[Expr]]) -> Expr:
    """Set, as the origin of each shared expression in `root`, all the expressions that it replaces."""

    def with_sources(node: Expr, rebuilt: Expr) -> Expr | None:
        sources = became.get(id(node), [])
        if len(sources) <= 1:
            return None
        # The node may belong to the input program, which must stay unchanged.
        return set_origin(_copied(node) if rebuilt is node else rebuilt, sources)

    return rewrite_nodes(root, with_sources)


def _copied(node: Expr) -> Expr:
    if isinstance(node, TupleGetItem):
        return TupleGetItem(node.tuple_value, node.index, node.span)
    assert isinstance(node, Call)
    return Call(node.op, node.args, node.attrs, node.type_args, node.span)


def _key(node: Expr) -> Hashable | None:
    """Return a key that is equal for equal computations; None for calls of random operators, and for anything
    that is neither a call of an operator nor a projection.
    """
    match node:
        case Call(op=Op() as op) if not op.get_attr("TOpIsStateful"):
            attrs = tuple(node.attrs.items()) if node.attrs is not None else ()
            return op.name, repr(attrs), tuple(map(_argument, node.args))
        case TupleGetItem():
            return id(node.tuple_value), node.index
    return None


def _argument(arg: Expr) -> Hashable:
    """Return the key of an argument: for a tuple, the keys of its fields."""
    return tuple(map(_identity, arg.fields)) if isinstance(arg, Tuple) else _identity(arg)


def _identity(arg: Expr) -> Hashable:
    """Return the key of an expression: its identity, or the value of a scalar literal, because equal literals
    are interchangeable.
    """
    if isinstance(arg, Constant) and not arg.data.shape:
        return arg.data
    return id(arg)
