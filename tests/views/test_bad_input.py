"""Whatever text is explored: a clear error or a sound view, and soon."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relay_explorer import explore
from relay_explorer.ir import RelayError
from tests.support.views.check import check
from tests.text.random_programs import Programs

TEXTS = [
    case["text"]
    for case in json.loads(
        (Path(__file__).parents[1] / "data" / "conformance.json").read_text("utf-8")
    ).values()
]
PROGRAMS = sorted(Path(__file__).parents[1].glob("typing/programs/*.relay"))
PIECES = [
    "(",
    ")",
    "{",
    "}",
    "%x",
    "%0",
    "@main",
    "fn",
    "let",
    "if",
    "add",
    "tanh",
    "=",
    ";",
    ",",
    "1f",
    "?",
    "<b>",
    "/*",
]


def explored(text: str, view: str) -> None:
    """Explores `text`; an error is a RelayError, and a view is sound and can be written."""
    try:
        made = explore(text, view=view)
    except RelayError:
        return
    assert check(json.loads(made.to_json())) == []
    made._repr_mimebundle_()


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(TEXTS), st.data(), st.sampled_from(["ir", "types"]))
def test_damaged_programs(text: str, data: st.DataObject, view: str) -> None:
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 6)))
        piece = data.draw(st.sampled_from(PIECES) | st.text(max_size=3))
        text = text[:start] + piece + text[end:]
    explored(text, view)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(TEXTS), st.data(), st.sampled_from(["ir", "types"]))
def test_truncated_programs(text: str, data: st.DataObject, view: str) -> None:
    explored(text[: data.draw(st.integers(0, len(text)))], view)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False), st.sampled_from(["ir", "types"]))
def test_random_programs(rng: random.Random, view: str) -> None:
    """Modules of every construct, with odd names; few are well typed."""
    made = explore(Programs(rng).module(), view=view)
    assert check(json.loads(made.to_json())) == []
    made._repr_mimebundle_()


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.stem))
@pytest.mark.parametrize("view", ["ir", "types"])
def test_the_programs_of_type_inference(path: Path, view: str) -> None:
    """Each golden program, what inference says of it cut off: shown, and refused if it is a bad one."""
    made = explore(path.read_text("utf-8").split("\n==")[0], view=view)
    assert check(json.loads(made.to_json())) == []
    refused = "not well typed" in made.view.summary or "The program is rejected" in made.view.summary
    assert refused == path.stem.startswith("bad_")


def nested(kind: str, levels: int) -> str:
    head = "def @main(%x: Tensor[(2), float32], %c: bool) { "
    bodies = {
        "parentheses": "(" * levels + "%x" + ")" * levels,
        "calls": "tanh(" * levels + "%x" + ")" * levels,
        "lets": "".join(f"let %v{i} = tanh(%x); " for i in range(levels)) + "%x",
        "ifs": "if (%c) { " * levels + "%x" + " } else { %x }" * levels,
        "tuples": "(" * levels + "%x" + ",)" * levels,
        "functions": "(fn () { " * levels + "%x" + " })()" * levels,
    }
    return head + bodies[kind] + " }"


KINDS = ["parentheses", "calls", "lets", "ifs", "tuples", "functions"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("view", ["ir", "types"])
def test_a_thousand_levels(kind: str, view: str) -> None:
    explored(nested(kind, 1_000), view)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_thousand_levels(kind: str) -> None:
    """What takes the square of their number would not end."""
    explored(nested(kind, 100_000), "types")


def test_binary_text() -> None:
    explored("\x00\x01\x7fELF\ufffe\ud800", "ir")
