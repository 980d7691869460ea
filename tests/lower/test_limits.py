"""What a machine can do at most."""

from __future__ import annotations

import pytest

from relay_explorer.ir.errors import RelayError
from relay_explorer.lower.profiling.peak import Limits, limits
from relay_explorer.lower.targets.target import Target


def test_the_longer_of_two_times_is_the_limit() -> None:
    most = Limits(flops=100e9, bandwidth=20e9, threads=2)
    assert most.ridge == 5
    assert most.seconds(flops=200e9, traffic=1e9) == 2
    assert most.seconds(flops=1e9, traffic=40e9) == 2
    assert most.seconds(flops=most.ridge * 1e9, traffic=1e9) == pytest.approx(0.05)
    assert str(most) == "100 GFLOP/s and 20.0 GB/s on 2 threads"
    assert str(Limits(248.4e9, 40e9, 1)) == "248 GFLOP/s and 40.0 GB/s on 1 thread"


def test_this_machine_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one thread: where the others' cores are busy, each run of several waits for them."""
    monkeypatch.setattr("relay_explorer.lower.profiling.peak.threads", lambda: 1)
    limits.cache_clear()
    most = limits(Target.of("cpu"))
    # A multiply-add of a vector is two operations for each four bytes of it: arithmetic in registers is far
    # ahead of reading from memory on every processor that there is.
    assert most.ridge > 1
    assert limits(Target.of("cpu")) is most
    limits.cache_clear()


@pytest.mark.parametrize("target", ["cuda", "raspberry-pi-4"])
def test_another_machine_cannot_be_measured(target: str) -> None:
    options = {"kind": "cuda", "arch": "sm_80"} if target == "cuda" else target
    with pytest.raises(RelayError, match="cannot be measured on this machine"):
        limits(Target.of(options))
