"""What may stand on the right of a clause of `match`."""

from __future__ import annotations

import pytest

from relay_explorer.ir.equal import structural_equal
from relay_explorer.text import parse

HEAD = "type L { C(float32), N } def @main(%l: L) -> float32 { match (%l) { N => 0f, C(%x) => "


@pytest.mark.parametrize(
    "right",
    ["%0 = exp(%x); add(%0, %0)", "{ %0 = exp(%x); add(%0, %0) }", "%0 = exp(%x); { add(%0, %0) }"],
)
def test_bindings_need_no_braces(right: str) -> None:
    """TVM's own programs are written so."""
    expected = parse(HEAD + "{\n  %0 = exp(%x);\n  add(%0, %0)\n} } }")
    assert structural_equal(parse(HEAD + right + " } }"), expected)


def test_a_binding_of_one_clause_is_not_one_of_the_next() -> None:
    first = (
        "type L { C(float32), N } def @main(%l: L) -> float32 { match (%l) { C(%x) => let %y = exp(%x); %y, "
    )
    parse(first + "N => let %y = 0f; %y } }")
    with pytest.raises(Exception, match="`%y` is not defined here"):
        parse(first + "N => %y } }")
