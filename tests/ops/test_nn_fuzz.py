"""Relations of neural-network operators answer or refuse, whatever types and attributes they are given."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_explorer.ir.attrs import REQUIRED, Attrs
from relay_explorer.ir.op import Op, RelationError
from relay_explorer.ir.types import Any, FuncType, IncompleteType, SizeVar, TensorType, TupleType, Type

NAMES = [name for name in Op.list_op_names() if name.startswith("nn.")]
SIZE = SizeVar("n")
DIMS = st.sampled_from([1, 1, 2, 3, 4, 8, 0, Any(), SIZE])
TENSORS = st.builds(
    TensorType, st.lists(DIMS, max_size=6), st.sampled_from(["float32", "float32", "int32", "bool"])
)
SMALL = st.integers(-2, 4)
INTS = st.lists(SMALL, max_size=5).map(tuple)
LAYOUTS = [
    "NCHW",
    "NHWC",
    "NCHW4c",
    "OIHW",
    "HWIO",
    "OIHW4i4o",
    "NCW",
    "NCDHW",
    "IOHW",
    "X",
    "",
    "NCHW4h",
    "DCR",
    "mean",
]
VALUES: dict[str, st.SearchStrategy[object]] = {
    "int": SMALL,
    "float": st.sampled_from([0.0, 0.5, 1.0, 2.0, -1.0, float("nan"), float("inf")]),
    "bool": st.booleans(),
    "str": st.sampled_from(LAYOUTS),
    "DType": st.sampled_from(["", "float16", "int32"]),
    "Ints": INTS,
    "Pairs": st.lists(st.lists(SMALL, max_size=3).map(tuple), max_size=5).map(tuple),
    "VirtualDevice": st.sampled_from(["", "cpu", "cuda:1"]),
}


@st.composite
def attributes(draw: st.DrawFn, attrs: type[Attrs]) -> Attrs:
    given = {}
    for name, field in attrs._fields.items():
        if field.default is REQUIRED or draw(st.booleans()):
            optional = field.kind.endswith("| None") and draw(st.booleans())
            given[name] = None if optional else draw(VALUES[field.kind.removesuffix(" | None")])
    return attrs(**given)


@st.composite
def types(draw: st.DrawFn, count: int) -> list[Type]:
    strange: list[Type] = [IncompleteType(), TupleType([TensorType((2,))]), FuncType([], TensorType(()))]
    return [
        draw(st.sampled_from(strange)) if draw(st.integers(0, 7)) == 0 else draw(TENSORS)
        for _ in range(count)
    ]


class Told:
    """Holds what a relation says; it must be types whose dimensions are not negative."""

    def assign(self, target: Type, value: Type) -> None:
        assert any(target is t for t in self.types)
        for part in value.fields if isinstance(value, TupleType) else [value]:
            if isinstance(part, IncompleteType):
                continue
            assert isinstance(part, TensorType)
            assert all(not isinstance(d, int) or d >= 0 for d in part.shape), part

    def __init__(self, types: list[Type]) -> None:
        self.types = types


@pytest.mark.parametrize("name", NAMES)
def test_it_answers_or_refuses(name: str) -> None:
    op = Op.get(name)
    assert op.inputs is not None
    count = len(op.inputs)

    @settings(max_examples=60, deadline=None, database=None)
    @given(st.data())
    def run(data: st.DataObject) -> None:
        attrs = data.draw(attributes(op.attrs_class), "attributes") if op.attrs_class else None
        given = [*data.draw(types(count), "types"), IncompleteType()]
        failure, done = None, False
        try:
            done = op.relation.rule(given, count, attrs, Told(given))
        except RelationError as caught:
            failure = caught
        if failure is None:
            assert done is True or any(isinstance(t, IncompleteType) for t in given[:-1])
        else:
            assert failure.message
            assert "\n" not in failure.message
            assert all(0 <= culprit < count for culprit in failure.culprits)

    run()
