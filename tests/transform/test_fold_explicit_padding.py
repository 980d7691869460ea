"""Pads that go into the operator that reads them; and casts that are written once for each reader."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.execute.interpreter import Interpreter
from relay_explorer.ir import Call, IRModule
from relay_explorer.text import parse
from relay_explorer.transform import CanonicalizeCast, FoldExplicitPadding
from relay_explorer.typing import infer_types
from tests.transform.golden import check
from tests.transform.networks import arguments

T = "Tensor[(4), float32]"
LOWEST = "-3.4028234663852886e+38f"


def value_of(module: IRModule) -> np.ndarray:
    args = [relay.const(a) for a in arguments(module)]
    return np.asarray(Interpreter(module).evaluate(Call(module.get_global_var("main"), args)))


def pads(text: str) -> int:
    """How many pads stay; the value must, too."""
    module = infer_types(parse(text))
    result = infer_types(FoldExplicitPadding()(module))
    assert np.allclose(value_of(module), value_of(result), rtol=1e-5, atol=1e-5)
    return result.astext().count("nn.pad(")


def image(body: str) -> str:
    return f"def @main(%x: Tensor[(1, 2, 6, 7), float32], %w: Tensor[(3, 2, 3, 3), float32]) {{ {body} }}"


def padded(pairs: str = "[[0, 0], [0, 0], [1, 2], [0, 3]]", value: str = "0f", data: str = "%x") -> str:
    return f"nn.pad({data}, {value}, pad_width={pairs})"


def test_zeros_go_into_a_convolution() -> None:
    check(FoldExplicitPadding(), image(f"nn.conv2d({padded()}, %w, padding=[1, 0, 1, 0])"), """
    def @main(%x: Tensor[(1, 2, 6, 7), float32], %w: Tensor[(3, 2, 3, 3), float32])RESULT{
      nn.conv2d(%x, %w, padding=[2, 0, 3, 3])
    }
    """.replace("RESULT", " -> Tensor[(1, 3, 9, 8), float32] "))  # fmt: skip


@pytest.mark.parametrize("own", ["[0, 0, 0, 0]", "[1, 2]", "[1]", "[1, 0, 0, 2]"])
def test_values_stay(own: str) -> None:
    twice = padded("[[0, 0], [0, 0], [1, 0], [0, 1]]", data=padded())
    assert pads(image(f"nn.conv2d({padded()}, %w, padding={own})")) == 0
    assert pads(image(f"nn.conv2d({twice}, %w, padding={own})")) == 0
    pool = f"pool_size=[3, 3], strides=[2, 2], padding={own}"
    assert pads(image(f"nn.avg_pool2d({padded()}, {pool}, count_include_pad=True)")) == 0
    assert pads(image(f"nn.max_pool2d({padded(value=LOWEST)}, {pool})")) == 0


@pytest.mark.parametrize(
    "body",
    [
        f"nn.conv2d({padded(value='1f')}, %w, padding=[0, 0, 0, 0])",
        'nn.conv2d(nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 2], [0, 3]], pad_mode="edge"), %w, '
        "padding=[0, 0])",
        f"nn.conv2d({padded('[[1, 0], [0, 0], [1, 1], [1, 1]]')}, %w, padding=[0, 0, 0, 0])",
        f"nn.conv2d({padded('[[0, 0], [0, 0], [-1, 1], [1, 1]]')}, %w, padding=[1, 1, 1, 1])",
        f"nn.max_pool2d({padded()}, pool_size=[2, 2], padding=[0, 0, 0, 0])",
        f"nn.avg_pool2d({padded(value='1f')}, pool_size=[2, 2], padding=[0, 0, 0, 0])",
        # it does not count its own padding, but must count the pad
        f"nn.avg_pool2d({padded()}, pool_size=[3, 3], padding=[1, 1, 1, 1])",
        # windows that stick out; TVM 0.14 divides them by another number afterwards
        f"nn.avg_pool2d({padded()}, pool_size=[3, 3], strides=[4, 4], padding=[0, 0, 0, 0], ceil_mode=True)",
        f"nn.conv2d({padded(value='sum(%x)')}, %w, padding=[0, 0, 0, 0])",
    ],
)
def test_a_pad_stays_that_the_operator_would_not_make(body: str) -> None:
    assert pads(image(body)) == 1


def test_a_mean_counts_the_pad_as_it_did() -> None:
    text = image(f"nn.avg_pool2d({padded()}, pool_size=[3, 3], padding=[0, 0, 0, 0])")
    assert pads(text) == 0
    assert "count_include_pad=True" in FoldExplicitPadding()(parse(text)).astext()


def test_other_layouts_and_numbers_of_axes() -> None:
    assert pads("""
    def @main(%x: Tensor[(1, 6, 7, 2), float32], %w: Tensor[(3, 3, 2, 3), float32]) {
      nn.conv2d(nn.pad(%x, 0f, pad_width=[[0, 0], [1, 2], [3, 0], [0, 0]]), %w, padding=[0, 0, 0, 0],
                data_layout="NHWC", kernel_layout="HWIO")
    }
    """) == 0  # fmt: skip
    assert pads("""
    def @main(%x: Tensor[(1, 2, 7), float32], %w: Tensor[(3, 2, 3), float32]) {
      nn.conv1d(nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [3, 0]]), %w)
    }
    """) == 0  # fmt: skip
    assert pads("""
    def @main(%x: Tensor[(1, 2, 3, 4, 5), float32], %w: Tensor[(3, 2, 3, 3, 3), float32]) {
      nn.conv3d(nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [3, 0], [1, 2], [0, 1]]), %w, padding=[1, 1, 1])
    }
    """) == 0  # fmt: skip
    assert pads("""
    def @main(%x: Tensor[(1, 3, 4), int8]) {
      nn.max_pool1d(nn.pad(%x, -128i8, pad_width=[[0, 0], [0, 0], [3, 0]]), pool_size=[2])
    }
    """) == 0  # fmt: skip


def test_a_pad_that_another_reads_stays_for_it() -> None:
    module = FoldExplicitPadding()(
        parse(image(f"%0 = {padded()}; (nn.conv2d(%0, %w, padding=[0, 0, 0, 0]), %0)"))
    )
    text = infer_types(module).astext()
    assert text.count("nn.pad(") == 1
    assert "nn.conv2d(%x, %w, padding=[1, 0, 2, 3]" in text


# -- casts


def test_every_reader_gets_its_own_cast() -> None:
    check(CanonicalizeCast(), """
    def @main(%x: Tensor[(4), int8]) { %0 = cast(%x, dtype="float32"); (exp(%0), add(%0, %0), sum(%0), %0) }
    """, """
    def @main(%x: Tensor[(4), int8]) RESULT{
      %0 = cast(%x, dtype="float32");
      %1 = cast(%x, dtype="float32");
      %2 = cast(%x, dtype="float32");
      %3 = exp(%0);
      %4 = add(%1, %2);
      %5 = sum(%0);
      (%3, %4, %5, %0)
    }
    """.replace("RESULT", f"-> ({T}, {T}, float32, {T}) "))  # fmt: skip


@pytest.mark.parametrize("dtype", ["int8", "uint8", "bool"])
def test_a_cast_to_no_more_bits_stays_shared(dtype: str) -> None:
    text = (
        f'def @main(%x: Tensor[(4), int8]) {{ %0 = cast(%x, dtype="{dtype}"); (cast(%0, "int8"), copy(%0)) }}'
    )
    text = text.replace('cast(%0, "int8")', "copy(%0)")
    module = infer_types(parse(text))
    assert CanonicalizeCast()(module).astext() == module.astext()
