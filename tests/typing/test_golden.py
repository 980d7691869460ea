"""Each file in `programs/` holds a program and, after a line `==`, what inference makes of it: the typed
program, or the error.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from relay_explorer.ir import RelayError
from relay_explorer.text import astext, parse
from relay_explorer.typing import infer_types

FILES = sorted((Path(__file__).parent / "programs").glob("*.relay"))
BAR = "\n==\n"


def outcome(program: str, name: str) -> str:
    try:
        return astext(infer_types(parse(program, name)))
    except RelayError as error:
        return f"{error}\n"


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_outcome(file: Path) -> None:
    program, _, expected = file.read_text().partition(BAR)
    result = outcome(program, file.name)
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(program.rstrip("\n") + BAR + result)
    assert result == expected, f"UPDATE_GOLDEN=1 writes what is found into {file.name}"


def test_ill_typed_programs_are_named_so() -> None:
    for file in FILES:
        refused = "error:" in file.read_text().partition(BAR)[2]
        assert refused == file.stem.startswith("bad_"), file.name
