"""Every executable page has its notebook: what the page gives, in plain Markdown, without outputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relay_explorer import _project
from tools import pair
from tools.plain_markdown import MarkupError, Translator

ROOT = Path(__file__).parents[2]
PAGES = list(pair.executable_pages())


def plain(text: str) -> str:
    return Translator(Path("book/page.md"), ROOT).translate(text)


def test_there_are_pages() -> None:
    assert ROOT / "book" / "index.md" in PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pair(page: Path) -> None:
    written = page.with_suffix(".ipynb")
    assert written.is_file(), f"{page.name} has no notebook; run `make pairs`"
    assert written.read_text("utf-8") == pair.notebook(page), (
        f"{written.name} is not what its page gives; run `make pairs`"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_notebook_is_valid_and_holds_the_cells(page: Path) -> None:
    import jupytext
    import nbformat

    text = pair.notebook(page)
    nbformat.validate(nbformat.reads(text, as_version=4))
    cells = json.loads(text)["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    source = jupytext.reads(page.read_text("utf-8"), fmt="md:myst")["cells"]
    body = "\n".join(code[1:])
    needed = {
        "compile": pair.COMPILES.search(body) is not None,
        "graphs": "to_networkx(" in body or "to_graphviz(" in body,
        "plot": ".plot(" in body,
        "onnx": "from_onnx(" in body,
        "torch": "\nimport torch\n" in f"\n{body}",
    }
    extras = ["notebook", *(extra for extra, is_needed in needed.items() if is_needed)]
    assert code[0] == _project.install_cell(",".join(extras))
    assert code[1:] == [cell["source"] for cell in source if cell["cell_type"] == "code"]
    assert not any(cell.get("outputs") for cell in cells)


def test_no_notebook_without_a_page() -> None:
    assert {path.stem for path in (ROOT / "book").glob("*.ipynb")} == {page.stem for page in PAGES}


def test_remark() -> None:
    assert plain("```{note}\nSee `x`.\n\nAnd y.\n```") == "> **Note**\n>\n> See `x`.\n>\n> And y."


def test_prediction_with_its_answer() -> None:
    text = "````{predict}\nWhat?\n\n```{answer} Show the rule\nThis.\n```\n````"
    assert (
        plain(text)
        == "**Predict.**\n\nWhat?\n\n\n<details><summary>Show the rule</summary>\n\nThis.\n\n</details>"
    )


def test_colon_fences() -> None:
    assert plain(":::{admonition} A *title*\n:class: tip\nBody.\n:::") == "> **A *title***\n>\n> Body."


def test_diagram_is_addressed_absolutely() -> None:
    text = "```{diagram} stack\n:alt: the layers\n\nThe *layers*.\n```"
    assert (
        plain(text)
        == f"![the layers]({_project.raw_address('figures/svg/stack.light.svg')})\n\n*The *layers*.*"
    )


def test_links() -> None:
    cover = _project.colab_address("book/index.ipynb")
    assert plain("[start](index), [`part`](part1_why.md#x)") == (
        f"[start]({cover}), [`part`]({_project.REPOSITORY}/blob/{_project.TAG}/book/part1_why.md)"
    )
    assert (
        plain("[the web](https://example.org) and [step 9](#rx-a:step=9)")
        == "[the web](https://example.org) and step 9"
    )


def test_link_over_the_end_of_a_line() -> None:
    assert (
        plain("[the\ncover](index) and `x`")
        == f"[the\ncover]({_project.colab_address('book/index.ipynb')}) and `x`"
    )


def test_code_is_left_alone() -> None:
    text = "`[a](nowhere)` and `{0}` or `{x}` then\n```python\nx = [a](b)\n```"
    assert plain(text) == text


def test_unknown_directive_is_refused() -> None:
    with pytest.raises(
        MarkupError,
        match=r"book/page.md: the directive \{tab-set\} has no plain equivalent; see CONTRIBUTING",
    ):
        plain("```{tab-set}\n```")


def test_unknown_role_is_refused() -> None:
    with pytest.raises(MarkupError, match=r"the role \{term\} has no plain equivalent"):
        plain("A {term}`thing`.")


def test_unclosed_block_is_refused() -> None:
    with pytest.raises(MarkupError, match=r"the block that `````\{note\}` opens is not closed"):
        plain("````{note}\nx\n```")


def test_link_to_nowhere_is_refused() -> None:
    with pytest.raises(MarkupError, match="the link to ch77_missing leads to no page"):
        plain("[x](ch77_missing)")
