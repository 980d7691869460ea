"""Programs that are built and run by many threads of one process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from relay_explorer.ir.once import once

SECONDS = os.environ.get("RELAY_EXPLORER_STRESS_SECONDS", "20")


def run_threads(how_long: str, cache: Path) -> list[str]:
    environment = {**os.environ, "RELAY_EXPLORER_CACHE": str(cache), "RELAY_EXPLORER_QUIET": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.lower.threads", how_long],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    *faults, last = done.stdout.splitlines()
    assert last.endswith("programs built and run")
    assert int(last.split()[0]) >= 8
    return faults


@pytest.mark.slow
def test_the_first_builds_of_a_process_may_be_at_once(tmp_path: Path) -> None:
    assert run_threads("first", tmp_path) == []


@pytest.mark.slow
def test_threads_build_and_run_for_a_while(tmp_path: Path) -> None:
    """20 seconds; RELAY_EXPLORER_STRESS_SECONDS sets another time."""
    assert run_threads(SECONDS, tmp_path) == []


def test_threads_wait_for_what_happens_once() -> None:
    calls = []

    @once
    def register(name: str) -> str:
        calls.append(name)
        time.sleep(0.05)
        return name * 2

    results: list[str] = []
    threads = [threading.Thread(target=lambda: results.append(register("a"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls == ["a"]
    assert results == ["aa"] * 8
    assert register("b") == "bb"
    assert calls == ["a", "b"]
