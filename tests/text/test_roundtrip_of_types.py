"""Programs with types inferred are printed, read and inferred to the same programs."""

from __future__ import annotations

import pytest

from relay_explorer.ir import RelayError, difference
from relay_explorer.text import astext, parse
from relay_explorer.typing import infer_types


@pytest.mark.parametrize(
    "program",
    [
        "(%x: Tensor[(2, 3, 4), int]) { sum(%x) }",
        "(%x: Tensor[(), uint]) { sin(%x) }",
        "(%x: Tensor[(2), float], %y: float) { add(%x, %y) }",
        '(%x: Tensor[(2), uint1]) { cast(%x, dtype="int") }',
        "(%x: Tensor[(n, 4611686018427387903), float32]) { concatenate((%x, %x), axis=1) }",
        "(%x: Tensor[(2, 5, 0), float32]) { rsqrt(collapse_sum_like(%x, nn.fast_softmax(%x))) }",
        "(%x: Tensor[(2, 5, 3), float32]) { exp(collapse_sum_like(%x, exp(%x))) }",
        "(%x: Tensor[(1, 3), float32], %y: Tensor[(2, 3), float32]) { exp(broadcast_to_like(%x, exp(%y))) }",
    ],
)
def test_types_survive(program: str) -> None:
    module = infer_types(parse(f"def @main{program}"))
    assert difference(infer_types(parse(astext(module))), module) is None


@pytest.mark.parametrize(
    "program",
    [
        "(%x: Tensor[(n, 9223372036854775807), float32]) { concatenate((%x, %x), axis=1) }",
        f"(%x: Tensor[({', '.join(['9223372036854775807'] * 300)}), int8]) {{ reshape(%x, newshape=[-1]) }}",
        "(%x: Tensor[(9223372036854775807), float32]) { (tile(%x, reps=[4]), 1) }",
    ],
)
def test_sizes_that_no_text_can_name_are_refused(program: str) -> None:
    with pytest.raises(RelayError, match=r"an axis of the result would have .* elements"):
        infer_types(parse(f"def @main{program}"))


def test_what_is_like_a_result_of_known_type() -> None:
    for operator in ("collapse_sum_like", "broadcast_to_like"):
        program = f"def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] {{ {operator}(%x, exp(%x)) }}"
        assert str(infer_types(parse(program))["main"].ret_type) == "Tensor[(2), float32]"
