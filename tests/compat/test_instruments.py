"""What looks on while passes run."""

from __future__ import annotations

import re
import warnings

import pytest
from relay_explorer.compat.tvm.ir import instrument

from relay_explorer.compat import tvm
from relay_explorer.compat.tvm import relay

MODULE = relay.parse("def @main(%x: int32) { %x + 1 }")


def test_a_class_with_some_of_the_methods_is_an_instrument() -> None:
    observed: list[str] = []

    @instrument.pass_instrument
    class Watch:
        """Notes the names of passes."""

        def run_before_pass(self, mod: relay.IRModule, info: object) -> None:
            observed.append(info.name)  # type: ignore[attr-defined]

        def exit_pass_ctx(self) -> None:
            observed.append("end")

    with tvm.transform.PassContext(instruments=[Watch()]):
        relay.transform.InferType()(MODULE)
    assert observed == ["InferType", "end"]
    assert isinstance(Watch(), instrument.PassInstrument)


def test_an_instrument_may_forbid_a_pass() -> None:
    class Never(instrument.PassInstrument):
        def should_run(self, mod: relay.IRModule, info: object) -> bool:
            return False

    with tvm.transform.PassContext(instruments=[Never()]):
        assert relay.transform.InferType()(MODULE) is MODULE


def test_times_are_rendered_with_pipelines_above_their_passes() -> None:
    timing = instrument.PassTimingInstrument()
    infer = relay.transform.InferType()
    with tvm.transform.PassContext(instruments=[timing]):
        tvm.transform.Sequential([infer, infer], name="twice")(MODULE)
        lines = timing.render().splitlines()
    assert [re.sub(r"\d+", "N", line) for line in lines] == [
        "twice: N us", "  InferType: N us", "  InferType: N us",
    ]  # fmt: skip


def test_printing(capsys: pytest.CaptureFixture[str]) -> None:
    named = instrument.PassPrintingInstrument(["InferType"], ["another"])
    with tvm.transform.PassContext(instruments=[named, instrument.PrintAfterAll()]):
        relay.transform.InferType()(MODULE)
    printed = capsys.readouterr().out
    assert re.findall(r"^(\w+) InferType:$", printed, re.MULTILINE) == ["Before", "After"]
    with tvm.transform.PassContext(instruments=[instrument.PrintBeforeAll()]):
        relay.transform.InferType()(MODULE)
    assert "def @main(%x: int32)" in capsys.readouterr().out


class Watch(instrument.PassInstrument):
    """Notes what it is told; raises where it is asked to."""

    def __init__(self, name: str, observed: list[str], broken: str = "") -> None:
        self.name, self.seen, self.broken = name, observed, broken

    def _told(self, what: str) -> None:
        self.seen.append(f"{self.name} {what}")
        if what == self.broken:
            raise RuntimeError("broken")

    def enter_pass_ctx(self) -> None:
        self._told("enters")

    def exit_pass_ctx(self) -> None:
        self._told("leaves")


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        ("enters", ["a enters", "b enters", "a leaves"]),
        ("leaves", ["a enters", "b enters", "c enters", "a leaves", "b leaves"]),
    ],
)
def test_an_instrument_that_raises_ends_the_context(broken: str, expected: list[str]) -> None:
    observed: list[str] = []
    context = tvm.transform.PassContext(
        instruments=[Watch("a", observed), Watch("b", observed, broken), Watch("c", observed)]
    )
    with pytest.raises(RuntimeError, match="broken"), context:
        pass
    assert observed == expected
    assert tvm.transform.PassContext.current() is not context
    assert not context.instruments


def test_instruments_can_be_exchanged_also_without_a_context() -> None:
    observed: list[str] = []
    context = tvm.transform.PassContext.current()
    context.override_instruments([Watch("a", observed)])
    assert tvm.transform.PassContext.current() is context
    context.override_instruments([Watch("b", observed)])
    context.override_instruments(None)
    assert observed == ["a enters", "a leaves", "b enters", "b leaves"]
    with pytest.raises(RuntimeError, match="broken"):
        context.override_instruments([Watch("a", observed, "enters")])
    assert not tvm.transform.PassContext.current().instruments


def test_what_was_measured_is_gone_with_the_context() -> None:
    timing = instrument.PassTimingInstrument()
    with tvm.transform.PassContext(instruments=[timing]):
        relay.transform.InferType()(MODULE)
        assert "InferType" in timing.render()
    assert timing.render() == ""


def test_building_runs_a_pass_that_instruments_see() -> None:
    timing = instrument.PassTimingInstrument()
    with tvm.transform.PassContext(instruments=[timing]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        relay.build(MODULE, "llvm")
        assert "InferType" in timing.render()


def test_the_options_of_a_context_are_listed() -> None:
    assert tvm.transform.PassContext.list_configs()["relay.FuseOps.max_depth"] == {"type": "IntImm"}
