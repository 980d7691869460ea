"""Damaged programs: each is a module, or a ParseError with a place, and soon; never anything else."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from relay_explorer.ir import IRModule, ParseError
from relay_explorer.text import astext, parse
from tests.text.random_programs import Programs

FOLDER = Path(__file__).parents[1] / "text" / "programs"
GOLDEN = [p.read_text("utf-8") for p in sorted(FOLDER.glob("*.relay"))]
# Pieces of the language, put where they do not belong.
PIECES = [
    "(", ")", "{", "}", "[", "]", ",", ";", ":", "=", "->", "=>", "?", ".", ".0", "-", "+", "<", "*",
    "/", "/*", "*/", "//", '"', "`", "#[", "#[metadata]\n", "\\", "\n", "\u0000", "\u202e", "%", "%x",
    "%0", "@", "@main", "let ", "fn ", "if ", "else ", "match ", "def ", "type ", "extern ", "ref(",
    "meta[", "Tensor[", "float32", "1", "1f", "9" * 500, "1e999f", "True", "nn.softmax", "_", "<script>",
    "inff", "free_var ", "ref_write(", "axis=",
]  # fmt: skip
ROUNDS = 200


def survives(text: str | bytes) -> None:
    """`text` is a module that prints, or a ParseError that renders."""
    outcome = attempt(text)
    if isinstance(outcome, IRModule):
        astext(outcome)
    else:
        shown = str(outcome)
        assert "fuzz.relay" in shown
        assert len(shown) < 5_000
        assert outcome.span is None or 1 <= outcome.span.line <= outcome.span.end_line


def attempt(text: str | bytes) -> IRModule | ParseError:
    try:
        return parse(text, "fuzz.relay")
    except ParseError as error:
        return error


def damaged(rng: random.Random, text: str) -> str:
    """`text` with one to four mutations."""
    for _ in range(rng.randint(1, 4)):
        at, to = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
        to = min(to, at + rng.choice([1, 3, 30, 3000]))
        kind = rng.randint(0, 5)
        if kind == 0:
            text = text[:at] + text[to:]
        elif kind == 1:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif kind == 2:
            text = text[:at] + text[at:to] * rng.choice([2, 20]) + text[to:]
        elif kind == 3:
            text = text[:at] + chr(rng.choice([0, 10, 34, 37, 127, 0x202E, 0xD800, 0x1F600])) + text[at + 1 :]
        elif kind == 4:
            other = rng.choice(GOLDEN)
            text = text[:at] + other[rng.randint(0, len(other)) :]
        else:
            text = text[:at] + rng.choice(PIECES) + text[to:]
    return text


@pytest.mark.parametrize("program", GOLDEN, ids=[p.stem for p in sorted(FOLDER.glob("*.relay"))])
def test_truncated_at_every_place(program: str) -> None:
    for end in range(0, len(program), max(1, len(program) // 200)):
        survives(program[:end])


@pytest.mark.parametrize("seed", range(20))
def test_damaged_golden_programs(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(ROUNDS):
        survives(damaged(rng, rng.choice(GOLDEN)))


@pytest.mark.parametrize("seed", range(10))
def test_damaged_random_programs(seed: int) -> None:
    rng = random.Random(1000 + seed)
    text = astext(Programs(rng).module())
    for _ in range(ROUNDS):
        survives(damaged(rng, text))


@pytest.mark.parametrize("seed", range(5))
def test_pieces_in_any_order(seed: int) -> None:
    rng = random.Random(2000 + seed)
    for _ in range(ROUNDS):
        survives("def @main(%x: float32) { " + " ".join(rng.choices(PIECES, k=rng.randint(1, 40))))


@pytest.mark.parametrize("seed", range(5))
def test_bytes_at_random(seed: int) -> None:
    rng = random.Random(3000 + seed)
    for _ in range(ROUNDS):
        survives(rng.randbytes(rng.randint(0, 400)))
        survives(bytes(rng.choices(b'%@(){}[]=;:,.+-*/<>"`#\\ \nabfx019_', k=rng.randint(0, 200))))
