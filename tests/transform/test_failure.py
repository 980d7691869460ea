"""A pass of the package that goes wrong says which it is, where, and keeps what makes it happen again."""

from __future__ import annotations

import os
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
    """Return a module on which FastMath fails."""

    monkeypatch.setattr(fast_math, "approximations", lambda: {"exp": 3})
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
    match = re.search(r"with the file (\S+)$", caught.value.help[0])
    assert match is not None
    text = Path(match[1]).read_text("utf-8")
    assert "The pass FastMath fails on this program: TypeError." in text
    assert parse(text).astext() == broken.astext()


def test_a_readers_own_pass_fails_as_it_does() -> None:
    @function_pass(opt_level=0)
    def mine(function: object, mod: object, ctx: object) -> object:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        mine(parse(PROGRAM))


def _file_of(broken: IRModule) -> Path:
    with pytest.raises(PassError) as caught:
        FastMath()(broken)
    named = re.search(r"with the file (\S+)$", caught.value.help[0])
    assert named is not None
    return Path(named[1])


def test_only_its_user_can_read_the_file(broken: IRModule) -> None:
    path = _file_of(broken)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert _file_of(broken) == path


@pytest.mark.parametrize("made_first", ["open", "link", "file"])
def test_a_folder_that_others_could_have_made_is_not_used(
    made_first: str, broken: IRModule, tmp_path: Path
) -> None:
    expected = tmp_path / f"relay-explorer-{os.getuid()}"
    if made_first == "open":
        expected.mkdir(mode=0o700)
        expected.chmod(0o777)
    elif made_first == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        expected.symlink_to(tmp_path / "elsewhere")
    else:
        expected.write_text("")
    path = _file_of(broken)
    assert path.parent.parent == tmp_path
    assert path.parent != expected
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.glob("elsewhere/*")) == []


def test_a_planted_link_is_not_followed(broken: IRModule, tmp_path: Path) -> None:
    path, victim = _file_of(broken), tmp_path / "victim"
    victim.write_text("precious")
    path.unlink()
    path.symlink_to(victim)
    with pytest.raises(PassError) as caught:
        FastMath()(broken)
    assert "with the file" not in caught.value.help[0]
    assert victim.read_text() == "precious"
