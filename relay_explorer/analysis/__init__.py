"""What can be said of a program without running it: cost, scopes, repeated blocks."""

from __future__ import annotations

from .cost import Cost, call_cost, costs, total_cost, weights
from .repeats import Block, repeated_blocks
from .scopes import LetScope, let_scopes

__all__ = ["Block", "Cost", "LetScope", "call_cost", "costs", "let_scopes", "repeated_blocks", "total_cost", "weights"]
