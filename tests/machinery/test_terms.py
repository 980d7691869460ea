"""The glossary is the one list of terms, and chapters and explorers link to it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from relay_book.terms import EVERYDAY, forms, glossary, pattern, slug

BOOK = Path(__file__).parents[2] / "book"


def test_an_entry_has_all_its_forms() -> None:
    assert forms("Reference count, reference counting") == ["Reference count", "reference counting"]
    assert forms("Static single assignment (SSA)") == ["Static single assignment", "SSA"]
    assert slug("Static single assignment (SSA)") == "term-static-single-assignment-ssa"


def test_every_form_belongs_to_one_entry() -> None:
    entries = re.findall(r"^(\S.*)\n: ", (BOOK / "glossary.md").read_text("utf-8"), re.MULTILINE)
    every = [form if form.isupper() else form.lower() for entry in entries for form in forms(entry)]
    assert sorted(every) == sorted(set(every))
    assert len({slug(entry) for entry in entries}) == len(entries)
    assert set(glossary()) == set(every)
    assert set(glossary()) >= EVERYDAY


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Two kernel launches and a kernel", ["kernel launch", "kernel"]),
        ("the Type Relation of `add`", ["Type Relation"]),
        ("An IR, not a fir or IRs2", ["IR"]),
        ("subkernel, kernel-like", []),
    ],
)
def test_terms_are_found_as_whole_words(text: str, found: list[str]) -> None:
    words = pattern(["kernel", "kernel launch", "type relation", "IR"])
    assert [match[1] for match in words.finditer(text)] == found


def test_the_terms_that_the_style_guide_asks_for_are_defined() -> None:
    asked = """iteration, forward pass, backward pass, backpropagation, latency, throughput, bandwidth, SIMD,
    warp, cache line, prefetching, tiling, bank conflict, kernel launch, reference count, garbage collection,
    heap, accumulator, activation record, prelude, trace, coalescing, roofline, binding time"""
    missing = [term for term in re.split(r",\s+", asked) if term not in glossary()]
    assert missing == []
