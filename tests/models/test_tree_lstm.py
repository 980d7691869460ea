"""The TreeLSTM computes its equations on any tree, and a sentence that is not a tree is refused in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_explorer import relay
from relay_explorer.ir import RelayError
from relay_explorer.models.tree_lstm import phrase, tree_lstm
from tests.models.reference import mood, torch_tree_state, weights

MODULE = tree_lstm(inputs=4, hidden=3, moods=5)
WEIGHTS = weights(MODULE, 0)
run = relay.create_executor(mod=MODULE).evaluate()
encode = relay.create_executor(mod=MODULE).evaluate(MODULE.get_global_var("encode"))

vectors = st.lists(st.floats(-2, 2, width=32), min_size=4, max_size=4).map(lambda v: np.array(v, "float32"))
sentences = st.recursive(vectors, lambda inner: st.tuples(inner, inner), max_leaves=12)


@settings(deadline=None)
@given(sentences)
def test_the_mood_of_any_sentence(sentence: Any) -> None:
    result = run(phrase(MODULE, sentence), **WEIGHTS).numpy()
    np.testing.assert_allclose(result, mood(sentence, WEIGHTS), rtol=1e-4, atol=1e-6)


@settings(deadline=None)
@given(sentences)
def test_the_state_of_any_sentence_is_that_of_pytorch(sentence: Any) -> None:
    inner = {name: value for name, value in WEIGHTS.items() if not name.startswith("mood")}
    result = encode(phrase(MODULE, sentence), **inner)
    for ours, theirs in zip(result, torch_tree_state(sentence, WEIGHTS)):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-4, atol=1e-6)


def test_left_and_right_differ() -> None:
    a, b = np.eye(4, dtype="float32")[:2]
    there, back = (run(phrase(MODULE, pair), **WEIGHTS).numpy() for pair in ((a, b), (b, a)))
    assert not np.allclose(there, back)


def test_words_by_name() -> None:
    table = {"not": np.ones(4, "float32"), "bad": np.full((1, 4), 2, "float32"), "film": [3, 3, 3, 3]}
    value = phrase(MODULE, [("not", "bad"), "film"], table)
    assert repr(value) == (
        "Pair(Pair(Word([[1.0, 1.0, 1.0, 1.0]]), Word([[2.0, 2.0, 2.0, 2.0]])), Word([[3.0, 3.0, 3.0, 3.0]]))"
    )


@pytest.mark.slow
def test_a_sentence_a_hundred_thousand_deep() -> None:
    sentence: Any = np.zeros(4, "float32")
    for _ in range(100_000):
        sentence = (sentence, np.ones(4, "float32"))
    result = run(phrase(MODULE, sentence), **WEIGHTS).numpy()
    assert result.shape == (1, 5)
    assert result.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ((), "error: a phrase has two halves, but this one has 0"),
        (
            ("a", ("a", "a", "a")),
            "error: a phrase has two halves, but this one (at right) has 3\n"
            "help: pair neighbours: `(a, b, c)` is `((a, b), c)` or `(a, (b, c))`",
        ),
        (
            (("a", None), "a"),
            "error: a word (at left right) must be a vector of 4 elements, but is of the type NoneType\n"
            "help: a sentence is a word, or a pair of two phrases: `((a, b), c)`",
        ),
        (None, "error: a word must be a vector of 4 elements, but is of the type NoneType"),
        (np.ones(5), "error: a word must be a vector of 4 elements, but is of shape (5,)"),
        (
            ("a", "worse"),
            "error: there is no vector for the word 'worse' (at right)\n"
            "help: `vectors` maps each word to its vector; leave out words that it does not contain",
        ),
    ],
)
def test_what_is_no_sentence(sentence: Any, message: str) -> None:
    with pytest.raises(RelayError) as caught:
        phrase(MODULE, sentence, {"a": np.ones(4)})
    assert str(caught.value).startswith(message)


def test_a_phrase_that_contains_itself() -> None:
    endless: list[Any] = [np.ones(4)]
    endless.append(endless)
    with pytest.raises(RelayError, match=r"a phrase \(at right\) contains itself, so it is infinite"):
        phrase(MODULE, endless)


def test_a_far_place_is_told_by_its_end() -> None:
    sentence: Any = None
    for _ in range(50):
        sentence = (sentence, np.ones(4))
    with pytest.raises(RelayError, match=r"\(at … left left left left left left left left\)"):
        phrase(MODULE, sentence)
