"""Programs without an end, and data without measure: a clear error, and Python lives."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from inline_snapshot import snapshot

from relay_explorer import relay
from relay_explorer.execute import ExecutionError, Interpreter, memory
from relay_explorer.text import parse

LIST = "type List[A] { Cons(A, List[A]), Nil }\n"


BLOCK = 32 << 20  # bytes


def block() -> np.ndarray[Any, Any]:
    return np.ones(BLOCK // 8)


def reach_peak() -> list[np.ndarray[Any, Any]]:
    """Allocate until the process holds as much as it ever did, and return what has to be held for that.

    Where the system tells only the peak, what is allocated below it does not show.
    """
    start, ballast = memory.in_use(), [block()]
    while memory.in_use() == start and len(ballast) * BLOCK < 4 << 30:
        ballast.append(block())
    return ballast


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """16 MiB for a run, on a machine that has nothing left."""
    monkeypatch.setattr(memory, "LEAST", 16 << 20)
    monkeypatch.setattr(memory, "free", lambda: 0)
    ballast = reach_peak()
    yield
    del ballast


def failure(program: str, *args: object) -> str:
    with pytest.raises(ExecutionError) as caught:
        Interpreter(parse(program, "endless.relay")).call("main", args)
    return re.sub(r"[\d,]+ (MiB|deep)", r"N \1", str(caught.value))


@pytest.mark.usefixtures("little_memory")
def test_endless_recursion_that_carries_much() -> None:
    program = (
        "def @main(%x: Tensor[(100000), float32]) -> Tensor[(100000), float32] {\n"
        "  negative(@main(negative(%x)))\n"
        "}"
    )
    result = failure(program, np.zeros(100_000, "float32"))
    assert result == snapshot(
        "endless.relay:2:12: error: the program has taken N MiB of memory, over half of what was "
        "free\n"
        "   2 |   negative(@main(negative(%x)))\n"
        "     |            ^^^^^^^^^^^^^^^^^^^\n"
        "note: calls are nested N deep; the last is of `@main`\n"
        "help: does the loop end, and must it store all values that it creates?"
    )


@pytest.mark.usefixtures("little_memory")
def test_an_endless_loop_that_keeps_what_it_makes() -> None:
    program = LIST + (
        "def @grow(%l: List[int32]) -> List[int32] { @grow(Cons(1, %l)) }\n"
        "def @main() -> List[int32] { @grow(Nil) }"
    )
    result = failure(program)
    assert result == snapshot(
        "endless.relay:2:45: error: the program has taken N MiB of memory, over half of what was "
        "free\n"
        "   2 | def @grow(%l: List[int32]) -> List[int32] { @grow(Cons(1, %l)) }\n"
        "     |                                             ^^^^^^^^^^^^^^^^^^\n"
        "note: no call is waiting, so this is a loop; the last is of `@grow`\n"
        "help: does the loop end, and must it store all values that it creates?"
    )


@pytest.mark.usefixtures("little_memory")
def test_a_long_run_that_takes_little_is_not_stopped() -> None:
    program = """
    def @loop(%i: int32, %x: Tensor[(100000), float32]) -> Tensor[(100000), float32] {
      if (equal(%i, 0)) { %x } else { @loop(subtract(%i, 1), negative(%x)) }
    }
    def @main(%n: int32, %x: Tensor[(100000), float32]) { @loop(%n, %x) }
    """
    value = Interpreter(parse(program)).call("main", [np.array(3000, "int32"), np.ones(100_000, "float32")])
    assert value.sum() == 100_000


def test_a_system_that_says_nothing_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "in_use", lambda: None)
    program = "def @f(%n: int32) -> int32 { if (equal(%n, 0)) { 0 } else { add(1, @f(subtract(%n, 1))) } }"
    assert Interpreter(parse(program)).call("f", [np.array(20_000, "int32")]) == 20_000


@pytest.mark.parametrize("source", ["statm", "peak"])
def test_reports_the_memory_that_the_process_holds(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if source == "peak":
        monkeypatch.setattr(memory, "_numbers", lambda path: [])
    ballast = reach_peak()
    before = memory.in_use()
    ballast.append(block())
    after = memory.in_use()
    assert before is not None
    assert after is not None
    assert 0.9 * BLOCK < after - before < 2 * BLOCK


def test_reports_the_memory_that_is_free() -> None:
    assert memory._free_of_machine() or memory._free_of_container()


def test_a_container_counts_what_gives_way_as_free(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "/sys/fs/cgroup/memory.max": "1000000\n",
        "/sys/fs/cgroup/memory.stat": "anon 300000\nfile 600000\n",
    }
    monkeypatch.setattr(memory, "open", lambda path, encoding: _file(files.get(path)), raising=False)
    assert memory.free() == 700_000
    files["/sys/fs/cgroup/memory.max"] = "max\n"
    files["/proc/meminfo"] = "MemTotal:  9 kB\nMemAvailable:  5 kB\n"
    assert memory.free() == 5 * 1024


def _file(text: str | None) -> io.StringIO:
    if text is None:
        raise FileNotFoundError
    return io.StringIO(text)


def test_memory_that_the_system_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Interpreter, "_enter", refuse)
    with pytest.raises(ExecutionError) as caught:
        Interpreter().evaluate(relay.const(1))
    assert str(caught.value) == snapshot(
        "error: out of memory, with calls nested 0 deep\n"
        "help: does the recursion end? A function that ends in the recursive call needs no stack"
    )


def test_calls_two_hundred_thousand_deep_are_answered() -> None:
    program = "def @f(%n: int32) -> int32 { if (equal(%n, 0)) { 0 } else { add(1, @f(subtract(%n, 1))) } }"
    assert Interpreter(parse(program)).call("f", [np.array(200_000, "int32")]) == 200_000
