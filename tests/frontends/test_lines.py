"""How importers name a line of the user's code."""

from __future__ import annotations

from typing import Any

import pytest

from relay_explorer import relay
from relay_explorer.frontends.base.source import Node, line_of


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        ("/home/me/model.py", "model.py:7"),
        ("/tmp/ipykernel_123/456789.py", "cell:7"),
        ("<ipython-input-3-abc>", "cell:7"),
    ],
)
def test_a_line_of_a_notebook_names_no_temporary_file(file: str, shown: str) -> None:
    assert line_of(file, 7) == shown


def test_a_line_shows_no_program_that_an_attribute_holds() -> None:
    value: Any = relay.var("x")
    for _ in range(2000):
        value = relay.exp(value)
    node = Node("op", "n", ["x"], ["n"], {"list": [value, 1], "pair": (value,), "key": {"a": value}})
    assert str(node).endswith("{list=[<value>, 1], pair=(<value>,), key={'a': <value>}}")
