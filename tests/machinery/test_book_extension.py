"""The book's Sphinx extension: the bundle as a classic script, chapters by name, when pages run again."""

from __future__ import annotations

from pathlib import Path

import pytest
from relay_book.assets import classic_script
from relay_book.chapters import chapter_of, goal_of, kind_of, part_of, promises_of
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
    assert [chapter_of(name) for name in names] == [None, None, None, "12", None]
    assert [chapter_of(f"book/{name}") for name in ("ch04_a", "ch17b_scales", "ch0_a")] == ["4", "17b", None]
    assert [part_of(name) for name in names] == [None, None, 3, None, None]


def test_a_card_says_what_the_chapter_promises_first() -> None:
    promises = "* Read a *type* and say `what` it\n  [means](x).\n* Else.\n"
    source = f"# T\n\n## What you will be able to do\n\n{promises}\n## The problem\n* No.\n"
    assert goal_of(source) == "Read a type and say what it means."
    assert goal_of("# T\n\n## The problem\n\n* No.\n") == ""


def built(folder: Path, page: str) -> tuple[str, str]:
    """Return a page as HTML, built with the book's directives, and the warnings."""
    import io

    from sphinx.application import Sphinx

    (folder / "conf.py").write_text('extensions = ["myst_parser", "relay_book.directives"]')
    (folder / "index.md").write_text(page)
    out, warnings = folder / "out", io.StringIO()
    app = Sphinx(folder, folder, out, out / "doctrees", "html", status=None, warning=warnings)
    app.build()
    return (out / "index.html").read_text("utf-8"), warnings.getvalue()


QUESTION = """\
# T

## What you will be able to do

* Read
  it.
* Write it.

## Predict, then run

* Not a promise.

````{{predict}}
:checks: {checks}
What?

```{{answer}}
This.
```
````
"""


def test_promises_are_those_of_their_section() -> None:
    assert promises_of(QUESTION) == ["Read\n  it.", "Write it."]
    assert promises_of("# T\n\n* No.\n") == []


def test_a_question_names_the_promises_that_it_checks(tmp_path: Path) -> None:
    page, warnings = built(tmp_path, QUESTION.format(checks="1, 2"))
    assert warnings == ""
    assert "<p>What?</p>" in page
    assert "checks" not in page.partition("<body")[2]


@pytest.mark.parametrize(
    ("checks", "message"),
    [
        ("1, 3", ":checks: names promise 3, but the page has 2 promises"),
        ("0", ":checks: names promise 0, but the page has 2 promises"),
        ("all", "it names promises of the page by number, such as 1, 3"),
    ],
)
def test_other_promises_are_refused(tmp_path: Path, checks: str, message: str) -> None:
    assert message in built(tmp_path, QUESTION.format(checks=checks))[1]


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
