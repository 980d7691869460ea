"""Measured runs: made, kept, and shown under the machine's limits."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from inline_snapshot import snapshot

from relay_explorer import build, explore
from relay_explorer.cli import main
from relay_explorer.ir.errors import RelayError
from relay_explorer.lower.profiling.measurement import Measurement, measure, stored
from relay_explorer.text import parse
from relay_explorer.views import picture
from relay_explorer.views.run.format import RunView
from relay_explorer.views.run.sentences import duration, percent
from relay_explorer.views.run.view import run_view
from tests.support.views.check import check
from tests.views.lowerings import DATA
from tests.views.measurements import measurement, sample

LOOP = """
def @loop(%i: int32, %x: Tensor[(?, 4), float32]) -> Tensor[(?, 4), float32] {
  if (%i <= 0) { %x } else { @loop(%i - 1, tanh(%x)) }
}
def @main(%n: int32, %x: Tensor[(?, 4), float32]) { @loop(%n, %x) }
"""
SMALL = "def @main(%x: Tensor[(4, 8), float32]) { nn.softmax(transpose(exp(%x))) }"


def test_each_kernel_is_told_with_its_limit_and_how_far_it_is_from_there() -> None:
    shown = run_view(measurement(), kernel=[])
    assert [k.name for k in shown.kernels] == ["fused_conv", "fused_layer", "fused_softmax", "fused_flatten"]
    assert [k.why[0] for k in shown.kernels] == snapshot(
        [
            "58.9 GFLOP/s and 1.82 GB/s: an arithmetic intensity of 32.4 operations per byte. "
            "**Compute** bounds it; it reaches **59%** of that bound (36.5 µs at best).",
            "62.2 GFLOP/s and 6.78 GB/s: an arithmetic intensity of 9.17 operations per byte. "
            "**Compute** bounds it; it reaches **62%** of that bound (10.6 µs at best).",
            "13.3 GFLOP/s and 21.3 GB/s: an arithmetic intensity of 0.625 operations per byte. **Memory "
            "bandwidth** bounds it, and it is **1.1 times** as fast as that bound: its input is still "
            "in the caches, where the previous kernel left it.",
            "It performs no arithmetic, and moves 0.64 GB/s. **Memory** bounds it; it reaches **3.2%** "
            "of that bound (13 ns at best).",
        ]
    )
    assert shown.kernels[0].say[0] == (
        snapshot("**Kernel 1**, {0} · {1} · {2}: **77%** of the time, 62 µs in 2 calls, 31 µs each.")
    )
    assert shown.say == snapshot(
        (
            "A run takes **80.5 µs**: 7 kernel calls of 4 kernels. **77%** of the time is spent in the "
            "slowest of them.",
        )
    )
    assert "and 600 ns pass between them" in shown.why[0]
    assert shown.levels == ()
    assert check(shown.to_dict()) == []


def test_the_sample_of_the_front_end_is_what_python_makes() -> None:
    text = sample()
    assert (DATA / "run_small.json").read_text("utf-8") == text, "python -m tests.views.measurements"
    assert check(json.loads(text)) == []
    ((number, levels),) = json.loads(text)["levels"]
    assert (number, levels["view"], len(levels["operators"])) == (1, "lowering", 3)


def test_damage_is_found() -> None:
    overlapping = json.loads(sample())
    overlapping["launches"][2][1] = 5
    assert "launch 2: begins before the one before it ends" in check(overlapping)
    unruled = json.loads(sample())
    unruled["kernels"][1][2] = 9
    assert check(unruled) == snapshot(["kernels[1].rule: 9 is not an index into 4 rules"])
    nested = json.loads(sample())
    nested["levels"][0][1]["steps"][3][4][0][6] = [7]
    problems = check(nested)
    assert problems
    assert all("levels" in p and "steps[3]" in p for p in problems)


def test_a_run_is_measured_kept_and_shown(tmp_path: Path) -> None:
    exe = build(parse(SMALL), quiet=True)
    result = measure(exe, program="tiny", runs=3)
    assert len(result.launches) == sum(kernel.uses for kernel in exe.kernels)
    assert result.runs == 3
    ends = [launch.start + launch.ns for launch in result.launches]
    assert result.launches[0].start == 0
    assert all(start.start >= end for start, end in zip(result.launches[1:], ends))
    assert result.span == ends[-1]
    assert result.ns > 0
    result.save(tmp_path / "tiny.json")
    assert Measurement.load(tmp_path / "tiny.json").to_dict() == result.to_dict()
    shown = explore(result, kernel=0).view
    assert isinstance(shown, RunView)
    assert [shown.kernels[number].name for number, _ in shown.levels] == [exe.kernels[0].name]
    assert "tiny on " in picture.text(shown) + shown.summary
    assert check(shown.to_dict()) == []
    levels = shown.levels[0][1]
    assert levels.target.endswith(f"({exe.target.dict['mcpu']})")
    assert levels.choice == tuple([(name, str(value)) for name, value in exe.kernels[0].choice.items()])


@pytest.mark.parametrize(
    ("executor", "between"),
    [("vm", "the instructions of the virtual machine"), ("aot", "the program's own C code")],
)
def test_a_run_whose_kernels_depend_on_its_values_is_measured_for_those(executor: str, between: str) -> None:
    exe = build(parse(LOOP), executor=executor, quiet=True)
    x = np.ones((3, 4), "float32")
    result = measure(exe, [5, x], runs=3)
    assert result.executor == executor
    calls = {kernel.name: len(result.calls(number)) for number, kernel in enumerate(result.kernels)}
    assert calls == {"fused_less_equal": 6, "fused_subtract": 5, "fused_tanh": 5}
    shown = run_view(result, kernel=[])
    tanh = next(k for k in shown.kernels if k.name == "fused_tanh")
    assert (tanh.calls, tanh.traffic) == (5, 2 * x.nbytes), "the sizes are those of this run"
    assert f"pass between them, in {between}" in shown.why[0]
    assert check(shown.to_dict()) == []
    assert Measurement.from_dict(result.to_dict()).to_dict() == result.to_dict()
    assert sum(count for _, _, count in exe.profile(2, x, repeat=2).by_kernel()) == 3 + 2 + 2
    several = replace(result, launches=result.launches * 2000)
    with pytest.raises(RelayError, match="the run calls kernels 32,000 times, but a page shows at most"):
        run_view(several)


def test_of_a_branch_the_kernels_that_ran_are_measured() -> None:
    text = "def @main(%x: Tensor[(2), float32], %c: bool) { if (%c) { exp(%x) } else { tanh(tanh(%x)) } }"
    exe = build(parse(text), quiet=True)
    result = measure(exe, [np.ones(2, "float32"), True], runs=1)
    assert result.executor == "graph"
    assert [result.kernels[n.kernel].name for n in result.launches] == ["fused_exp"]
    shown = run_view(result, kernel=[])
    assert re.fullmatch(r"A run takes \*\*.*\*\*: 1 kernel call of one kernel\.", shown.say[0])
    assert "the kernel would take" in shown.why[0]
    assert "between" not in shown.why[0], "there is nothing to pass between"
    assert measure(exe, runs=1).launches != (), "of numbers that are made up"


def test_the_measurements_that_come_with_the_package_are_whole() -> None:
    result = stored("resnet18")
    shown = run_view(result, kernel=[])
    assert check(shown.to_dict()) == []
    assert len(shown.launches) == 25
    assert shown.machine.name == result.machine
    assert sum(k.ns for k in shown.kernels) <= result.span
    with pytest.raises(RelayError, match="there is no measurement of 'lenet' here"):
        stored("lenet")


def test_what_cannot_be_measured_or_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RelayError, match="the run calls no kernel, so there is nothing to measure"):
        build(parse("def @main(%x: Tensor[(2), float32]) { %x }"), quiet=True).measure()
    with pytest.raises(RelayError, match="the interpreter runs this program, so it has no kernels"):
        build(parse(SMALL), executor="interpreter", quiet=True).measure()
    pair = parse("def @main(%p: (Tensor[(2), float32], Tensor[(2), float32])) { exp(%p.0) }")
    with pytest.raises(RelayError, match="pass the arguments to measure with"):
        build(pair, quiet=True).measure()
    with pytest.raises(RelayError, match="the measured run has no kernel 'conv'"):
        run_view(measurement(), "conv")
    with pytest.raises(ValueError, match="several kernels can only be shown as part of a run"):
        explore(parse(SMALL), view="lowering", kernel=[0, 1])
    path = tmp_path / "m.json"
    data = measurement().to_dict()
    for damage, reason in (
        ("{", "it is not JSON"),
        ("[]", 'its "format" is not "relay-explorer-measurement"'),
        (json.dumps({**data, "version": 9}), "its version is 9, not 1"),
        (json.dumps({**data, "limits": {}}), r"a part of it is missing or damaged \(KeyError\('flops'\)\)"),
        (
            json.dumps({**data, "launches": [[9, 0, 1]]}),
            "it has launches of kernels that it does not contain",
        ),
    ):
        path.write_text(damage)
        with pytest.raises(RelayError, match=reason):
            Measurement.load(path)


def test_the_command_shows_kernels_and_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.relay").write_text('#[version = "0.0.5"]\n' + SMALL)
    measurement().save("kept.json")
    options = ["--view", "lowering", "--json", "-o"]
    assert (
        main(["explore", "tiny.relay", "--target", "raspberry-pi-4", "--kernel", "0", *options, "one.out"])
        == 0
    )
    assert json.loads(Path("one.out").read_text("utf-8"))["view"] == "lowering"
    assert main(["explore", "kept.json", "--kernel", "fused_layer", "--json", "-o", "run.out"]) == 0
    assert json.loads(Path("run.out").read_text("utf-8"))["start"] == 1
    capsys.readouterr()
    for wrong, text in (
        (
            ["kept.json", "--view", "types"],
            "a measurement can only be shown in the view `lowering`, not in `types`",
        ),
        (
            ["tiny.relay", "--kernel", "0"],
            "the view `ir` has no option --kernel\nhelp: views that have it: lowering",
        ),
        (["tiny.relay", "--kernel", "7", "--view", "lowering"], "the program has no kernel 7"),
        (
            ["tiny.relay", "--target", "raspberry-pi-4", "--view", "lowering", "--measure"],
            "cannot be measured on this machine",
        ),
        (["tiny.relay", "--target", "toaster", "--view", "lowering"], "there is no target called 'toaster'"),
    ):
        assert main(["explore", *wrong]) == 1
        assert text in capsys.readouterr().err


def test_times_and_shares_are_told_as_one_says_them() -> None:
    assert [duration(ns) for ns in (812, 20_140, 3_500_000, 2e9)] == ["812 ns", "20.1 µs", "3.5 ms", "2 s"]
    assert [percent(part) for part in (0.42, 0.0994, 0.0004)] == ["42%", "9.9%", "less than 0.1%"]


def test_a_live_run_opens_the_kernel_that_is_asked_for() -> None:
    shown = explore(measurement(), kernel=[], live=True)
    assert shown.to_dict()["live"]
    assert "live" not in explore(measurement(), kernel=[]).to_dict()
    answered = shown._answer({"kernel": 2}).to_dict()
    assert [number for number, _ in answered["levels"]] == [2]
    assert check(answered) == []
    assert shown.view.to_dict() == answered
    again = shown._answer({"kernel": 2}).to_dict()
    assert again == answered, "it is made once"
    for wrong in ({"kernel": 9}, {"kernel": True}, {}):
        with pytest.raises(RelayError, match="the run has no kernel"):
            shown._answer(wrong)
