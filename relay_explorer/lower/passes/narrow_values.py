"""Keeps integers between kernels in their narrowest type.

Simplification removes pairs of casts that cancel: of `cast(cast(clip(x, 0, 255), "uint8"), "int32")` only the
`clip` remains. If the value is also needed as uint8, because a convolution reads it, a kernel would then
store 32 bits for each element, and another one would convert them to 8.
"""

from __future__ import annotations

from ...ir.annotate import set_origin
from ...ir.expr import Call, Expr, Function
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.ndarray import itemsize
from ...ir.op import Op
from ...ir.rewrites import emit_rewrite
from ...ir.typed import tensor_type
from ...ir.types import TensorType
from ...ir.walk import children, post_order, rewrite_nodes
from ...transform.infrastructure import PassContext
from ...transform.infrastructure.function_passes import TypedPass, rewritten
from ...transform.tools.typed_rewrite import call

BOUNDS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "uint16": (0, 65535)}


@dataclass(frozen=True)
class NarrowValues(TypedPass):
    """Let all users of a clipped integer read its narrow form, where one of them casts it to that form
    exactly.
    """

    name = "NarrowValues"
    opt_level = 3

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        nodes = post_order(function)
        users: dict[Expr, list[Expr]] = {}
        for node in nodes:
            for part in children(node):
                users.setdefault(part, []).append(node)
        narrow = {node: dtype for node in nodes if (dtype := _narrow_type(node, users.get(node, [])))}
        if not narrow:
            return function

        def widen(node: Expr, rebuilt: Expr) -> Expr | None:
            """Read a value in its narrow form."""
            if node not in narrow:
                return None
            result = call("cast", call("cast", rebuilt, dtype=narrow[node]), dtype=tensor_type(node).dtype)
            set_origin(result, (node,))
            emit_rewrite(widen, rebuilt, result, node)
            return result

        def shorten(node: Expr, rebuilt: Expr) -> Expr | None:
            """Remove a cast of a narrow value to its own type."""
            if not isinstance(node, Call) or not isinstance(rebuilt, Call) or node.args[0] not in narrow:
                return None
            wide = rebuilt.args[0]
            if _cast_type(node) != narrow[node.args[0]] or not isinstance(wide, Call):
                return None
            return wide.args[0]

        return rewritten(
            function,
            rewrite_nodes(function, lambda node, rebuilt: widen(node, rebuilt) or shorten(node, rebuilt)),
        )


def _narrow_type(node: Expr, users: list[Expr]) -> str:
    """Return the narrower type that represents a clipped integer, if a user casts it to that type and another
    one does not; "" otherwise.
    """
    if not isinstance(node, Call) or node.op is not Op.get("clip") or node.attrs is None:
        return ""
    type_ = node.checked_type
    if not isinstance(type_, TensorType) or not type_.dtype.startswith(("int", "uint")):
        return ""
    low, high = node.attrs["a_min"], node.attrs["a_max"]
    types = {_cast_type(user) for user in users}
    for dtype, (least, most) in BOUNDS.items():
        narrower = itemsize(dtype) < itemsize(type_.dtype)
        if dtype in types and narrower and least <= low and high <= most and len(users) > 1:
            return dtype
    return ""


def _cast_type(node: Expr) -> str:
    """Return the type that a call casts to; "" for other expressions."""
    is_cast = isinstance(node, Call) and node.op is Op.get("cast") and node.attrs is not None
    return str(node.attrs["dtype"]) if is_cast else ""  # type: ignore[attr-defined]  # it is a call
