"""Texts that TVM 0.14 printed: all are read, and printed back as TVM printed them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relay_explorer.ir import difference
from relay_explorer.ir.expr import Constant
from relay_explorer.ir.narrow import as_a
from relay_explorer.text import astext, parse

CASES = json.loads((Path(__file__).parents[1] / "data" / "conformance.json").read_text())


def without_metadata(text: str) -> str:
    return text.split("#[metadata]")[0].strip()


@pytest.mark.parametrize("name", CASES)
def test_programs_survive_a_round_trip(name: str) -> None:
    module = parse(CASES[name]["text"])
    printed = astext(module)
    assert difference(module, parse(printed)) is None
    assert astext(parse(printed)) == printed


@pytest.mark.parametrize("name", [n for n in CASES if CASES[n].get("passes")])
def test_what_the_reference_printed_prints_back_to_the_letter(name: str) -> None:
    for step, text in CASES[name]["passes"].items():
        module = parse(text, step)
        printed = astext(module)
        assert without_metadata(printed) == without_metadata(text)
        assert difference(module, parse(printed)) is None


def test_the_constants_of_the_references_metadata_are_read() -> None:
    texts = [t for case in CASES.values() for t in case.get("passes", {}).values() if "#[metadata]" in t]
    read = [as_a(Constant, c).data.values() for t in texts for c in constants(t)]
    assert [0.5, 0.5, 0.5, 0.5] in read
    assert [1.0, 1.0, 1.0, 1.0] in read


def constants(text: str) -> list[object]:
    from relay_explorer.ir import Constant, post_order

    return [n for n in post_order(parse(text)["main"]) if isinstance(n, Constant) and n.data.shape]
