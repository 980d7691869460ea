"""What looks on while passes run."""

from __future__ import annotations

import re

import pytest
from relay_explorer.compat.tvm.ir import instrument

from relay_explorer.compat import tvm
from relay_explorer.compat.tvm import relay

MODULE = relay.parse("def @main(%x: int32) { %x + 1 }")


def test_a_class_with_some_of_the_methods_is_an_instrument() -> None:
    seen: list[str] = []

    @instrument.pass_instrument
    class Watch:
        """Notes the names of passes."""

        def run_before_pass(self, mod: relay.IRModule, info: object) -> None:
            seen.append(info.name)  # type: ignore[attr-defined]

        def exit_pass_ctx(self) -> None:
            seen.append("end")

    with tvm.transform.PassContext(instruments=[Watch()]):
        relay.transform.InferType()(MODULE)
    assert seen == ["InferType", "end"]
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
