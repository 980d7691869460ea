"""A pass of the package that goes wrong says which it is, where, and keeps what makes it happen again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from relay_explorer.ir import IRModule
from relay_explorer.ir.errors import PassError
from relay_explorer.text import parse
from relay_explorer.transform import FastMath, fast_math, function_pass

PROGRAM = "def @main(%x: float32) {\n  tanh(exp(%x))\n}\n"


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> IRModule:
    """A module on which FastMath fails."""

    monkeypatch.setattr(fast_math, "FASTER", {"exp": 3})
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return parse(PROGRAM, "mine.relay")


def test_the_pass_the_expression_and_the_file_are_named(broken: IRModule) -> None:
    with pytest.raises(PassError) as caught:
        FastMath()(broken)
    error = caught.value
    assert error.message.startswith("the pass FastMath failed, at `")
    assert "exp(%x)" in error.message
    assert error.message.endswith("TypeError: 'int' object is not subscriptable")
    assert isinstance(error.__cause__, TypeError)
    assert "mine.relay:2:8" in str(error)


def test_the_file_is_the_program(broken: IRModule) -> None:
    with pytest.raises(PassError) as caught:
        FastMath()(broken)
    found = re.search(r"with the file (\S+)$", caught.value.help[0])
    assert found is not None
    text = Path(found[1]).read_text("utf-8")
    assert "The pass FastMath fails on this program: TypeError." in text
    assert parse(text).astext() == broken.astext()


def test_a_readers_own_pass_fails_as_it_does() -> None:
    @function_pass(opt_level=0)
    def mine(function: object, mod: object, ctx: object) -> object:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        mine(parse(PROGRAM))
