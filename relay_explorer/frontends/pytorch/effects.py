"""What an operator does to its operands: changes them in place, or returns views of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any as Anything

from ...ir.errors import RelayError
from ..aten import Value, schemas

# Operators that use the shape and element type of their first operand only.
READS_FORM = frozenset(
    {
        "aten::size", "aten::len", "aten::dim", "aten::numel", "aten::is_floating_point", "aten::zeros_like",
        "aten::ones_like", "aten::full_like", "aten::empty_like", "aten::rand_like", "aten::randn_like",
        "aten::new_zeros", "aten::new_ones", "aten::new_full", "aten::new_empty",
    }
)  # fmt: skip
# Operators that give their operand another shape, in place.
RESHAPING = frozenset(
    {"aten::squeeze_", "aten::unsqueeze_", "aten::t_", "aten::transpose_", "aten::swapaxes_"}
)


def returns_view(schema: Anything) -> bool:
    """Whether an operator's first result shares the storage of its first operand."""
    first = schema.arguments[0].alias_info
    if first is None or first.is_write or not schema.returns:
        return False
    returned = schema.returns[0]
    return returned.alias_info is not None or "Tensor(a)[]" in str(schema)


def is_out(argument: Anything) -> bool:
    """Whether an argument is a tensor into which an operator writes its result."""
    return bool(argument.kwarg_only and argument.alias_info is not None and argument.alias_info.is_write)


@cache
def without_out(kind: str, overload: str) -> str:
    """Return the overload with the same arguments that returns its result, for one that has `out=`."""
    schema = schemas().get((kind, overload))
    if schema is None or not any(map(is_out, schema.arguments)):
        return overload  # also `to.dtype_layout`, whose name only ends like those
    wanted = [arg.name for arg in schema.arguments if not is_out(arg)]
    for (name, other), candidate in schemas().items():
        returns = name == kind and not any(map(is_out, candidate.arguments))
        if returns and [argument.name for argument in candidate.arguments] == wanted:
            return other
    raise RelayError(f"{kind} with `out=` cannot be imported", help=["assign its result instead"])


def copies(schema: Anything, args: Sequence[Value]) -> bool:
    """Whether a conversion is asked to copy its operand in any case."""
    return any(argument.name == "copy" and value is True for argument, value in zip(schema.arguments, args))
