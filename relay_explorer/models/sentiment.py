"""A small TreeLSTM that has learned how sentences feel, from sentences made by rule; and a program in C that
reads a sentence's tree and tells.

The rule, by which `mood` says what is right, from -2 (very negative) to 2 (very positive):

* Words have moods of their own: see WORDS. All others of the vocabulary have none, 0.
* `(not x)` turns the mood of x around.
* `(very x)` makes a mood that is not 0 stronger by one, up to 2.
* `(but x)` has the mood of x, and `(y (but x))` as well: what was said before does not count.
* Any other pair has the sum of the moods of its halves, cut at -2 and 2.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ..ir.errors import RelayError
from ..ir.module import IRModule
from .tree_lstm import tree_lstm

if TYPE_CHECKING:
    from numpy import ndarray as Array

    from ..lower.link.native import NativeExecutable

WORDS = {
    "great": 2, "wonderful": 2, "brilliant": 2, "good": 1, "nice": 1, "fun": 1, "clever": 1, "warm": 1,
    "bad": -1, "dull": -1, "slow": -1, "silly": -1, "loud": -1, "awful": -2, "terrible": -2, "boring": -2,
    "the": 0, "a": 0, "film": 0, "story": 0, "music": 0, "end": 0, "is": 0, "was": 0, "and": 0, "it": 0,
    "not": 0, "very": 0, "but": 0,
}  # fmt: skip
MOODS = ("very negative", "negative", "neutral", "positive", "very positive")
SPECIAL = ("not", "very", "but")
INPUTS, HIDDEN = 16, 32

Tree = Any  # a word, or a pair of Trees


def mood(tree: Tree) -> int:
    """The mood of a sentence by the rule. Works at any depth."""
    done: list[int] = []
    pending: list[tuple[Tree, bool]] = [(tree, False)]
    while pending:
        part, ready = pending.pop()
        if isinstance(part, str):
            done.append(WORDS[part])
        elif not ready:
            pending += [(part, True), (part[1], False), (part[0], False)]
        else:
            right, left = done.pop(), done.pop()
            done.append(_pair(part, left, right))
    return done.pop()


def _pair(tree: Tree, left: int, right: int) -> int:
    first, second = tree
    if first == "not":
        return -right
    if first == "very" and right:
        return max(-2, min(2, right + (1 if right > 0 else -1)))
    if first in SPECIAL or (isinstance(second, tuple) and second[0] == "but"):
        return right
    return max(-2, min(2, left + right))


def sentences(seed: int, count: int, words: int = 8) -> Iterator[Tree]:
    """Sentences of up to `words` plain words, made by chance; two runs make the same."""
    chance = random.Random(seed)
    plain = [word for word in WORDS if word not in SPECIAL]
    felt = [word for word in plain if WORDS[word]]
    for _ in range(count):
        yield _sentence(chance, felt, plain, chance.randint(1, words))


def _sentence(chance: random.Random, felt: list[str], plain: list[str], words: int) -> Tree:
    """At most a few levels for each word."""
    if words == 1:
        made: Tree = chance.choice(felt if chance.random() < 0.6 else plain)
    else:
        left = chance.randint(1, words - 1)
        second = _sentence(chance, felt, plain, words - left)
        if chance.random() < 0.15:
            second = ("but", second)
        made = (_sentence(chance, felt, plain, left), second)
    if chance.random() < 0.2:
        made = (chance.choice(("not", "very")), made)
    return made


# -- what has been learned


def module() -> IRModule:
    """The program: a sentence and weights to the probabilities of the five moods."""
    return tree_lstm(INPUTS, HIDDEN, len(MOODS))


@cache
def vectors() -> dict[str, Array]:
    """The words' vectors, which were drawn by chance and are not learned."""
    import numpy as np

    drawn = np.random.default_rng(0).normal(size=(len(WORDS), INPUTS)).astype("float32")
    return dict(zip(WORDS, drawn))


@cache
def weights() -> dict[str, Array]:
    """The weights that `sentiment_training.train` has found, by the names of the program's parameters."""
    import numpy as np

    with (files(__package__) / "sentiment.npz").open("rb") as file, np.load(file) as found:
        return {name: found[name] for name in found.files}


def parse(text: str) -> Tree:
    """A sentence written as pairs in parentheses: `((the film) (is (not bad)))`. A RelayError where it is
    none, or has a word that is not known.
    """
    open_pairs: list[list[Tree]] = [[]]
    for token in text.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            open_pairs.append([])
            continue
        if token == ")":
            parts = open_pairs.pop()
            if not open_pairs or len(parts) != 2:
                raise RelayError("a sentence is a word, or a pair of two in parentheses: `(not bad)`")
            part: Tree = tuple(parts)
        elif token in WORDS:
            part = token
        else:
            raise RelayError(f"{token!r:.40} is no word of the vocabulary", help=[", ".join(WORDS)])
        open_pairs[-1].append(part)
    if len(open_pairs) != 1 or len(open_pairs[0]) != 1:
        raise RelayError("a sentence is a word, or a pair of two in parentheses: `(not bad)`")
    return open_pairs[0][0]


def build(target: object = "cpu", *, quiet: bool = False) -> NativeExecutable:
    """The program with its weights, compiled ahead of time."""
    from ..lower.build import build_native

    return build_native(module(), target, weights(), name="sentiment", quiet=quiet)


def link(path: object, target: object = "cpu", *, quiet: bool = False) -> None:
    """Writes a program that needs no other file: it reads sentences, one a line as `parse` takes them, and
    prints the mood of each and the five probabilities.
    """
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        main = Path(folder) / "main.c"
        main.write_text(c_main(), "utf-8")
        build(target, quiet=quiet).link(path, [main], static=True)


def c_main() -> str:
    """The C of that program: what stands in `sentiment.c`, and the words with their vectors."""
    rows = [f'  {{"{word}", {{{_numbers(vector.tolist())}}}}},' for word, vector in vectors().items()]
    names = ", ".join([f'"{name}"' for name in MOODS])
    table = [
        f"enum {{ INPUTS = {INPUTS}, MOODS = {len(MOODS)}, WORDS = {len(WORDS)} }};",
        "static const struct { const char *word; float vector[INPUTS]; } words[] = {",
        *rows,
        "};",
        f"static const char *const moods[] = {{{names}}};",
    ]
    return (files(__package__) / "sentiment.c").read_text("utf-8").replace("/* WORDS */", "\n".join(table))


def _numbers(values: Sequence[float]) -> str:
    """As C writes them, to the last bit."""
    return ", ".join([float(value).hex() for value in values])
