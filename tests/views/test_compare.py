"""The compare view: what corresponds in two programs, what differs, and in which words."""

from __future__ import annotations

import json
import random
import re
import time
from itertools import pairwise

import pytest
from inline_snapshot import snapshot

from relay_explorer import explore
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.module import IRModule
from relay_explorer.testing import generate
from relay_explorer.text import parse
from relay_explorer.transform import FoldConstant, FuseOps, PassContext, Sequential, SimplifyInference
from relay_explorer.views import picture
from relay_explorer.views.compare.format import CompareView, DifferenceKind, Differs
from relay_explorer.views.compare.sequences import common
from relay_explorer.views.compare.view import compare_view
from relay_explorer.views.fates import Fate
from relay_explorer.views.format import spoken
from relay_explorer.views.registry import ViewError
from tests.support.views.check import check
from tests.views import compares


def rows(view: CompareView) -> list[tuple[str, str, str]]:
    """The pairs that differ: the fate, and the two rows."""

    def text(side: int, row: int) -> str:
        return (view.a, view.b)[side].rows[row].text if row >= 0 else ""

    return [
        (Fate(p.fate).name.lower(), text(0, p.a), text(1, p.b)) for p in view.pairs if p.fate != Fate.KEPT
    ]


def test_rows_are_aligned_and_each_difference_has_its_kind() -> None:
    view = compares.hand()
    assert check(json.loads(view.to_json())) == []
    assert rows(view) == snapshot(
        [
            ("moved", "", "let %q = sigmoid(%x);"),
            (
                "rewritten",
                "let %y = nn.conv2d(%x, %w, padding=[1, 1], channels=4, kernel_size=[3, 3]);",
                "let %y = nn.conv2d(%x, %w, channels=4, kernel_size=[3, 3]);",
            ),
            ("rewritten", "let %z = nn.relu(%y);", "let %z = sqrt(%y);"),
            ("rewritten", "let %t = exp(%z);", "let %t = exp(%z);"),
            ("moved", "let %q = sigmoid(%x);", ""),
            ("rewritten", "let %a = add(%t, %s);", "let %a = add(%t, %s);"),
            ("rewritten", "let %b = negative(%a);", "let %b = negative(%a);"),
            ("rewritten", "let %c = abs(%b);", "let %c = abs(%b);"),
            ("rewritten", "let %d = ceil(%c);", "let %d = ceil(%c);"),
            ("rewritten", "let %e = floor(%d);", "let %n = log(%d);"),
            ("removed", "let %f = tanh(%e);", ""),
            ("rewritten", "(%f, %q)", "(%n, %q)"),
        ]
    )
    assert [spoken(d.say) for d in view.differences] == snapshot(
        [
            "B (after) has 1 call fewer than A (before): −1 × floor, −1 × nn.relu, −1 × tanh, and 2 "
            "other operators. Equal rows: 5. Rows that differ: 9; 1 only in A, 1 at another place.",
            "let %q = sigmoid(%x) is at another place in B.",
            "2 adjacent rows differ. %y has padding = [1, 1] in A, [0, 0] in B; has the type Tensor[(1, "
            "4, 8, 8), float32] in A, Tensor[(1, 4, 6, 6), float32] in B.",
            "%t has the type Tensor[(1, 4, 8, 8), float32] in A, Tensor[(1, 4, 6, 6), float32] in B.",
            "The types of 4 rows differ. %a has the type Tensor[(1, 4, 8, 8), float32] in A, Tensor[(1, "
            "4, 6, 6), float32] in B.",
            "3 adjacent rows: 2 differ, 1 only in A. %n is floor in A, log in B; has the type "
            "Tensor[(1, 4, 8, 8), float32] in A, Tensor[(1, 4, 6, 6), float32] in B.",
        ]
    )
    moved = [number for number, pair in enumerate(view.pairs) if pair.fate == Fate.MOVED]
    assert [view.pairs[number].other for number in moved] == moved[::-1]
    conv = next(p for p in view.pairs if p.a >= 0 and "conv2d" in view.a.rows[p.a].text)
    assert conv.differs == Differs.ATTRIBUTES | Differs.TYPE


def test_signatures_come_first_and_equal_types_fold() -> None:
    view = compares.batch()
    kinds = [DifferenceKind(d.mark) for d in view.differences]
    # The type of the sum is the same: it stands between two runs of other types.
    types = DifferenceKind.TYPES
    assert kinds == [DifferenceKind.SUMMARY, DifferenceKind.SIGNATURE, types, types]
    assert spoken(view.differences[2].say).startswith("The types of 4 rows differ. %y has the type")


def test_the_names_of_variables_make_no_difference() -> None:
    view = compares.same()
    assert view.same
    assert rows(view) == []
    assert view.summary == snapshot(
        "A (before) and B (renamed) are the same program, except for the names of variables."
    )


def test_a_program_is_aligned_with_what_passes_made_of_it_by_provenance() -> None:
    view = compares.passes()
    norms = [p for p in view.pairs if p.a >= 0 and "nn.batch_norm" in view.a.rows[p.a].text]
    assert len(norms) > 20
    kept = [p for p in view.pairs if p.fate in (Fate.KEPT, Fate.REWRITTEN) and p.a >= 0 and p.b >= 0]
    for pair in kept:
        left, right = view.a.rows[pair.a].text, view.b.rows[pair.b].text
        if "nn.conv2d" in left:
            assert left.split("(")[1].split(",")[1] == right.split("(")[1].split(",")[1], "the same weight"
    assert view.summary.startswith("B (after SimplifyInference) has ")
    assert ("nn.batch_norm", 27, 0) in view.counts


def test_everything_that_explore_opens_can_stand_beside_a_program() -> None:
    program = parse(compares.BEFORE)

    def mine(mod: IRModule) -> IRModule:
        return mod

    views = [
        explore(compares.BEFORE, against=compares.AFTER),
        explore(program, against=FoldConstant()),
        explore(program, against=mine),
        explore(program, passes="FoldConstant", against="SimplifyInference", view="compare"),
        explore(program, passes=[SimplifyInference()], view="compare"),
        explore([program, parse(compares.AFTER)]),
    ]
    assert {shown.view.kind for shown in views} == {"compare"}
    assert [shown.view.title for shown in views] == snapshot(
        [
            "@main",
            "@main and after FoldConstant",
            "@main and after mine",
            "after FoldConstant and after SimplifyInference",
            "@main and after SimplifyInference",
            "@main",
        ]
    )
    with pytest.raises(ViewError, match="needs another program"):
        explore(program, view="compare")
    with pytest.raises(RelayError, match="returned int, not a module"):
        explore(program, against=lambda mod: 3)
    with pytest.raises(ViewError, match="`against` is a list of passes"):
        explore(program, view="pipeline", passes="FoldConstant", against=parse(compares.AFTER))


def test_two_random_programs_have_every_row_once() -> None:
    for seed in range(12):
        a, b = (generate(70_000 + 2 * seed + n, size=25).module for n in range(2))
        view = compare_view(a, b)
        assert check(json.loads(view.to_json())) == [], seed
        assert [p.a for p in view.pairs if p.a >= 0 and p.fate != Fate.MOVED] == sorted(
            {p.a for p in view.pairs if p.a >= 0 and p.fate != Fate.MOVED}
        )
        assert {p.a for p in view.pairs if p.a >= 0} == set(range(len(view.a.rows)))
        assert {p.b for p in view.pairs if p.b >= 0} == set(range(len(view.b.rows)))
        assert all(fate == "kept" for fate, _, _ in rows(compare_view(a, a)))


def chain(length: int, skip: int) -> IRModule:
    ops = ("exp", "tanh", "nn.relu", "sqrt", "abs", "negative")
    generator = random.Random(7)
    lines, name = [], "%x"
    for number in range(length):
        op = generator.choice(ops)
        if number % skip == skip - 1:
            continue
        lines.append(f"let %v{number} = {op}({name});")
        name = f"%v{number}"
    text = "\n".join(lines)
    return parse(f"def @main(%x: Tensor[(4), float32]) {{ {text} {name} }}")


def test_thousands_of_rows_take_a_second() -> None:
    a, b = chain(2_000, 2_001), chain(2_000, 50)
    started = time.process_time()
    view = compare_view(a, b)
    seconds = time.process_time() - started
    assert sum(p.fate == Fate.REMOVED for p in view.pairs) == 40
    assert seconds < 4


@pytest.mark.parametrize("size", [3, 300])
def test_the_longest_common_subsequence(size: int) -> None:
    generator = random.Random(size)
    for _ in range(20):
        a = [generator.randrange(size) for _ in range(size)]
        b = [value for value in a if generator.random() < 0.9]
        pairs = common(a, b)
        assert all(a[i] == b[j] for i, j in pairs)
        assert all(x < y and z < w for (x, z), (y, w) in pairwise(pairs))
        assert len(pairs) >= 0.95 * len(b)
    assert common([1] * 3000, [2] * 3000) == []
    assert len(common([1, 2] * 2000, [2, 1] * 2000)) >= 2000


def test_the_text_picture_is_a_difference() -> None:
    assert picture.text(compares.hand()).splitlines()[:4] == snapshot(
        [
            "let %q = sigmoid(%x) is at another place in B.",
            "2 adjacent rows differ. %y has padding = [1, 1] in A, [0, 0] in B; has the type Ten…",
            "%t has the type Tensor[(1, 4, 8, 8), float32] in A, Tensor[(1, 4, 6, 6), float32] i…",
            "The types of 4 rows differ. %a has the type Tensor[(1, 4, 8, 8), float32] in A, Ten…",
        ]
    )


def test_hostile_names_are_text() -> None:
    a = parse("def @main(%x: float32) { exp(%x) }")
    shown = explore(a, against=parse("def @main(%x: float32) { log(%x) }"), title="<script>alert(1)</script>")
    assert "<script>alert" not in shown.to_html()


NET = """
def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1], channels=4, kernel_size=[3, 3]);
  %1 = multiply(%0, add(1f, 2f));
  %2 = nn.relu(%1);
  %3 = nn.global_avg_pool2d(%2);
  tanh(%3)
}
"""


def said(module: IRModule, passes: str) -> list[str]:
    """The sentences about a program before and after passes."""
    with PassContext(opt_level=3):
        view = compare_view(module, Sequential(passes)(module), ("before", "after"))
    return [spoken(difference.say) for difference in view.differences]


def test_operators_in_kernels_are_aligned_with_those_outside() -> None:
    module = parse(NET)
    view = compare_view(module, FuseOps()(module), ("before", "after"))
    assert {p.fate for p in view.pairs if p.a >= 0} == {Fate.KEPT}, "only what is around them is new"
    assert said(module, "FuseOps") == snapshot(
        [
            "A (before) and B (after) call the same operators, 6 times. Equal rows: 10. Rows that "
            "differ: 0; 11 only in B. The operators of B are fused into 2 kernels.",
            "In B, 4 operators are fused into kernel 1: nn.conv2d, add, multiply, 1 more. 4 adjacent "
            "rows are only in B.",
            "In B, 2 operators are fused into kernel 2: nn.global_avg_pool2d, tanh. 5 adjacent rows are "
            "only in B.",
            "In B, %6(%5) is the call of kernel 2. 2 adjacent rows are only in B.",
        ]
    )
    backwards = compare_view(FuseOps()(module), module, ("fused", "unfused"))
    assert [spoken(difference.say) for difference in backwards.differences[1:2]] == snapshot(
        [
            "In A, 4 operators are fused into kernel 1: nn.conv2d, add, multiply, 1 more. 4 adjacent "
            "rows are only in A."
        ]
    )
    assert said(module, "FoldConstant, FuseOps") == snapshot(
        [
            "B (after) has 1 call fewer than A (before): −1 × add. Equal rows: 8. Rows that differ: 1; "
            "1 only in A, 11 only in B. The operators of B are fused into 2 kernels.",
            "In B, 3 operators are fused into kernel 1: nn.conv2d, multiply, nn.relu. 4 adjacent rows "
            "are only in B.",
            "2 adjacent rows: 1 differs, 1 only in A. Only in A: add. In B, the result of add is a "
            "constant, in %2 = multiply.",
            "In B, 2 operators are fused into kernel 2: nn.global_avg_pool2d, tanh. 5 adjacent rows are "
            "only in B.",
            "In B, %5(%4) is the call of kernel 2. 2 adjacent rows are only in B.",
        ]
    )


def test_what_is_gone_is_said_to_be_somewhere() -> None:
    assert said(parse(NET), "FoldConstant") == snapshot(
        [
            "B (after) has 1 call fewer than A (before): −1 × add. Equal rows: 8. Rows that differ: 1; "
            "1 only in A.",
            "2 adjacent rows: 1 differs, 1 only in A. Only in A: add. In B, the result of add is a "
            "constant, in %1 = multiply.",
        ]
    )
    twice = "def @main(%x: Tensor[(4), float32]) { %0 = exp(%x); %1 = tanh(%0); multiply(%1, exp(%x)) }"
    assert said(parse(twice), "EliminateCommonSubexpr") == snapshot(
        [
            "B (after) has 1 call fewer than A (before): −1 × exp. Equal rows: 5. Rows that differ: 1; "
            "1 only in A.",
            "2 adjacent rows: 1 differs, 1 only in A. Only in A: exp. In B, exp is part of %0 = exp.",
        ]
    )


def mutated(text: str, count: int) -> str:
    """The program with another operator in `count` of its rows."""
    operators = ("exp", "tanh", "nn.relu", "sqrt", "abs", "negative")
    generator = random.Random(3)
    places = list(re.finditer(rf"\b({'|'.join(map(re.escape, operators))})\(", text))
    for place in sorted(generator.sample(places, count), key=lambda m: -m.start()):
        other = generator.choice([name for name in operators if name != place[1]])
        text = f"{text[: place.start()]}{other}({text[place.end() :]}"
    return text


def test_a_text_that_is_read_twice_has_only_equal_rows() -> None:
    for seed in range(8):
        text = generate(71_000 + seed, size=40).module.astext()
        assert rows(compare_view(parse(text), parse(text))) == [], seed


def test_a_large_random_program_differs_from_a_mutated_copy_where_it_was_changed() -> None:
    text = generate(5, size=2_000).module.astext()
    a, b = parse(text), parse(mutated(text, 20))
    started = time.process_time()
    view = compare_view(a, b)
    seconds = time.process_time() - started
    assert len(view.a.rows) > 5_000
    assert 15 <= sum(p.fate != Fate.KEPT for p in view.pairs) <= 60
    assert seconds < 12
