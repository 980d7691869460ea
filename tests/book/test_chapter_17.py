"""Chapter 17: its cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import re

import numpy as np

from figures.layout_lanes import STAGES, used
from tests.book.chapters import BOOK, names, output, pipeline, shown, source, table

PAGE = "ch17_layouts"


def rows(start: str) -> dict[str, list[float]]:
    return table(PAGE, start)


def test_it_shows_nothing_but_explorers() -> None:
    assert shown(PAGE) == ["ch17-layout", "ch17-blocks"]


def test_stages_that_it_links_to_are_those_that_it_names() -> None:
    words = {"folding": "FoldConstant", "blocks": "AlterOpLayout"}
    links = re.findall(r"\[`?([\w ]+)`?\]\(#rx-([\w-]+):stage=(\d+)\)", source(PAGE).replace("\n", " "))
    assert len(links) == 3
    for word, name, stage in links:
        assert pipeline(PAGE, name).stages[int(stage)].name == words.get(word, word)


# -- the problem, the idea


def test_cache_lines_of_sixteen_pixels_are_equal_and_pages_are_not() -> None:
    counted = re.findall(r"(\w+) +(\d+) +(\d+) +(\d+)", output(PAGE, "import numpy"))
    assert counted == [
        ("NCHW", "1", "64", "64"),
        ("NHWC", "1", "4", "1"),
        ("NCHW", "16", "64", "64"),
        ("NHWC", "16", "64", "1"),
    ]


def test_lanes_of_the_drawing_are_those_of_the_prediction() -> None:
    assert [used(pixels) for pixels, _ in STAGES] == [8, 12, 14, 7]
    assert all(channels % 16 == 0 for _, channels in STAGES)
    shares = [line.split() for line in output(PAGE, 'print("pixels "').splitlines()[1:]]
    assert shares == [
        ["56", "87.5%", "100.0%", "100.0%"],
        ["28", "87.5%", "87.5%", "100.0%"],
        ["14", "87.5%", "87.5%", "87.5%"],
        ["7", "43.8%", "87.5%", "87.5%"],
    ]


# -- watch it


def calls(explorer: str, stage: int) -> list[str]:
    """Return the operators that the program of a stage calls."""
    return [item.label for item in pipeline(PAGE, explorer).items if item.stage == stage]


def transforms(explorer: str, stage: int) -> int:
    return calls(explorer, stage).count("layout_transform")


def test_five_transforms_of_which_two_are_left() -> None:
    names(PAGE)
    for explorer in ("ch17-layout", "ch17-blocks"):
        assert (transforms(explorer, 2), transforms(explorer, 3)) == (5, 2)


# -- build it


def test_a_tensor_is_laid_out_as_the_operator_does_it() -> None:
    printed = output(PAGE, "import re\n\ndef laid_out")
    assert printed.count("True") == 3
    assert "NHWC    0 4 8 12 1 5" in printed


def test_transforms_of_resnet() -> None:
    table = rows("def post_order")
    assert list(table.values()) == [[60, 40], [65, 5], [62, 2]]


def test_those_that_ours_leaves_surround_the_pooling() -> None:
    printed = output(PAGE, "ours = T.InferType()").splitlines()
    around = [line for line in printed if "pool" in line and "max" in line]
    assert len(around) == 3


def test_our_converter_keeps_the_meaning() -> None:
    """On a small network, whose values are compared."""
    page = names(PAGE)
    before, after = page["block"], page["convert"](True)(page["T"].InferType()(page["block"]))
    given = np.cos(np.arange(16 * 28 * 28)).reshape(1, 16, 28, 28).astype("float32")
    assert page["count"](after, "layout_transform") > 0
    old, new = (page["relay"].create_executor(mod=m).evaluate()(given).numpy() for m in (before, after))
    np.testing.assert_allclose(new, old, rtol=1e-5, atol=1e-5)


# -- predict, then run


def test_strides_of_the_layouts() -> None:
    table = {name.split(":")[1]: numbers for name, numbers in rows("element = np.dtype").items()}
    assert table == {"NCHW": [3136, 56, 1], "NHWC": [1, 3584, 64], "NCHW16c": [1, 896, 16]}
    assert 56 * 56 * 16 == 50_176


def test_an_element_lies_where_its_strides_say() -> None:
    rows = dict(line.split() for line in output(PAGE, "numbered = ").splitlines())
    assert rows == {"NCHW": "59697", "NHWC": "7251", "NCHW16c": "51987"}


def test_answers() -> None:
    printed = output(PAGE, "def transforms(body)").splitlines()
    assert [line.split()[0] for line in printed] == ["2", "4", "2", "3", "1"]
    for line in printed:
        assert line.split(maxsplit=1)[1] + "\n" in source(PAGE)


# -- where it breaks, the exercise


def test_one_layer_pays_for_two_boundaries() -> None:
    kernels = re.findall(r"(\d+) kernels, ([\d,]+) bytes", output(PAGE, "from relay_explorer.analysis.cost"))
    assert [int(count) for count, _ in kernels] == [1, 3]
    before, after = (int(size.replace(",", "")) for _, size in kernels)
    assert after > 2 * before


def test_three_channels_are_not_blocked() -> None:
    assert output(PAGE, "blocked = T.InferType()") == "NCHW 1\nNCHW16c 19\n"


def test_layouts_make_networks_more_than_twice_as_fast() -> None:
    table = (BOOK.parent / "benchmarks" / "layers_of_passes.md").read_text("utf-8")
    folded, layouts = re.findall(r"([\d.]+)×", table[table.index("geometric mean") :])[1:3]
    assert float(layouts) / float(folded) > 2.1


def test_the_solution_leaves_two_transforms() -> None:
    page = dict(names(PAGE))
    pattern = r"````\{answer\} Show a solution\n```\{code-block\} python\n(.*?)^```$"
    solution = re.search(pattern, source(PAGE), re.DOTALL | re.MULTILINE)
    assert solution is not None
    exec(compile(solution[1], PAGE, "exec", dont_inherit=True), page)

    def step(function: object, mod: object, ctx: object) -> object:
        return page["WithPoolings"](True).visit(function)

    follow = page["T"].function_pass(opt_level=0, name="WithPoolings")(step)
    after = page["T"].FoldConstant()(follow(page["resnet"]))
    assert page["count"](after, "layout_transform") == 2
