"""The book's Sphinx extension: the bundle as a classic script, chapters by name, when pages run again."""

from __future__ import annotations

from pathlib import Path

import pytest
from relay_book.assets import classic_script
from relay_book.chapters import chapter_of, goal_of, kind_of, part_of
from relay_book.outdated import fingerprint
from relay_book.streams import joined
from sphinx.errors import ExtensionError


def test_bundle_becomes_a_classic_script() -> None:
    module = "/* licence */var a=1;function b(){}export{a as default,b as mount};\n"
    assert classic_script(module) == "(()=>{/* licence */var a=1;function b(){}\n})();\n"


@pytest.mark.parametrize(
    "module",
    ["var a=1;", "export{a};var b=2;", "var u=import.meta.url;export{u};", "export default 1;"],
)
def test_any_other_bundle_is_refused(module: str) -> None:
    with pytest.raises(ExtensionError, match=r"not one self-contained module .* `make frontend`"):
        classic_script(module)


def test_pages_are_told_apart_by_their_names() -> None:
    names = ["book/index", "book/using", "book/part3_typing", "book/ch12_inference", "search"]
    assert [kind_of(name) for name in names] == ["cover", "plain", "part", "chapter", "plain"]
    assert kind_of("book/reference/operators_image") == "reference"
    assert [chapter_of(name) for name in names] == [None, None, None, 12, None]
    assert [part_of(name) for name in names] == [None, None, 3, None, None]


def test_a_card_says_what_the_chapter_promises_first() -> None:
    promises = "* Read a *type* and say `what` it\n  [means](x).\n* Else.\n"
    source = f"# T\n\n## What you will be able to do\n\n{promises}\n## The problem\n* No.\n"
    assert goal_of(source) == "Read a type and say what it means."
    assert goal_of("# T\n\n## The problem\n\n* No.\n") == ""


def test_pages_run_again_when_the_package_changes(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "program.relay").write_text("def @main() { () }\n")
    before = fingerprint(tmp_path)
    assert fingerprint(tmp_path) == before
    (tmp_path / "notes.txt").write_text("nothing that runs\n")
    assert fingerprint(tmp_path) == before
    (tmp_path / "a.py").write_text("x = 2\n")
    assert fingerprint(tmp_path) != before


def test_what_is_printed_in_pieces_is_one_text() -> None:
    def printed(text: str, name: str = "stdout") -> dict[str, str]:
        return {"output_type": "stream", "name": name, "text": text}

    picture = {"output_type": "display_data"}
    result = joined(
        [printed("32"), picture, printed(" blocks\n8"), printed("!", "stderr"), printed(" left\n")]
    )
    assert result == [printed("32 blocks\n8 left\n"), picture, printed("!", "stderr")]


def test_the_book_shows_such_pieces_so() -> None:
    from myst_nb.core import render
    from relay_book import streams

    streams.setup(None)  # type: ignore[arg-type]  # it asks nothing of Sphinx
    pieces = [{"output_type": "stream", "name": "stdout", "text": text} for text in ("a ", "line\n", "b\n")]
    (output,) = render.coalesce_streams(pieces)
    assert output["text"] == "a line\nb\n"
