"""The machine explorer of programs that were built: with compiled kernels, loaded, for the graph executor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from relay_explorer import build, explore, load
from relay_explorer.ir import RelayError
from relay_explorer.text import parse
from tests.support.views.check import check
from tests.views.machines import CELLS

ADDED = "def @main(%x: Tensor[(8), float32]) { %0 = tanh(%x); add(%0, %x) }"
ONES = np.ones(8, "float32")


def test_a_program_for_the_virtual_machine_and_loaded_again(tmp_path: Path) -> None:
    result = build(parse(CELLS), executor="vm", quiet=True)
    shown = explore(result, view="machine", args=(4,))
    assert shown.view.summary.startswith("@main returns (10, ref(…)): ")
    assert check(shown.to_dict()) == []
    assert any("@count" in text for text in shown.view.instructions().values())  # type: ignore[attr-defined]
    assert result(4)[0] == 10  # it runs as before

    result.save(tmp_path / "cells.rx")
    loaded = explore(load(tmp_path / "cells.rx"), view="machine", args=(4,))
    assert loaded.view.summary == shown.view.summary
    assert loaded.view.rows == ()
    assert check(loaded.to_dict()) == []


def test_a_program_for_the_graph_executor(tmp_path: Path) -> None:
    result = build(parse(ADDED), executor="graph", quiet=True)
    shown = explore(result, view="machine", args=(ONES,))
    assert shown.to_dict()["plan"]["view"] == "memory"
    assert check(shown.to_dict()) == []
    result.save(tmp_path / "added.rx")
    with pytest.raises(RelayError, match="has no bytecode"):
        explore(load(tmp_path / "added.rx"), view="machine", args=(ONES,))


def test_wrong_arguments_are_refused_as_in_a_run() -> None:
    result = build(parse(CELLS), executor="vm", quiet=True)
    with pytest.raises(RelayError, match="expects 1 argument, got 0"):
        explore(result, view="machine")
