"""How importers name a line of the user's code."""

from __future__ import annotations

import pytest

from relay_explorer.frontends.base.source import line_of


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
