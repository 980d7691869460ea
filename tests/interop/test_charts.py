"""Charts of matplotlib: what their Axes contain, in numbers and words; nothing is compared pixel by pixel."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from relay_explorer import models, relay
from relay_explorer.interop import (
    plot_bars,
    plot_calibration,
    plot_costs,
    plot_memory,
    plot_parts,
    plot_passes,
    plot_profile,
    plot_repeats,
    plot_roofline,
    plot_series,
    plot_speedups,
)
from relay_explorer.interop.palette import PALETTES
from relay_explorer.ir import RelayError
from relay_explorer.lower.profiling.measurement import stored
from relay_explorer.lower.profiling.profile import Profile, StepTime
from relay_explorer.lower.runtime.kernel import Kernel
from relay_explorer.lower.targets.target import Target

SVG = "{http://www.w3.org/2000/svg}"


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
        assert words(ax)[:2] == ["peak: 398 GFLOP/s", "bandwidth: 43 GB/s"]

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

    def test_labels_are_written_beside_the_marks(self) -> None:
        ax = drawn(plot_roofline(stored("resnet18"), kernels={"fused_nn_contrib_dense": "a dense layer"}))
        assert words(ax)[2:] == ["a dense layer"]
        assert ax.get_legend() is None
        (mark,) = [line for line in ax.lines if line.get_marker() == "o"]
        assert mark.get_xydata().tolist() == [list(ax.texts[-1].xy)]


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


SPEEDS = {"one": {"ours": 2.0, "theirs": 0.5}, "two": {"ours": 4.0}}


class TestBars:
    def test_has_a_bar_for_each_number(self) -> None:
        ax = drawn(plot_bars(SPEEDS, unit="×", hues={"theirs": "orange"}))
        assert names(ax) == ["ours", "theirs", "ours"]
        assert [bar.get_width() for bar in boxes(ax)] == [2.0, 0.5, 4.0]
        assert words(ax) == ["one", "two", "2.00×", "0.50×", "4.00×"]
        hues = [to_hex(bar.get_facecolor()) for bar in boxes(ax)]
        light = PALETTES["light"]
        assert hues == [light["hue-blue-fill"], light["hue-orange-fill"], light["hue-blue-fill"]]
        assert ax.figure.description == "Bars. one, ours: 2.00×; one, theirs: 0.50×; two, ours: 4.00×."

    def test_bars_of_what_is_slower_point_the_other_way(self) -> None:
        ax = drawn(plot_bars(SPEEDS, unit="×", scale="log2", start=1))
        assert [(bar.get_x(), bar.get_width()) for bar in boxes(ax)] == [(1, 1), (0.5, 0.5), (1, 3)]
        assert [label.get_text() for label in ax.get_xticklabels()] == ["0.5×", "1×", "2×", "4×"]
        with pytest.raises(RelayError, match="there is no scale 'ln'"):
            plot_bars(SPEEDS, scale="ln")
        with pytest.raises(RelayError, match="a logarithmic scale has no place for zero"):
            plot_bars({"": {"nothing": 0.0}}, scale="log10")

    def test_no_label_leaves_the_figure(self) -> None:
        for scale in ("linear", "log2", "log10"):
            ax = drawn(
                plot_bars({"a": {"short": 1.25, "a name of thirty characters ...": 1234.5}}, scale=scale)
            )
            box = ax.figure.bbox
            for text in [*ax.texts, *ax.get_yticklabels(), *ax.get_xticklabels()]:
                extent = text.get_window_extent()
                assert extent.x0 >= box.x0 - 1, (scale, text)
                assert extent.x1 <= box.x1 + 1, (scale, text)


class TestParts:
    def test_has_parts_and_sums(self) -> None:
        files = {"": {"static": {"library": 700.0, "weights": 50.0}, "dynamic": {"weights": 50.0}}}
        ax = drawn(plot_parts(files, unit=" kB", hues={"library": "grey"}))
        assert [round(bar.get_width(), 4) for bar in boxes(ax)] == [0.9333, 0.0667, 0.0667]
        assert words(ax) == ["700", "750 kB", "50.0 kB"]
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["library", "weights"]

    def test_groups_have_scales_of_their_own_on_request(self) -> None:
        groups = {"a": {"x": {"p": 10.0}, "y": {"p": 5.0}}, "b": {"x": {"p": 1000.0}}}
        ax = drawn(plot_parts(groups, relative=True))
        assert [bar.get_width() for bar in boxes(ax)] == [1.0, 0.5, 1.0]


class TestSpeedups:
    def test_has_a_mark_for_each_program(self) -> None:
        ax = drawn(plot_speedups({"ours": {"net": {"b": 2.0, "a": 0.5}}}, programs=["a", "absent", "b"]))
        marks = {line.get_xdata()[0]: line.get_marker() for line in ax.lines if len(line.get_xdata()) == 1}
        assert marks == {0.5: "o", 2.0: "D"}
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
        assert ax.figure.description.endswith("ours, net: b 2.00, a 0.50.")


class TestSeries:
    def test_has_a_line_for_each_series(self) -> None:
        ax = drawn(plot_series({"1 wide": [(1, 10.0), (2, 20.0)], "2 wide": [(2, 30.0)]}, y="GFLOP/s"))
        assert [list(line.get_ydata()) for line in ax.lines] == [[10, 20], [30]]
        assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2"]
        assert "1 wide: 10.0 at 1, 20.0 at 2" in ax.figure.description

    def test_repeats_show_the_shortest_so_far(self) -> None:
        ax = drawn(plot_repeats([2e-3, 1.1e-3, 5e-3, 1e-3]))
        dots, line = ax.lines
        assert list(dots.get_ydata()) == pytest.approx([1.3, 1.1, 1.3, 1.0])
        assert list(line.get_ydata()) == pytest.approx([1.3, 1.1, 1.0, 1.0])


class TestNotebook:
    """What a notebook shows: SVG with a text alternative, whose colors follow the page."""

    def test_has_a_text_alternative(self) -> None:
        root = ElementTree.fromstring(profile().plot().figure._repr_html_())
        assert root.attrib["role"] == "img"
        assert root.findtext(f"{SVG}title") == "Time of each kernel"
        assert root.findtext(f"{SVG}desc") == "Bars. conv_$x$: 60 µs, 60%; relu ×2: 40 µs, 40%."
        assert "conv_$x$" in [text.text for text in root.iter(f"{SVG}text")]

    def test_every_chart_has_one(self) -> None:
        plan = relay.analysis.plan_memory(relay.transform.InferType()(models.load("lenet"))["main"])
        charts = [
            stored("resnet18").plot(), plan.plot(), plan.plot(what="bytes"), sites()[0].plot(),
            plot_costs(models.load("lenet")), plot_passes(models.load("lenet"), "FuseOps"),
        ]  # fmt: skip
        texts = [ax.figure.description for ax in charts]
        assert [text for text in texts if len(text.split()) < 7] == []
        assert "steps 0 to 1: 18,816 bytes at 0" in texts[1]
        assert texts[3].startswith(
            "A histogram of 128 values from -2.4 to 40. 8 bits from -8 to 8, about 1 value"
        )

    def test_follows_a_dark_page(self) -> None:
        html = profile().plot().figure._repr_html_()
        pair = tuple(PALETTES[theme]["hue-blue-fill"] for theme in ("light", "dark"))
        assert "fill:light-dark({},{})!important".format(*pair) in html
        assert "light-dark" not in profile().plot(theme="dark").figure._repr_html_()

    def test_two_charts_do_not_share_identifiers_or_rules(self) -> None:
        one, other = (plot.figure._repr_html_() for plot in (profile().plot(), stored("resnet18").plot()))
        first, second = (set(re.findall(r'\sid="([^"]+)"', html)) for html in (one, other))
        assert first
        assert second
        assert not first & second
        for html in (one, other):
            rules = re.findall(
                r"(?:>|\})([^{}<>]+)\{", "".join(re.findall("<style.*?</style>", html, re.DOTALL))
            )
            assert all(part.startswith(".rx-") for rule in rules for part in rule.split(","))


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
