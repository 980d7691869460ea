"""The type relation of `%t.0`, which waits until the tuple's type is known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any as Anything

from ..ir.op import Relation, RelationError, Reporter
from ..ir.show import counted
from ..ir.types import IncompleteType, TupleType, Type


@lru_cache(maxsize=256)
def projection(index: int) -> Relation:
    """Return the relation between a tuple and its field `index`."""

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        whole, field = types
        if isinstance(whole, IncompleteType):
            return False
        if not isinstance(whole, TupleType):
            raise RelationError(
                f"field {index} is taken of something that is not a tuple: its type is {whole}",
                "relay.split or relay.take give parts of a tensor",
                culprits=(0,),
            )
        if not 0 <= index < len(whole.fields):
            count = len(whole.fields)
            raise RelationError(
                f"the tuple has {counted(count, 'field')}, so there is no field {index}",
                f"fields are counted from 0: the last is `.{count - 1}`" if count else "the tuple is empty",
                culprits=(0,),
            )
        reporter.assign(field, whole.fields[index])
        return True

    return Relation(f".{index}", rule, f"{{out}} = {{0}}.{index}")
