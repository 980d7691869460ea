"""Products of numbers of a few bits, held against what their bits stand for."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from relay_explorer.ir.types import SizeVar
from relay_explorer.relay import nn
from tests.ops.meanings import evaluate, rng
from tests.ops.tensor_programs import ints, refused, t, type_of, typed

N = SizeVar("n")


def few(seed: int, bits: int, *shape: int) -> np.ndarray:
    return rng("bits", seed).integers(0, 1 << bits, shape).astype("int32")


def stands_for(weight: np.ndarray, bits: int, unipolar: bool) -> np.ndarray:
    """A weight of the bits b₀, b₁ … is the sum of ±2ⁱ, or of bᵢ·2ⁱ."""
    planes = [(weight >> place) % 2 for place in range(bits)]
    signs = [np.where(plane == 1, 1, -1) if unipolar else plane for plane in planes]
    return np.asarray(sum(sign * 2**place for place, sign in enumerate(signs)))


@pytest.mark.parametrize("unipolar", [True, False])
@pytest.mark.parametrize(("data_bits", "weight_bits"), [(1, 1), (2, 1), (3, 2)])
def test_a_convolution_is_pytorchs_of_what_the_bits_stand_for(
    data_bits: int, weight_bits: int, unipolar: bool
) -> None:
    x, w = few(1, data_bits, 2, 3, 7, 6), few(2, weight_bits, 4, 3, 3, 2)
    found = evaluate(
        nn.bitserial_conv2d, x, w, strides=2, padding=(1, 0, 2, 1), kernel_size=(3, 2), channels=4,
        activation_bits=data_bits, weight_bits=weight_bits, unipolar=unipolar,
    )  # fmt: skip
    data = torch.nn.functional.pad(torch.tensor(x), (0, 1, 1, 2))
    weight = torch.tensor(stands_for(w, weight_bits, unipolar))
    wanted = torch.nn.functional.conv2d(data.double(), weight.double(), stride=2)
    np.testing.assert_array_equal(found, wanted.numpy().astype("int16"))


def test_layouts_of_a_convolution() -> None:
    x, w = few(1, 2, 2, 3, 7, 6), few(2, 1, 4, 3, 3, 3)
    plain = evaluate(nn.bitserial_conv2d, x, w, channels=4, activation_bits=2)
    other = evaluate(
        nn.bitserial_conv2d, x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), channels=4, activation_bits=2,
        data_layout="NHWC", kernel_layout="HWIO",
    )  # fmt: skip
    np.testing.assert_array_equal(other.transpose(0, 3, 1, 2), plain)


@pytest.mark.parametrize("unipolar", [True, False])
def test_dense_rows(unipolar: bool) -> None:
    x, w = few(3, 2, 3, 5), few(4, 2, 4, 5)
    found = evaluate(nn.bitserial_dense, x, w, data_bits=2, weight_bits=2, unipolar=unipolar)
    np.testing.assert_array_equal(found, x @ stands_for(w, 2, unipolar).T)


@pytest.mark.parametrize(("pack_axis", "bit_axis"), [(1, 2), (0, 0), (-1, -1), (0, 3), (1, 0)])
def test_packed_bits_are_those_of_neighbours(pack_axis: int, bit_axis: int) -> None:
    x = few(5, 4, 16, 8, 2) if pack_axis != -1 else few(5, 4, 2, 3, 16)
    found = evaluate(nn.bitpack, x, bits=3, pack_axis=pack_axis, bit_axis=bit_axis, pack_type="uint8")
    planes = np.moveaxis(found, bit_axis, 0)
    rows = np.moveaxis(x, pack_axis, -1)
    for bit, plane in enumerate(planes):
        for at, number in np.ndenumerate(np.moveaxis(plane, pack_axis, -1)):
            *place, group = at
            neighbours = rows[tuple(place)][group * 8 : group * 8 + 8]
            assert f"{number:08b}" == "".join(str((element >> bit) & 1) for element in neighbours)


def test_types() -> None:
    data = t(N, 32, 14, 14, dtype="int16")
    weight = t(8, 32, 3, 3, dtype="int16", name="w")
    assert typed(nn.bitserial_conv2d(data, weight, channels=8)) == "Tensor[(n, 8, 12, 12), int16]"
    assert str(type_of(nn.bitpack(t(32, N, dtype="uint8"), pack_axis=0))) == "Tensor[(1, n, 1), uint32]"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            nn.bitserial_dense(ints(2, 6), ints(6, 4, name="w")),
            "a weight for this call has shape (6, 6), not (6, 4)",
        ),
        (nn.bitserial_dense(ints(2, 6), ints(4, 6, name="w"), data_bits=40), "data_bits=40, but there are"),
        (nn.bitpack(ints(2, 30)), "axis 1 of the data is 30, which 32 does not divide"),
        (nn.bitpack(ints(2, 32), pack_type="int32"), "bits are packed into an unsigned type"),
        (nn.bitpack(t(2, 32)), "data must be integers"),
        (
            nn.bitserial_conv2d(ints(1, 3, 8, 8), ints(4, 3, 3, 3, name="w"), channels=5),
            "a weight for this call has shape (5, 3, 3, 3), not (4, 3, 3, 3)",
        ),
    ],
)
def test_what_is_refused(call: object, message: str) -> None:
    assert message in str(refused(call))  # type: ignore[arg-type]
