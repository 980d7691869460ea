"""A TreeLSTM that reads a sentence as a tree of phrases, and classifies its sentiment.

The binary constituency form of Tai, Socher, Manning, 2015 (arXiv 1503.00075), section 3.2 with N = 2: a
phrase has a left and a right half, each with weights and a forget gate of its own. The sizes are those of
section 5: word vectors of 300 elements, states of 150, five moods from very negative to very positive.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from .. import relay
from ..execute.results import ConstructorValue
from ..ir.adt import Constructor
from ..ir.errors import RelayError
from ..ir.module import IRModule
from ..ir.types import TensorType

PROGRAM = """
// A sentence: a word as a vector, or two phrases beside each other.
type Phrase {{
  Word(Tensor[(1, {inputs}), float32]),
  Pair(Phrase, Phrase),
}}

// The state of a word: hidden vector and cell.
def @word(%x: Tensor[(1, {inputs}), float32],
          %weight: Tensor[({hidden2}, {inputs}), float32], %bias: Tensor[({hidden2}), float32]) -> {state} {{
  let %gates = split(nn.bias_add(nn.dense(%x, %weight), %bias), indices_or_sections=2, axis=1);
  let %cell = %gates.0;
  (sigmoid(%gates.1) * tanh(%cell), %cell)
}}

// The state of a pair, of the states of its halves. Gates: take, new, forget left, forget right, show.
def @pair(%left: {state}, %right: {state},
          %weight: Tensor[({hidden5}, {hidden2}), float32], %bias: Tensor[({hidden5}), float32]) -> {state} {{
  let %both = concatenate((%left.0, %right.0), axis=1);
  let %gates = split(nn.bias_add(nn.dense(%both, %weight), %bias), indices_or_sections=5, axis=1);
  let %cell = sigmoid(%gates.0) * tanh(%gates.1)
            + sigmoid(%gates.2) * %left.1 + sigmoid(%gates.3) * %right.1;
  (sigmoid(%gates.4) * tanh(%cell), %cell)
}}

// The state of a phrase: that of its halves first.
def @encode(%phrase: Phrase,
            %word_weight: Tensor[({hidden2}, {inputs}), float32], %word_bias: Tensor[({hidden2}), float32],
            %pair_weight: Tensor[({hidden5}, {hidden2}), float32], %pair_bias: Tensor[({hidden5}), float32]
            ) -> {state} {{
  match (%phrase) {{
    Word(%x) => {{ @word(%x, %word_weight, %word_bias) }},
    Pair(%left, %right) => {{
      @pair(@encode(%left, %word_weight, %word_bias, %pair_weight, %pair_bias),
            @encode(%right, %word_weight, %word_bias, %pair_weight, %pair_bias),
            %pair_weight, %pair_bias)
    }},
  }}
}}

def @main(%sentence: Phrase,
          %word_weight: Tensor[({hidden2}, {inputs}), float32], %word_bias: Tensor[({hidden2}), float32],
          %pair_weight: Tensor[({hidden5}, {hidden2}), float32], %pair_bias: Tensor[({hidden5}), float32],
          %mood_weight: Tensor[({moods}, {hidden}), float32], %mood_bias: Tensor[({moods}), float32]) {{
  let %state = @encode(%sentence, %word_weight, %word_bias, %pair_weight, %pair_bias);
  nn.softmax(nn.bias_add(nn.dense(%state.0, %mood_weight), %mood_bias))
}}
"""


def tree_lstm(inputs: int = 300, hidden: int = 150, moods: int = 5) -> IRModule:
    """Build a network from a sentence (a `Phrase` whose words are vectors (1, inputs)) to the probabilities
    (1, moods).
    """
    state = f"(Tensor[(1, {hidden}), float32], Tensor[(1, {hidden}), float32])"
    sizes = {"inputs": inputs, "hidden": hidden, "hidden2": 2 * hidden, "hidden5": 5 * hidden}
    return relay.parse(PROGRAM.format(state=state, moods=moods, **sizes), "tree_lstm.relay")


def phrase(module: IRModule, sentence: Any, vectors: Mapping[str, Any] | None = None) -> ConstructorValue:
    """Return the value of type `Phrase` for a sentence of nested pairs: `(("not", "bad"), "film")`.

    A pair is a tuple or list of two. A word is a string that `vectors` maps to a vector, or the vector
    itself; a vector has as many elements as the module's `Word` requires, flat or as one row. Works at any
    depth. Raise a RelayError that locates the first part of the sentence that is neither.
    """
    _, word, pair = cast("tuple[Any, Constructor, Constructor]", module.get_type("Phrase"))
    done: list[ConstructorValue] = []
    open_pairs: set[int] = set()
    pending: list[tuple[Any, _Place, bool]] = [(sentence, None, False)]
    while pending:
        part, place, read = pending.pop()
        if read:
            open_pairs.discard(id(part))
            right, left = done.pop(), done.pop()
            done.append(ConstructorValue(pair.tag, [left, right], pair))
        elif isinstance(part, (tuple, list)):
            if len(part) != 2 or id(part) in open_pairs:
                raise _no_pair(part, place)
            open_pairs.add(id(part))
            pending += [
                (part, place, True),
                (part[1], (place, "right"), False),
                (part[0], (place, "left"), False),
            ]
        else:
            done.append(ConstructorValue(word.tag, [_vector(part, place, vectors, word)], word))
    return done.pop()


# The position of a part: its parent's, and which half it is; None for the whole sentence.
_Place = tuple[Any, str] | None


def _vector(part: Any, place: _Place, vectors: Mapping[str, Any] | None, word: Constructor) -> Any:
    """Return the vector of a word, as a row."""
    import numpy

    if isinstance(part, str):
        if vectors is None or part not in vectors:
            raise RelayError(
                f"there is no vector for the word {part!r:.60}{_where(place)}",
                help=["`vectors` maps each word to its vector; leave out words that it does not contain"],
            )
        part = vectors[part]
    (row,) = word.inputs
    assert isinstance(row, TensorType)
    size = row.concrete_shape[1]
    try:
        vector = numpy.asarray(part, row.dtype)
    except (TypeError, ValueError):
        vector = None
    if vector is None or vector.shape not in ((size,), (1, size)):
        actual = (
            f"of the type {type(part).__name__}"
            if vector is None or not vector.ndim
            else f"of shape {vector.shape}"
        )
        raise RelayError(
            f"a word{_where(place)} must be a vector of {size} elements, but is {actual}",
            help=["a sentence is a word, or a pair of two phrases: `((a, b), c)`"],
        )
    return vector.reshape(1, size)


def _no_pair(part: tuple[Any, ...] | list[Any], place: _Place) -> RelayError:
    if len(part) == 2:
        return RelayError(f"a phrase{_where(place)} contains itself, so it is infinite")
    return RelayError(
        f"a phrase has two halves, but this one{_where(place)} has {len(part)}",
        help=["pair neighbours: `(a, b, c)` is `((a, b), c)` or `(a, (b, c))`"] if part else [],
    )


def _where(place: _Place) -> str:
    """Describe a position by the path that leads to it: ` (at left right)`; of a long path, by its end."""
    sides: list[str] = []
    while place is not None and len(sides) < 8:
        place, side = place
        sides.append(side)
    if not sides:
        return ""
    return f" (at {'… ' if place is not None else ''}{' '.join(reversed(sides))})"
