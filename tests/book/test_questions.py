"""The page of questions and answers: its links, its length, and what its cells print."""

from __future__ import annotations

import re

import pytest
from mdit_py_plugins.anchors.index import slugify

from tests.book.chapters import BOOK, CELL, output, source

PAGE = "questions"
FENCED = re.compile(r"^(`{3,}).*?^\1$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")

# Each question that the readers whom this book was planned for asked, and the heading that answers it.
ASKED = {
    "a conversation that prepares a talk on the Relay paper": [
        "what-is-the-difference-between-define-and-run-and-define-by-run",
        "is-relay-define-and-run-or-define-by-run",
        "why-does-define-and-run-not-work-well-with-control-flow",
        "what-does-the-doubling-loop-look-like-in-each-style",
        "what-is-the-difference-between-implicit-and-explicit-sharing",
        "why-do-effects-need-control-edges-in-a-graph",
        "how-does-liveness-analysis-differ-with-and-without-scope",
        "what-does-a-lowering-strategy-mean",
        "how-would-i-present-relay-in-a-talk",
        "what-goes-wrong-for-the-engineer-in-the-introduction",
        "what-are-the-pros-and-cons-of-each",
        "how-does-relay-improve-control-flow-and-first-class-functions",
        "which-kinds-of-types-are-there",
        "can-a-function-be-polymorphic-over-shapes",
        "what-is-a-type-relation",
        "how-does-type-inference-by-solving-constraints-work",
        "what-are-the-stages-of-the-compiler",
        "how-does-the-quantization-framework-work",
        "what-is-the-advantage-of-quantizing-in-the-compiler",
        "what-are-the-results",
        "what-does-relay-not-solve",
    ],
    "a reading of the Relay paper, with five questions at its end": [
        "what-is-the-key-idea-of-the-paper",
        "which-concepts-should-i-know-before-i-read-the-paper",
        "which-kinds-of-expressions-does-relay-have",
        "which-kinds-of-types-are-there",
        "what-are-the-stages-of-the-compiler",
        "which-optimizations-are-special-to-deep-learning",
        "how-does-the-paper-evaluate-relay",
        "what-are-the-results",
        "what-does-the-paper-conclude",
        "what-is-the-primary-difference-between-relay-and-a-computation-graph",
        "why-does-relay-include-shapes-in-its-types",
        "how-does-relay-reach-different-hardware",
        "what-is-the-purpose-of-partial-evaluation",
        "how-does-relay-compare-with-pytorch-on-language-models",
    ],
    "a summary of the Relax paper and ten questions on it": [
        "what-is-relax-in-a-sentence",
        "how-do-symbolic-shapes-compare-with-an-unknown-dimension",
        "what-are-the-trade-offs-of-best-effort-shape-deduction",
        "what-does-one-representation-for-all-levels-gain",
        "why-is-fusion-split-into-several-steps",
        "how-can-memory-be-planned-when-sizes-are-unknown",
        "how-does-partial-library-lowering-differ-from-lowering-in-one-step",
        "how-does-symbolic-information-survive-the-passes",
        "how-do-symbolic-shapes-cover-static-models",
        "how-are-shapes-computed-at-run-time-and-what-does-it-cost",
        "how-extensible-is-the-design",
    ],
    "a day of a course on Relay": [
        "how-does-relay-compare-with-fx-hlo-and-onnx",
        "is-an-expression-computed-twice-if-i-use-its-python-variable-twice",
        "does-immutability-make-passes-easy-to-debug",
        "why-is-the-weight-of-a-dense-layer-units-in",
        "what-is-a-type-relation",
        "can-i-import-a-model-from-pytorch-tensorflow-or-onnx",
        "which-kinds-of-expressions-does-relay-have",
        "what-are-the-pitfalls-of-writing-a-visitor-or-a-mutator",
        "can-relay-compute-gradients",
    ],
    "people with a model of their own": [
        "can-i-import-a-model-from-pytorch-tensorflow-or-onnx",
        "what-can-i-do-if-my-model-does-not-import",
        "why-do-the-numbers-differ-in-the-last-digits",
        "can-an-imported-model-accept-any-batch-size",
        "what-happened-to-the-if-in-my-model",
        "how-do-i-compare-my-model-with-another-program",
    ],
    "people who quantize a model": [
        "which-scheme-should-i-use",
        "the-accuracy-drops-where-do-i-look",
        "my-framework-has-quantized-the-model-already-can-i-import-it",
        "what-is-the-difference-between-relayquantize-qnn-and-fakequantizationtointeger",
    ],
    "people who read an evaluation": ["do-the-results-still-hold"],
}


def _prose(page: str) -> str:
    """Return a page without its code."""
    return re.sub(r"`[^`\n]+`", "code", FENCED.sub("", source(page)))


def _anchors(page: str) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", FENCED.sub("", source(page)), re.MULTILINE)
    return {slugify(re.sub(r"[`*]", "", title)) for title in titles}


def _answers() -> dict[str, str]:
    """Return the text, code included, below each question."""
    parts = re.split(r"^### (.+)\n", source(PAGE), flags=re.MULTILINE)[1:]
    return {
        slugify(title): re.split(r"^## ", text, flags=re.MULTILINE)[0]
        for title, text in zip(parts[::2], parts[1::2], strict=True)
    }


ANSWERS = _answers()


def test_every_question_that_was_asked_has_an_answer() -> None:
    asked = {anchor for anchors in ASKED.values() for anchor in anchors}
    assert asked == set(ANSWERS)


@pytest.mark.parametrize("anchor", sorted(ANSWERS))
def test_an_answer_is_short_and_says_where_to_see_it(anchor: str) -> None:
    text = CELL.sub("", ANSWERS[anchor])
    prose = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE).strip()
    words = len(re.sub(r"\]\([^)]*\)", "]", prose).split())
    assert 15 <= words <= 230
    assert len(re.split(r"\n{2,}", prose)) <= 3
    places = [link for link in LINK.findall(text) if not link.startswith("http")]
    assert [link for link in places if not link.startswith("#")]


@pytest.mark.parametrize("link", sorted({link for link in LINK.findall(_prose(PAGE)) if "://" not in link}))
def test_a_link_leads_somewhere(link: str) -> None:
    page, _, target = link.partition("#")
    page = page.removesuffix(".md") or PAGE
    assert (BOOK / f"{page}.md").is_file()
    if not target.startswith("rx-"):
        assert not target or target in _anchors(page)
        return
    name, _, state = target.removeprefix("rx-").partition(":")
    assert re.search(rf'\bname="{re.escape(name)}"', source(page))
    # The chapter itself links to the state, and its own tests compare the step with the sentence.
    assert not state or f"#{target})" in source(page)


def test_relax_deduces_what_the_answers_say() -> None:
    lines = output(PAGE, "import tvm").splitlines()
    types = {name: type_.strip() for name, _, type_ in (line.partition(" ") for line in lines)}
    assert types["both"] == 'R.Tensor((n + m, 300), dtype="float32")'
    assert types["mixed"] == 'R.Tensor(dtype="float32", ndim=2)'
    assert types["values"] == 'R.Tensor(dtype="float32", ndim=1)'
    assert types["root"] == types["known"] == 'R.Tensor((k,), dtype="float32")'


def test_relax_plans_and_counts_what_the_answers_say() -> None:
    symbolic, static, bounded, *counts = output(PAGE, "from collections").splitlines()
    assert symbolic.endswith("buffers of 20 * n and 20 * n bytes")
    assert static.endswith("buffers of 2560 and 2560 bytes")
    assert bounded.endswith("buffers of 2560 and 2560 bytes")
    assert [int(line.partition(":")[2].split()[0]) for line in counts] == [33, 23]
