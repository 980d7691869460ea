"""The collector runs less often while passes work, and is left as it was found."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from relay_explorer import relay
from relay_explorer.ir.garbage import collected_rarely
from relay_explorer.ir.module import IRModule


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[tuple[int, int, int]]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 7)
    yield before
    gc.set_threshold(*before)


def test_it_is_set_and_set_back_once_whatever_happens_within() -> None:
    def work() -> None:
        with collected_rarely():
            assert gc.get_threshold() == (100_000, 10, 7)
            with collected_rarely():
                pass
            assert gc.get_threshold() == (100_000, 10, 7)
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert gc.get_threshold() == (700, 10, 7)


@pytest.mark.parametrize("own", [0, 500_000])
def test_who_has_set_it_otherwise_keeps_it(own: int) -> None:
    gc.set_threshold(own, 10, 7)
    with collected_rarely():
        assert gc.get_threshold() == (own, 10, 7)
    assert gc.get_threshold() == (own, 10, 7)


def test_what_is_set_within_stays() -> None:
    with collected_rarely():
        gc.set_threshold(0)
    assert gc.get_threshold()[0] == 0


def test_passes_run_so() -> None:
    observed = []

    @relay.transform.module_pass(opt_level=0)
    def look(mod: IRModule, ctx: object) -> IRModule:
        observed.append(gc.get_threshold()[0])
        return mod

    look(IRModule())
    assert observed == [100_000]
    assert gc.get_threshold() == (700, 10, 7)
