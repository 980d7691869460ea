"""Chapter 33: its cells run, its data are those of the benchmarks, and what the text says follows from them
with a margin.
"""

from __future__ import annotations

import json
import re

import pytest

from benchmarks import evaluation
from tests.book.chapters import names, output, shown

PAGE = "ch33_evaluation"
DATA = evaluation.collect()


def test_it_shows_nothing_but_explorers() -> None:
    assert shown(PAGE) == ["ch33-run"]


def test_the_data_are_those_of_the_benchmarks() -> None:
    stored = json.loads(evaluation.DATA.read_text("utf-8"))
    assert stored == DATA, "run `python -m benchmarks.evaluation` and `make figures`"


def test_a_table_is_read_by_threads_network_and_program() -> None:
    text = """<!-- measured -->

One thread, 5 GB/s at most:

| network | ours, ms | rest |
| --- | --- | --- |
| a | 1.5 | – |
| geometric mean |  |  |

2 threads:

| network | ours, ms | rest |
| --- | --- | --- |
| a | 1.0 | 3 |
"""
    columns = {"ours, ms": "ours", "rest": "rest"}
    expected = {"1": {"a": {"ours": 1.5}}, "2": {"a": {"ours": 1.0, "rest": 3.0}}}
    assert evaluation.read_tables(text, columns) == expected
    with pytest.raises(ValueError, match="no column other"):
        evaluation.read_tables(text, {"other": "other"})


def test_fusion_is_faster_where_the_page_runs() -> None:
    assert output(PAGE, "import time") == "fused is faster: True\n"


def test_layouts_are_the_step_that_counts() -> None:
    page = names(PAGE)
    gains = {
        name: page["mean"]([t[step] / t[step + 1] for t in page["seconds"].values()])
        for step, name in enumerate(page["groups"])
    }
    assert gains["+ layouts"] > 2 > 1.2 > max(gain for name, gain in gains.items() if name != "+ layouts")
    assert gains["+ constant folding"] < 1.03  # gains nothing by itself
    fused = {name: t[0] / t[1] for name, t in page["seconds"].items()}
    assert fused["mobilenet"] > 1.1 > 1.06 > max(fused["resnet18"], fused["vgg16"])


def test_few_steps_change_much() -> None:
    lines = output(PAGE, "steps = [").splitlines()
    faster, slower, count = (int(number) for line in lines for number in re.findall(r"\d+", line))
    assert count == 16
    assert 4 < faster < 4 + 6
    assert slower <= 1


def test_vision_networks_are_competitive() -> None:
    """Faster than PyTorch on every network; close to ONNX Runtime, which wins DQN on two threads."""
    for threads, table in DATA["networks"].items():
        for network, times in table.items():
            assert min(times["eager"], times["compile"]) > 1.3 * times["ours"]
            assert 0.7 < times["compile"] / times["eager"] < 1.4  # the compiler changes little
            lost = (network, threads) == ("dqn", "2")
            assert (times["onnx"] < 0.95 * times["ours"]) == lost
        over_onnx = names(PAGE)["mean"]([t["onnx"] / t["ours"] for t in table.values()])
        assert 1 < over_onnx < 1.6
    for table in (*DATA["networks"].values(), *DATA["imported"].values()):
        assert 1.5 < names(PAGE)["mean"]([t["eager"] / t["ours"] for t in table.values()]) < 3
        assert names(PAGE)["mean"]([t["onnx"] / t["ours"] for t in table.values()]) > 1.05


def test_imported_networks_are_competitive() -> None:
    """Faster than PyTorch; close to ONNX Runtime; torch.compile is slow for one network."""
    for table in DATA["imported"].values():
        assert len(table) == 10
        for network, times in table.items():
            assert min(times["eager"], times["compile"]) > times["ours"]
            assert times["onnx"] > 0.95 * times["ours"]
            slow = times["compile"] > 10 * times["eager"]
            assert slow == (network == "EfficientNet-B0")


def test_recurrent_models_are_faster() -> None:
    for times in DATA["recurrent"]["1"].values():
        ours = min(times[key] for key in ("aot", "graph", "vm") if key in times)
        assert all(times[key] > 1.05 * ours for key in evaluation.FRAMEWORKS.values() if key in times)
        assert times["eager"] > 2.5 * ours
    lstm = DATA["recurrent"]["1"]["lstm"]
    assert lstm["onnx"] < 1.4 * lstm["graph"]  # nearly as fast
    assert round(lstm["eager"] / lstm["graph"]) in (7, 8)  # the headline
    trees = DATA["recurrent"]["1"]["tree_lstm"]
    assert trees["compile"] > 1.5 * trees["aot"]


def test_recursion_costs_nothing_ahead_of_time() -> None:
    vm, aot = (float(n) for n in re.findall(r"takes ([\d.]+)", output(PAGE, "executors = ")))
    assert aot < 1.2
    assert vm > 2


def test_nine_programs() -> None:
    lines = output(PAGE, "from relay_explorer import models").splitlines()
    assert len(lines) == 9
    assert [line.endswith("operators only") for line in lines] == [True] * 4 + [False] * 5
    assert all(line.endswith("recursion") for line in lines[4:])


def test_accumulators_decide() -> None:
    """With those of 16 bits all six cases gain; with those of 32 bits three lose."""
    boards = DATA["published"]["quantization"]["milliseconds"].values()
    cases = [times for board in boards for times in board.values()]
    assert len(cases) == 6
    assert all(times["int8/int16"] < times["float32"] for times in cases)
    assert sum(times["int8/int32"] > times["float32"] for times in cases) == 3


def test_the_wrong_shape_is_fourteen_times_the_work() -> None:
    right, wrong = (
        float(n) for n in re.findall(r"([\d.]+) GFLOP", output(PAGE, "from relay_explorer.analysis"))
    )
    assert 13.5 < wrong / right < 14.5
    assert "output (224, 1000)" in output(PAGE, "from relay_explorer.analysis")


def test_the_launch_is_short() -> None:
    assert output(PAGE, "from concurrent").endswith("True\n")


def test_one_program_has_four_speedups() -> None:
    speedups = [float(n) for n in re.findall(r"([\d.]+)×", output(PAGE, 'table = data["networks"]'))]
    assert min(speedups[:3]) > 2
    assert 1.05 < speedups[3] < 1.6
