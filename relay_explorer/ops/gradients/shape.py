"""The gradients of operators that move elements: reshapes, transpositions, joins, cuts and copies."""

from __future__ import annotations

from ...ir.expr import Call, Expr
from ..broadcast import broadcast_to_like
from ..gradient_tools import broadcast as broadcast
from ..gradient_tools import moved as moved
from ..gradient_tools import moved_field as moved_field
from ..gradient_tools import reshaped as reshaped
from ..gradient_tools import typed_field as typed_field


def collapsed(call: Call, grad: Expr) -> list[Expr | None]:
    return [broadcast_to_like(grad, call.args[0]), None]
