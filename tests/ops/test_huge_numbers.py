"""Types of results whose size a number in the program sets: bounded before anything so long is made."""

from __future__ import annotations

import subprocess
import sys

import pytest

from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.narrow import as_a
from relay_explorer.ir.types import TupleType
from relay_explorer.text import parse
from relay_explorer.typing import infer_types


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (
            "(%x: Tensor[(2, 3), float32]) { expand_dims(%x, axis=-1, num_newaxis=1000000000) }",
            "1,000,000,002 axes",
        ),
        (
            "(%x: Tensor[(2, 3), float32]) { expand_dims(%x, axis=0, num_newaxis=10000000000000000000) }",
            "axes",
        ),
        (
            "(%x: Tensor[(1000000000), float32]) { split(%x, indices_or_sections=1000000000) }",
            "a tuple of 1,000,000,000 tensors",
        ),
        ("(%x: Tensor[(?, 3), float32]) { split(%x, indices_or_sections=1000000000) }", "a tuple of"),
        (
            "(%x: Tensor[(3), float32], %s: Tensor[(1000000000), int64]) { dyn.reshape(%x, %s) }",
            "1,000,000,000 axes",
        ),
    ],
)
def test_a_size_that_would_fill_the_memory_is_refused(program: str, message: str) -> None:
    with pytest.raises(RelayError, match=message):
        infer_types(parse(f"def @main{program}"))


def test_splits_into_many_parts_have_a_type() -> None:
    program = "def @main(%x: Tensor[(10000, 3), float32]) { split(%x, indices_or_sections=10000) }"
    assert len(as_a(TupleType, infer_types(parse(program))["main"].ret_type).fields) == 10_000


def test_units_must_be_positive() -> None:
    program = (
        "def @main(%x: Tensor[(2, ?), uint8], %w: Tensor[(?, ?), uint8]) "
        "{ nn.bitserial_dense(%x, %w, units=-1) }"
    )
    with pytest.raises(RelayError, match="units=-1 must be positive"):
        infer_types(parse(program))


def test_a_convolution_of_no_channels_is_refused() -> None:
    program = (
        "def @main(%x: Tensor[(1, 0, 7, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]) "
        "{ nn.conv2d(%x, %w, channels=4, kernel_size=[3, 3]) }"
    )
    with pytest.raises(RelayError, match="channels"):
        infer_types(parse(program))


@pytest.mark.slow
def test_no_operator_fails_on_huge_or_empty_sizes() -> None:
    done = subprocess.run([sys.executable, "-m", "tests.ops.huge_numbers"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    *faults, count = done.stdout.splitlines()
    assert faults == []
    assert int(count.split()[0]) > 20_000
