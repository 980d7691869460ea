"""Calls with odd attributes, shapes and element types: what is typed gives a value of its type, or an error
that the interpreter explains.
"""

from __future__ import annotations

from typing import Any as Anything

import numpy as np
import pytest

from relay_explorer.ir.op import Op, RelationError
from relay_explorer.ir.types import IncompleteType, TensorType, TupleType, Type
from tests.ops.meanings import has_type, numbers, rng
from tests.ops.test_every_operator import values_for

# Their attributes repeat what their arguments say, so the two cannot be chosen each on its own.
BOUND = {"arange", "collapse_sum_to"}
TUPLES = {"concatenate", "stack", "einsum", "meshgrid", "adv_index"}
WHOLE = {
    "indices",
    "shape",
    "newshape",
    "axis",
    "k",
    "depth",
    "begin",
    "end",
    "strides",
    "seq_lengths",
    "reps",
}
EXPLAINED = (ValueError, TypeError, IndexError, ZeroDivisionError)


class Listener:
    """A reporter that keeps what it is told."""

    def __init__(self) -> None:
        self.told: dict[int, Type] = {}

    def assign(self, target: Type, value: Type) -> None:
        self.told[id(target)] = value


def argument_types(op: Op, random: np.random.Generator) -> list[Type]:
    """Tensors of one shape, or nearly; all but the first may be left for the relation to find."""
    first = tuple([int(n) for n in random.choice([0, 1, 2, 3, 4], int(random.integers(0, 6)))])
    dtype = str(random.choice(["float32", "float16", "int32", "int8", "uint8", "bool"]))

    def near(name: str) -> TensorType:
        shape = list(first)
        if shape and random.random() < 0.4:
            shape[int(random.integers(len(shape)))] = 1
        return TensorType.of(tuple(shape[int(random.random() < 0.2) :]), "int32" if name in WHOLE else dtype)

    if op.name in TUPLES:
        rest = [near("indices" if op.name == "adv_index" else "") for _ in range(int(random.integers(0, 3)))]
        return [TupleType([TensorType.of(first, dtype), *rest])]
    unknown = random.random() < 0.5 and op.name.startswith("nn.")
    others = [IncompleteType() if unknown else near(name) for name in (op.inputs or ())[1:]]
    return [near((op.inputs or ("data",))[0]), *others] if op.inputs else []


def value_of(type_: Type, random: np.random.Generator) -> Anything:
    if isinstance(type_, TupleType):
        return tuple([value_of(field, random) for field in type_.fields])
    assert isinstance(type_, TensorType)
    extents = tuple([dim for dim in type_.shape if isinstance(dim, int)])
    if "int" in type_.dtype:
        return np.asarray(random.integers(0, 3, extents), type_.dtype)
    return numbers(random, extents, type_.dtype)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_typed_can_be_run(seed: int) -> None:
    random, ran = rng(seed), set()
    for name in sorted(set(Op.list_op_names()) - BOUND):
        op = Op.get(name)
        for turn in range(40):
            attrs = values_for(op.attrs_class, turn + 40 * seed) if op.attrs_class else None
            types, out, listener = argument_types(op, random), IncompleteType(), Listener()
            try:
                done = op.relation.rule([*types, out], len(types), attrs, listener)
            except RelationError:
                continue
            known = [listener.told.get(id(type_), type_) for type_ in types]
            if not done or any(isinstance(type_, IncompleteType) for type_ in known):
                continue
            assert op.reference is not None
            try:
                found = op.reference(attrs, *[value_of(type_, random) for type_ in known])
            except EXPLAINED:
                continue
            has_type(found, listener.told[id(out)])
            ran.add(name)
    assert len(ran) > 110
