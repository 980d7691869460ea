"""What can be said of a program without running it: cost, scopes, repeated blocks."""

from __future__ import annotations

from ..ir.walk import all_vars, bound_vars, free_type_vars, free_vars, post_order_visit
from .cost import Cost, call_cost, costs, total_cost, weights
from .repeats import Block, repeated_blocks
from .scopes import LetScope, let_scopes

__all__ = [
    "Block", "Cost", "LetScope", "all_vars", "bound_vars", "call_cost", "costs", "free_type_vars",
    "free_vars", "let_scopes", "post_order_visit",
    "repeated_blocks", "total_cost", "weights",
]  # fmt: skip
