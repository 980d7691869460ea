"""The project's prose uses the field's words, and spells them right."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.prose import files, hits, misspelled

WRONG = {
    "a.md": "The sums are laid anew.\n\n```{code-cell} python\n# nobody reads it\nx = 1\n```\n",
    "b.py": 'def f():\n    """Come back in each turn of the loop."""\n',
    "c.js": "const say = `that is the way back`;\n",
    "d.c": '/* When\n   nobody holds it. */\nint c; // in each round\nputs("it is given back");\n',
}


@pytest.mark.parametrize("name", WRONG)
def test_finds_private_words_in_each_kind_of_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(WRONG[name], "utf-8")
    assert [hit.word.lower() for hit in hits(path, tmp_path)] == {
        "a.md": ["laid anew", "anew", "nobody"],
        "b.py": ["each turn", "turn of the loop"],
        "c.js": ["the way back"],
        "d.c": ["nobody", "each round", "given back"],
    }[name]


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("It takes several rounds.", "several rounds"),
        ("In each step through the inner loop, half a warp would queue.", "would queue"),
        ("The numbers of the matrix lie side by side.", "numbers of the matrix"),
        ("Every way from `%x` to `%y` passes it.", "Every way from"),
        ("The pass cuts the outer loop into tiles.", "cuts the outer loop into tiles"),
        ("Here `exp` joins the kernel.", "joins the kernel"),
        ("It counts the starts of kernels.", "starts of kernels"),
        ("What is known is computed.", "What is known is"),
        ("The relation broadcasts, so it stretches the bias.", "stretches the"),
        ("See the operator's meaning.", "operator's meaning"),
    ],
)
def test_finds_each_private_expression(sentence: str, word: str, tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(sentence + "\n", "utf-8")
    assert [hit.word for hit in hits(path, tmp_path)] == [word]


def test_finds_variables_without_a_role(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("def f():\n    found = 1\n    return lambda given: found\n", "utf-8")
    assert [(hit.line, hit.word) for hit in hits(path, tmp_path)] == [(2, "found"), (3, "given")]


def test_finds_private_words_in_comments_of_scripts(tmp_path: Path) -> None:
    path = tmp_path / "a.js"
    path.write_text('f("http://x.y/nobody");  // nobody asks\n/** For whoever\n * reads. */\n', "utf-8")
    assert [(hit.line, hit.word) for hit in hits(path, tmp_path)] == [(1, "nobody"), (2, "whoever")]


@pytest.mark.parametrize("name", ["a.c", "a.h", "a.cpp"])
def test_finds_private_words_in_comments_and_strings_of_c(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    code = """
        char nobody = '"'; /* it serves
          whoever asks */
        puts("nobody"); // nobody
        puts("\\"nobody asks\\"");
    """
    path.write_text(code, "utf-8")
    assert [(hit.line, hit.word) for hit in hits(path, tmp_path)] == [
        (3, "whoever"),
        (4, "nobody"),
        (5, "nobody"),
    ]


def test_leaves_code_and_plain_english_alone(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("Take turns with `nobody`. The pass turns it into a loop, in turn.\n", "utf-8")
    assert hits(path, tmp_path) == []


def test_finds_misspellings(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("The compiler recieves it.\n", "utf-8")
    assert "receives" in misspelled([path])


def test_no_file_has_private_words() -> None:
    assert [str(hit) for path in files() for hit in hits(path)] == []


def test_no_file_is_misspelled() -> None:
    assert misspelled(list(files())) == ""
