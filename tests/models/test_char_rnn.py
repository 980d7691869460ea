"""The character RNNs do what PyTorch's cells do, on any text."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_explorer import relay
from relay_explorer.execute import list_items, make_list
from relay_explorer.ir import RelayError
from relay_explorer.models.char_rnn import ALPHABET, CELLS, char_rnn, char_rnn_writer, decode, encode
from tests.models.reference import Reader, softmax, weights

texts = st.lists(st.integers(0, 5), max_size=20)


@cache
def program(build: Any, cell: str) -> tuple[Any, Any, dict[str, Any]]:
    module = build(alphabet=6, hidden=4, cell=cell)
    return module, relay.create_executor(mod=module).evaluate(), weights(module, 1)


@pytest.mark.parametrize("cell", CELLS)
@settings(deadline=None)
@given(text=texts)
def test_reading(cell: str, text: list[int]) -> None:
    module, run, w = program(char_rnn, cell)
    reader = Reader(cell, w)
    for letter in text:
        reader.read(letter)
    result = run(make_list(module, text), **w).numpy()
    np.testing.assert_allclose(result, softmax(reader.scores())[None], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("cell", CELLS)
@settings(deadline=None)
@given(start=st.integers(0, 5), count=st.integers(-1, 12), seed=st.integers(0, 9))
def test_writing(cell: str, start: int, count: int, seed: int) -> None:
    module, run, _ = program(char_rnn_writer, cell)
    w = weights(module, seed)
    reader, letter, expected = Reader(cell, w), start, []
    for _ in range(count):
        reader.read(letter)
        letter = int(reader.scores().argmax())
        expected.append(letter)
    assert [int(item.numpy()) for item in list_items(run(start, count, **w))] == expected


@pytest.mark.slow
def test_a_text_of_a_hundred_thousand_letters() -> None:
    module, run, w = program(char_rnn, "rnn")
    result = run(make_list(module, [k % 6 for k in range(100_000)]), **w).numpy()
    assert result.sum() == pytest.approx(1)


def test_letters_and_numbers() -> None:
    assert len(ALPHABET) == 57
    assert decode(encode("O'Neal, J.; ok")) == "O'Neal, J.; ok"
    with pytest.raises(RelayError, match="'é' is not in the alphabet"):
        encode("café")


def test_a_cell_that_does_not_exist() -> None:
    with pytest.raises(RelayError) as caught:
        char_rnn(cell="elman")
    assert str(caught.value) == "error: there is no cell called 'elman'\nhelp: there are rnn, gru, lstm"


def test_the_module_holds_only_what_main_uses() -> None:
    assert [v.name_hint for v in char_rnn().functions] == ["foldl", "step", "main"]
    assert [v.name_hint for v in char_rnn_writer().functions] == ["unfoldr", "step", "main"]
    assert relay.prelude.Prelude(char_rnn()).mod.get_global_var("map")
