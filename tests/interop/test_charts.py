"""Charts of matplotlib: what their Axes contain, in numbers and words; nothing is compared pixel by pixel."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from relay_explorer import models, relay
from relay_explorer.interop import (
    plot_calibration,
    plot_costs,
    plot_memory,
    plot_passes,
    plot_profile,
    plot_roofline,
)
from relay_explorer.interop.palette import PALETTES
from relay_explorer.ir import RelayError
from relay_explorer.lower.profiling.measurement import stored
from relay_explorer.lower.profiling.profile import Profile, StepTime
from relay_explorer.lower.runtime.kernel import Kernel
from relay_explorer.lower.targets.target import Target


@pytest.fixture(autouse=True)
def _figures() -> Iterator[None]:
    with mpl.rc_context({"backend": "agg"}):
        yield
    pyplot.close("all")


def drawn(ax: Any) -> Any:
    """Draw an Axes, so that everything in it is laid out."""
    assert isinstance(ax, Axes)
    ax.figure.canvas.draw()
    return ax


def words(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


def boxes(ax: Any) -> list[Rectangle]:
    return [patch for patch in ax.patches if isinstance(patch, Rectangle)]


def names(ax: Any) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def profile() -> Profile:
    """Return a profile of two kernels, one of them called twice."""
    target = Target.of("llvm")
    conv, relu = (Kernel(name, name, "", target, {"rule": "blocked"}) for name in ("conv_$x$", "relu"))
    steps = (StepTime(relu, 1e-5, 10, 80), StepTime(conv, 6e-5, 1000, 80), StepTime(relu, 3e-5, 10, 80))
    return Profile(steps, 1.2e-4)


class TestProfile:
    def test_has_a_bar_for_each_kernel_the_slowest_first(self) -> None:
        ax = drawn(profile().plot())
        assert names(ax) == ["conv_$x$", "relu ×2"]
        assert [round(bar.get_width(), 6) for bar in boxes(ax)] == [60, 40]
        assert words(ax) == ["60 µs, 60%", "40 µs, 40%"]
        assert ax.get_xlabel() == "µs in a run of 0.12 ms"
        assert ax.get_title("left") == "Time of each kernel"

    def test_joins_the_others(self) -> None:
        ax = drawn(plot_profile(profile(), most=1))
        assert names(ax) == ["conv_$x$", "1 other kernel"]
        with pytest.raises(RelayError, match="at least one bar, not 0"):
            plot_profile(profile(), most=0)


class TestRoofline:
    def test_has_a_mark_for_each_kernel_that_computes(self) -> None:
        run = stored("resnet18")
        ax = drawn(run.plot())
        ran = {launch.kernel for launch in run.launches}
        points = [p for marks in ax.collections for p in np.asarray(marks.get_offsets())]
        assert len(points) == sum(bool(kernel.flops) for n, kernel in enumerate(run.kernels) if n in ran)
        assert {text.get_text() for text in ax.get_legend().get_texts()} == {
            kernel.rule for n, kernel in enumerate(run.kernels) if n in ran and kernel.flops
        }
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        assert "1,000" in names(ax) or "100" in names(ax)
        assert ax.get_ylabel() == "GFLOP/s"
        assert words(ax)[:2] == ["398 GFLOP/s", "43 GB/s"]

    def test_the_roof_is_that_of_the_machine(self) -> None:
        run = stored("resnet18")
        ax = drawn(plot_roofline(run, kernels=["fused_nn_contrib_dense"]))
        roof, ridge = ax.lines
        xs, ys = roof.get_data()
        assert np.allclose(ys, [min(run.limits.flops, run.limits.bandwidth * x) / 1e9 for x in xs])
        assert ridge.get_xdata()[0] == pytest.approx(run.limits.ridge)
        assert sum(len(marks.get_offsets()) for marks in ax.collections) == 1
        with pytest.raises(RelayError, match="no kernel of this run"):
            plot_roofline(run, kernels=["nothing"])


class TestMemory:
    def test_addresses_over_time(self) -> None:
        plan = relay.analysis.plan_memory(relay.transform.InferType()(models.load("lenet"))["main"])
        ax = drawn(plan.plot())
        placed = [place for place in plan.places if place.offset >= 0]
        assert len(boxes(ax)) == len(placed)
        first = boxes(ax)[0]
        assert first.get_y() * 1000 == pytest.approx(placed[0].offset)
        assert first.get_height() * 1000 == pytest.approx(placed[0].size)
        assert ax.get_ylim()[1] == 0, "address 0 is at the top"
        assert ax.get_ylabel() == "address in the arena, kB"
        assert ax.get_title("left") == f"An arena of {plan.arena:,} bytes"

    def test_bytes_over_time(self) -> None:
        plan = relay.analysis.plan_memory(relay.transform.InferType()(models.load("lenet"))["main"])
        ax = drawn(plot_memory(plan, what="bytes"))
        (stairs,) = ax.patches
        assert [round(v * 1000) for v in stairs.get_data().values] == list(plan.live)
        assert words(ax) == [f"arena: {plan.arena:,} bytes"]
        with pytest.raises(RelayError, match="there is no chart 'time'"):
            plan.plot(what="time")


@cache
def sites() -> Any:
    """Return the sites of a dense layer that was calibrated with one outlier."""
    x, w = relay.var("x", shape=(8, 16)), relay.var("w", shape=(4, 16))
    module = relay.IRModule.from_expr(relay.Function([x, w], relay.nn.relu(relay.nn.dense(x, w))))
    rng = np.random.default_rng(0)
    weights = {"w": rng.normal(size=(4, 16)).astype("float32")}
    inputs = rng.normal(size=(8, 16)).astype("float32")
    inputs[0, 0] = 40
    with relay.quantize.qconfig(skip_dense_layer=False):
        return relay.quantize.trace(module, None, weights, [{"x": inputs}]).sites


class TestCalibration:
    def test_counts_every_value(self) -> None:
        site = sites()[0]
        ax = drawn(site.plot())
        assert sum(bar.get_height() for bar in boxes(ax)) == site.statistics.count == 128
        assert ax.get_yscale() == "log"
        assert ax.get_ylabel() == "occurrences, of 128"
        low, high = (line.get_xdata()[0] for line in ax.lines)
        assert (low, high) == (site.parameters.low, site.parameters.high)
        assert words(ax)[0].startswith("8 bits from ")

    def test_needs_values(self) -> None:
        with pytest.raises(RelayError, match="calibration saw no values at operand 0 of"):
            plot_calibration(replace(sites()[0], statistics=None))


class TestCosts:
    def test_of_operators(self) -> None:
        ax = drawn(plot_costs(models.load("lenet")))
        assert names(ax)[0] == "nn.conv2d"
        typed = relay.transform.InferType()(models.load("lenet"))
        total = relay.analysis.total_cost(typed)
        assert sum(bar.get_width() for bar in boxes(ax)) * 1e3 == pytest.approx(total.flops)
        moved = drawn(plot_costs(models.load("lenet"), by="bytes"))
        assert sum(bar.get_width() for bar in boxes(moved)) * 1e3 == pytest.approx(total.bytes)
        assert moved.get_title("left") == "Bytes read and written of each operator"
        with pytest.raises(RelayError, match="there is no cost 'time'"):
            plot_costs(models.load("lenet"), by="time")

    def test_of_passes(self) -> None:
        module = models.load("lenet")
        ax = drawn(plot_passes(module, "SimplifyInference, FuseOps(max_depth=4)", what="kernels"))
        assert names(ax) == ["before", "SimplifyInference", "FuseOps(max_depth=4)"]
        assert [bar.get_width() for bar in boxes(ax)][::2] == [18, 9]
        before, after = (bar.get_width() for bar in boxes(drawn(plot_passes(module, "FuseOps"))))
        assert after < before
        spent = drawn(plot_passes(module, [relay.transform.FuseOps()], what="time"))
        assert names(spent) == ["FuseOps"]
        with pytest.raises(RelayError, match="there are time, flops, bytes, kernels, expressions"):
            plot_passes(module, "FuseOps", what="joules")


def test_draws_into_the_axes_of_the_caller() -> None:
    figure, (left, right) = pyplot.subplots(1, 2)
    plan = relay.analysis.plan_memory(relay.transform.InferType()(models.load("mlp"))["main"])
    assert plan.plot(left) is left
    assert profile().plot(ax=right) is right
    assert len(figure.axes) == 2


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_has_the_colors_of_the_theme(theme: str) -> None:
    ax = drawn(plot_profile(profile(), theme=theme))
    assert to_hex(ax.figure.get_facecolor()) == PALETTES[theme]["paper"]
    assert {to_hex(bar.get_facecolor()) for bar in boxes(ax)} == {PALETTES[theme]["hue-blue-fill"]}
    with pytest.raises(RelayError, match="there is no theme 'pink'"):
        plot_profile(profile(), theme="pink")


def test_changes_no_settings() -> None:
    before = dict(mpl.rcParams)
    plot_profile(profile())
    assert dict(mpl.rcParams) == before


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    load = importlib.import_module

    def absent(name: str, package: str | None = None) -> Any:
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")
        return load(name, package)

    monkeypatch.setattr("relay_explorer.interop.require.importlib.import_module", absent)
    with pytest.raises(ImportError, match=r'this needs matplotlib: pip install "relay_explorer\[plot\]'):
        profile().plot()
