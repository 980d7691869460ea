"""Chapter 8: its cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import re

import numpy as np

from relay_explorer import relay
from relay_explorer.ir.equal import structural_equal
from relay_explorer.ir.narrow import as_a
from tests.book.chapters import cells, executed, explorers, names, output, pictures

PAGE = "ch08_rewriting"


def test_explorers() -> None:
    assert list(explorers(PAGE)) == ["ch08-before", "ch08-after"]
    operations = [
        as_a(re.Match, re.search(r"[\d.]+ billion floating", repr(e)))[0] for e in explorers(PAGE).values()
    ]
    assert operations[0] == operations[1]


def test_the_copy_has_eight() -> None:
    before, after = output(PAGE, "from relay_explorer import relay").split("\n}\n")[:2]
    assert (before.count("exp("), after.count("exp(")) == (1, 8)


def test_how_long_the_walks_would_take() -> None:
    text = dict(
        re.findall(r"^(\w+) .* ([\d,]+) visits$", output(PAGE, "from relay_explorer import models"), re.M)
    )
    years = {name: int(visits.replace(",", "")) / 1e6 / (365 * 24 * 3600) for name, visits in text.items()}
    assert 5 < years["transformer"] < 6
    assert 3.5e9 < years["lstm"] < 5e9


def test_mobilenet_in_blocks() -> None:
    page = names(PAGE)
    calls = [e for e in page["matches"](page["wildcard"]()(None), page["blocks"]) if hasattr(e.op, "params")]
    assert len(calls) == 27
    assert all(len(call.args) == 6 for call in calls)
    first = [arg.name_hint for arg in calls[0].args]
    assert first[:2] == ["data", "stem_conv_weight"]
    same, outside = output(PAGE, "def operators").splitlines()
    assert same.endswith("True")
    assert outside.split()[1:] == [
        "nn.global_avg_pool2d", "nn.batch_flatten", "nn.dense", "nn.bias_add", "nn.softmax",
    ]  # fmt: skip


def test_the_mutator_keeps_what_has_no_sigmoid() -> None:
    printed = output(PAGE, "import numpy as np")
    assert printed.count("a new one") == printed.count("the same object") == 2
    moods = [np.array(re.findall(r"0\.\d+", line), "float64") for line in printed.splitlines()[-2:]]
    assert 0.0001 <= np.abs(moods[0] - moods[1]).max() < 0.001
    assert "clip comes from sigmoid at tree_lstm.relay:" in output(PAGE, "def show_origin")


def test_the_learners_mutator_gives_what_the_packages_gives() -> None:
    page = names(PAGE)
    assert relay.transform.InferType()(page["bridge"].to_relay(page["ours"]))
    assert structural_equal(page["bridge"].to_relay(page["ours"]), page["cheap"])


def test_memo() -> None:
    assert output(PAGE, 'for name in ("resnet50"').split() == [
        "resnet50", "True", "transformer", "True", "lstm", "True",
    ]  # fmt: skip


def test_patterns() -> None:
    assert output(PAGE, "def matches").splitlines() == [
        "27 blocks of 27 convolutions", "5 of them halve the image",
    ]  # fmt: skip
    assert "'nn.dense': 32" in output(PAGE, "from relay_explorer.dataflow_pattern import DFPatternCallback")
    assert output(PAGE, "values = [").strip() == "(1, 128) True"
    assert output(PAGE, "def dense_kernel").startswith("14 moved and 13 left\n")
    assert (
        output(PAGE, "from relay_explorer.dataflow_pattern import dominates").strip() == "[True, True, False]"
    )


def test_answers() -> None:
    copies = output(PAGE, "y = relay.exp").splitlines()
    assert copies == ["copy: 4096", "HardSigmoid: 1 and the same object: True"]
    assert output(PAGE, 'x = relay.var("x")\ne =').split() == ["True", "False", "True"]
    assert output(PAGE, "picture = ").strip() == "True True"
    assert output(PAGE, "class OneRelu").strip().endswith("nn.relu(%x)")
    assert "does not terminate" in output(PAGE, "a, b = wildcard()")
    assert output(PAGE, "plain = ").strip() == "[1, 0]"


def test_the_exception_costs_a_convolution() -> None:
    before, after = output(PAGE, "product = conv").splitlines()
    assert "'nn.conv2d': 1" in before
    assert "'nn.conv2d': 2" in after


def test_zero_times_infinity() -> None:
    first, second = output(PAGE, "zero = ").splitlines()
    assert first.count("nan") == 2
    assert second == "[0. 0. 0.]"


def test_what_its_cells_show() -> None:
    shown = [value for value in executed(PAGE)[2] if value is not None]
    assert {type(value).__name__ for value in shown} == {"Explorer", "Digraph", "bool"}
    assert len(cells(PAGE)) == len(executed(PAGE)[1])


def test_the_vendors_recommendations_are_met() -> None:
    """The rewritten models contain no sigmoid and are well typed."""
    page = names(PAGE)
    assert not any("sigmoid" in page["operators"](f) for f in page["cheap"].functions.values())
    relay.transform.InferType()(page["after"])
    relay.transform.InferType()(page["cheap"])


def test_layers_that_the_pattern_of_a_dense_layer_matches() -> None:
    assert output(PAGE, "product = is_op").splitlines() == ["5 expressions", "3 functions"]


def test_the_drawing_shows_the_stages() -> None:
    ((title, words),) = pictures(PAGE)
    assert title == "The data flow: 12 nodes, 1 frame"
    assert "from stage1 to stage2; from stage2 to stage3; from stage3 to stage4" in words


def test_where_the_network_can_be_split() -> None:
    assert output(PAGE, "import networkx as nx").splitlines() == [
        "42 of 498 expressions; the first small one is %197 = add,",
        "401,408 bytes instead of 602,112, after 89% of the operations",
    ]
    sent, counts = output(PAGE, "server = from_networkx").splitlines()
    assert sent == "Tensor[(1, 2048, 7, 7), float32]"
    assert "'nn.conv2d': 6" in counts
    page = names(PAGE)
    blocks = [n for n in page["splits"] if page["flow"].nodes[n].get("op") == "nn.conv2d"]
    assert len(blocks) == 1, "the text says that no split lies inside a block"
