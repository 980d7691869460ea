"""The still picture: what is seen where no script runs."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from inline_snapshot import snapshot

from relay_explorer import models
from relay_explorer.text import parse
from relay_explorer.transform import EliminateCommonSubexpr, FastMath, FoldConstant, InferType
from relay_explorer.typing import record
from relay_explorer.views import picture
from relay_explorer.views.ir.view import ir_view
from relay_explorer.views.pipeline.view import pipeline_view
from relay_explorer.views.types.view import types_view
from tests.views.programs import ILL_TYPED, LETS, MARKUP, SHARED, hostile, program


def test_the_program_and_its_types_as_text() -> None:
    text = picture.text(ir_view(program(SHARED)))
    assert [" ".join(line.split()) for line in text.splitlines()] == [
        "def @main(",
        "%x: Tensor[(3, 4), float32], (3, 4) f32",
        "%b: Tensor[(4), float32]) { (4) f32",
        "%0 = add(%x, %b); (3, 4) f32",
        "%1 = tanh(%0); (3, 4) f32",
        "multiply(%1, %0) (3, 4) f32",
        "}",
    ]


def test_inference_shows_what_it_found() -> None:
    text = picture.text(types_view(record(program(LETS))))
    (row,) = [line for line in text.splitlines() if "%0 = tanh(%a)" in line]
    assert row.endswith("(2) f32")


def test_a_refused_program_shows_what_is_not_known() -> None:
    text = picture.text(types_view(record(program(ILL_TYPED))))
    (row,) = [line for line in text.splitlines() if "nn.dense" in line]
    assert row.endswith(": ?")


def test_a_pipeline_is_its_stages() -> None:
    cleaning = [FoldConstant(), FastMath(), EliminateCommonSubexpr()]
    module = parse("def @main(%x: float32) { ((%x + (1f + 2f)), (%x + 3f)) }")
    text = picture.text(pipeline_view(module, cleaning, [InferType()]))
    said = [" ".join(line.split()) for line in text.splitlines()]
    assert said[:8] == snapshot(
        [
            "the passes:",
            "The program as given: 9 expressions.",
            "FoldConstant changed the program. Of its expressions: 1 rewritten, 2 removed.",
            "FastMath changed nothing.",
            "EliminateCommonSubexpr changed the program. Of its expressions: 1 rewritten, 1 re…",
            "against:",
            "The program as given: 9 expressions.",
            "InferType changed the program. Of its expressions: all kept, written differently.",
        ]
    )
    assert "After EliminateCommonSubexpr:" in said
    assert "After FastMath:" not in said
    assert "%0 = add(%x, 3f); rewritten" in said


def test_a_large_program_is_cut() -> None:
    view = ir_view(models.load("resnet50"))
    lines = picture.lines(view)
    assert len(lines) == picture.MAX_ROWS
    assert "… 268 parameters" in picture.text(view)
    left = len(view.rows) - 267 - (picture.MAX_ROWS - 1)
    assert picture.text(view).endswith(f"… {left} more rows")


def test_the_svg_is_well_formed_and_says_the_same() -> None:
    view = ir_view(program(LETS), "a title")
    root = ElementTree.fromstring(picture.svg(view))
    texts = ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "a title"
    assert "%0 = tanh(%a);" in texts
    assert root.find("{http://www.w3.org/2000/svg}desc").text == view.summary  # type: ignore[union-attr]  # it is there


def test_markup_and_control_characters_stay_text() -> None:
    view = ir_view(hostile(), f"\x00\x1b{MARKUP}\ud800")
    root = ElementTree.fromstring(picture.svg(view))
    assert not [e for e in root.iter() if e.tag.endswith("img") or e.tag.endswith("script")]
    assert "<img" not in picture.html(view)
    assert "&lt;/script&gt;&lt;img" in picture.html(view)


def test_text_that_is_too_wide_is_cut() -> None:
    module = program(SHARED)
    module["f" * 300] = module["main"]
    assert (
        max(map(len, picture.text(ir_view(module)).splitlines()))
        <= picture.WIDEST_ROW + 2 + picture.WIDEST_NOTE
    )
