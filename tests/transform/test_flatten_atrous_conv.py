"""FlattenAtrousConv: blocks that are moved to the batch for a convolution become its dilation."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir import Call, Expr, IRModule, const, structural_equal
from relay_explorer.transform import FlattenAtrousConv, optimize
from relay_explorer.typing import infer_types
from tests.transform.fake_quantized import operators, qnn, run, typed
from tests.transform.golden import check


def atrous(
    block: tuple[int, int] = (2, 2),
    paddings: tuple[tuple[int, int], ...] = ((2, 3), (2, 3)),
    crops: tuple[tuple[int, int], ...] = ((0, 1), (0, 1)),
    own: tuple[int, ...] = (0, 0, 0, 0),
    value: float = 0,
    strides: tuple[int, int] = (1, 1),
) -> Expr:
    data = relay.var("data", shape=(1, 5, 5, 4))
    weight = relay.var("weight", shape=(3, 3, 4, 2))
    inner = relay.nn.conv2d(
        relay.nn.space_to_batch_nd(data, block, paddings, value),
        weight,
        padding=own,
        strides=strides,
        kernel_size=(3, 3),
        data_layout="NHWC",
        kernel_layout="HWIO",
    )
    return relay.nn.batch_to_space_nd(inner, block, crops)


def test_blocks_become_the_dilation() -> None:
    check(
        FlattenAtrousConv(),
        """
        def @main(%x: Tensor[(1, 5, 5, 4), float32], %w: Tensor[(3, 3, 4, 1), float32]) {
          %0 = nn.space_to_batch_nd(%x, block_shape=[2, 2], paddings=[[2, 3], [2, 3]]);
          %1 = nn.conv2d(%0, %w, groups=4, kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWOI", padding=[0, 0, 0, 0]);
          nn.batch_to_space_nd(%1, block_shape=[2, 2], crops=[[0, 1], [0, 1]])
        }
        """,  # noqa: E501
        """
        def @main(%x: Tensor[(1, 5, 5, 4), float32], %w: Tensor[(3, 3, 4, 1), float32]) -> Tensor[(1, 5, 5, 4), float32] {
          nn.conv2d(%x, %w, padding=[2, 2, 2, 2], dilation=[2, 2], groups=4, kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWOI")
        }
        """,  # noqa: E501
    )


@pytest.mark.parametrize("seed", range(25))
def test_the_sums_stay_the_same(seed: int) -> None:
    random = np.random.default_rng(seed)

    def pair() -> tuple[int, int]:
        return int(random.integers(0, 7)), int(random.integers(0, 7))

    block = (int(random.integers(1, 4)), int(random.integers(1, 4)))
    before = [pair(), pair()]
    paddings = tuple((p, q + (-(5 + p + q) % b)) for (p, q), b in zip(before, block, strict=True))
    own = tuple(int(random.integers(0, 3)) for _ in range(4))
    extents = [
        (5 + sum(paddings[axis]) + (own[axis] + own[axis + 2]) * block[axis]) - 2 * block[axis]
        for axis in (0, 1)
    ]
    assert min(extents) >= 2, "the generator must not make empty images"
    halves = [extent // 2 for extent in extents]
    crops = tuple((int(random.integers(0, half)), int(random.integers(0, half))) for half in halves)
    mod = typed(atrous(block, paddings, crops, own))
    arrays = [np.asarray(random.integers(-9, 9, shape), "float32") for shape in ((1, 5, 5, 4), (3, 3, 4, 2))]
    result = infer_types(FlattenAtrousConv()(mod))
    assert np.array_equal(run(mod, arrays), run(result, arrays))


def test_a_quantized_convolution_pads_with_its_zero_point() -> None:
    data = relay.var("data", shape=(1, 5, 5, 4), dtype="int8")
    weight = relay.var("weight", shape=(3, 3, 4, 2), dtype="int8")

    def program(value: int, zero_point: int) -> IRModule:
        blocks = relay.nn.space_to_batch_nd(data, (2, 2), ((2, 3), (2, 3)), value)
        numbers = const(zero_point), const(1), const(1.0), const(1.0)
        layer = qnn.conv2d(
            blocks, weight, *numbers, kernel_size=(3, 3), channels=2, data_layout="NHWC", kernel_layout="HWIO"
        )
        return typed(relay.nn.batch_to_space_nd(layer, (2, 2), ((0, 1), (0, 1))))

    random = np.random.default_rng(0)
    arrays = [random.integers(-9, 9, shape).astype("int8") for shape in ((1, 5, 5, 4), (3, 3, 4, 2))]
    mod = program(5, 5)
    result = infer_types(FlattenAtrousConv()(mod))
    assert operators(result) == ["qnn.conv2d"]
    assert np.array_equal(run(mod, arrays), run(result, arrays))
    other = program(0, 5)
    assert structural_equal(FlattenAtrousConv()(other), other)


@pytest.mark.parametrize(
    "body",
    [
        atrous(crops=((3, 0), (0, 1))),
        atrous(value=1.0),
        atrous(strides=(2, 2), crops=((0, 0), (0, 0))),
    ],
    ids=["more is cropped than padded", "the padding is not 0", "strides"],
)
def test_other_sequences_stay(body: Expr) -> None:
    mod = typed(body)
    assert structural_equal(infer_types(FlattenAtrousConv()(mod)), mod)


def test_an_inner_convolution_with_another_reader_stays() -> None:
    outer = atrous()
    assert isinstance(outer, Call)
    mod = typed(relay.Tuple([outer, outer.args[0]]))
    assert structural_equal(infer_types(FlattenAtrousConv()(mod)), mod)


def test_the_pipeline_folds_it() -> None:
    mod, _ = optimize(typed(atrous()), level=0)
    assert "nn.space_to_batch_nd" not in operators(mod)
