"""Layouts, against NumPy's reshapes and transposes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_explorer.ir.op import RelationError
from relay_explorer.ir.types import Any, SizeVar
from relay_explorer.ops.nn.layout import count, layout_map, parse_layout


@settings(deadline=None)
@given(st.permutations("NCHW"), st.sampled_from("NCHW"), st.integers(2, 4), st.data())
def test_blocks_are_a_reshape_and_a_transpose(
    axes: list[str], split: str, block: int, data: st.DataObject
) -> None:
    sizes = {axis: data.draw(st.integers(1, 3), axis) for axis in "NCHW"}
    sizes[split] *= block
    whole = np.zeros([sizes[axis] for axis in "NCHW"])
    place = "NCHW".index(split)
    shape = list(whole.shape)
    shape[place : place + 1] = [shape[place] // block, block]
    order = [axis if axis != split else split for axis in "NCHW"]
    order.insert(place + 1, split.lower())
    wanted = [*axes, split.lower()]
    packed = whole.reshape(shape).transpose([order.index(axis) for axis in wanted])
    layout = layout_map("".join(axes) + f"{block}{split.lower()}", "NCHW")
    assert layout.backward(whole.shape) == packed.shape
    assert layout.forward(packed.shape, 0, "it") == whole.shape


def test_unknown_and_named_dimensions() -> None:
    batch = SizeVar("n")
    assert layout_map("NHWC", "NCHW").forward((batch, 4, Any(), 3), 0, "it") == (batch, 3, 4, Any())
    assert layout_map("NCHW4c", "NCHW").forward((batch, Any(), 4, 5, 4), 0, "it") == (batch, Any(), 4, 5)
    assert layout_map("NCHW4c", "NCHW").backward((batch, batch, 4, 5)) == (
        batch, batch // 4, 4, 5, 4,
    )  # fmt: skip


def test_axes_of_a_layout() -> None:
    assert parse_layout("NCHW16c") == (("N", 1), ("C", 1), ("H", 1), ("W", 1), ("c", 16))
    assert parse_layout("OIHW4i8o") == (("O", 1), ("I", 1), ("H", 1), ("W", 1), ("i", 4), ("o", 8))


def test_blocks_in_blocks() -> None:
    layout = layout_map("OHWI16i64o2i", "OIHW")
    assert layout.backward((128, 64, 3, 3)) == (2, 3, 3, 2, 16, 64, 2)
    assert layout.forward((2, 3, 3, 2, 16, 64, 2), 0, "it") == (128, 64, 3, 3)
    whole = np.arange(128 * 64 * 9).reshape(128, 64, 3, 3)
    packed = layout.pack(whole)
    assert packed.shape == (2, 3, 3, 2, 16, 64, 2)
    assert packed[1, 2, 0, 1, 5, 7, 1] == whole[64 + 7, 32 + 2 * 5 + 1, 2, 0]
    assert np.array_equal(layout.unpack(packed), whole)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "NCHc",
        "NCC",
        "4",
        "NC4",
        "NC4C",
        "N-C",
        "NC0c",
        "NC4cC",
        "nchw",
        "NCHW4é",
        "<b>",
        "N" + "9" * 50 + "n",
    ],
)
def test_what_is_not_a_layout(name: str) -> None:
    with pytest.raises(RelationError) as caught:
        layout_map(name, "NCHW")
    assert caught.value.message == f'"{name[:40]}" is not a layout'


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(RelationError) as caught:
        layout_map("NCHW4c", "NCHW").backward((1, 6, 2, 2))
    assert caught.value.message == "axis C of layout NCHW4c is 6, which 4 does not divide"
    with pytest.raises(RelationError) as caught:
        layout_map("NCHW", "NCHW").forward((1, 2, 3, 4, 4), 0, "the data")
    assert caught.value.help == ('if the channels lie in blocks, say so in the layout, as in "NCHW4c"',)


def test_counts_of_elements() -> None:
    size = SizeVar("n")
    assert count((2, 3, 4)) == 24
    assert count(()) == 1
    assert count((1, size)) is size
    assert count((2, size)) == 2 * size
    assert count((2, Any())) == Any()
    assert count((0, Any())) == 0
