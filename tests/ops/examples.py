"""One well-typed call of every operator; they are in the package, since the book's reference shows them."""

from __future__ import annotations

from relay_explorer.models.operator_calls import CALLS as EXAMPLES

__all__ = ["EXAMPLES"]
