"""The instructions of a program for ARM are counted under QEMU, by function and mnemonic."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from relay_explorer.ir import RelayError
from relay_explorer.lower.inspect.executed import Executed, executed

# `sum` adds the numbers below n in a loop of four instructions.
SOURCE = r"""
#include <stdio.h>
__attribute__((noinline)) long sum(long n) {
  long total = 0;
  __asm__ volatile("1: add %0, %0, %1\n subs %1, %1, #1\n nop\n b.ne 1b\n" : "+r"(total), "+r"(n) : : "cc");
  return total;
}
int main(void) {
  long n;
  if (scanf("%ld", &n) != 1) return 3;
  printf("%ld\n", sum(n));
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("executed")
    (folder / "sum.c").write_text(SOURCE)
    output = folder / "sum"
    command: list[str | Path] = ["aarch64-linux-gnu-gcc", "-O1", "-static", folder / "sum.c", "-o", output]
    subprocess.run(command, check=True)
    return output


def test_it_counts_each_iteration_of_a_loop(program: Path) -> None:
    small, large = executed(program, "10"), executed(program, "1010")
    assert (small.output, large.output) == ("55\n", "510555\n")
    assert large.by_function()["sum"] - small.by_function()["sum"] == 4000
    for mnemonic in ("add", "nop", "b.ne"):
        assert large.counts["sum", mnemonic] - small.counts["sum", mnemonic] == 1000
    assert large.by_mnemonic()["nop"] - small.by_mnemonic()["nop"] == 1000
    assert large.total == sum(large.by_function().values()) == sum(large.by_mnemonic().values())


def test_the_same_run_has_the_same_count(program: Path) -> None:
    assert executed(program, "7").by_function()["sum"] == executed(program, "7").by_function()["sum"]


def test_another_processor_executes_the_same_loop(program: Path) -> None:
    counts = [executed(program, "9", processor=name).by_function()["sum"] for name in ("cortex-a53", "max")]
    assert counts[0] == counts[1]


def test_a_program_that_fails(program: Path) -> None:
    with pytest.raises(RelayError, match="fails with code 3"):
        executed(program, "no number")


def test_a_program_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(RelayError, match="there is no program"):
        executed(tmp_path / "absent")


def test_an_unknown_processor(program: Path) -> None:
    with pytest.raises(RelayError) as caught:
        executed(program, processor="z80")
    assert "help: qemu-aarch64: unable to find CPU model 'z80'" in str(caught.value)


def test_without_qemu(program: Path) -> None:
    with pytest.raises(RelayError) as caught:
        executed(program, emulator="qemu-absent")
    assert str(caught.value) == (
        "error: counting instructions needs qemu-absent, which is not on the PATH\n"
        "help: on Debian and Ubuntu: sudo apt-get install qemu-user"
    )


def test_without_a_compiler(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(RelayError, match="needs a C compiler"):
        executed(program)


def test_an_emulator_that_loads_no_plugins(program: Path, tmp_path: Path) -> None:
    emulator = tmp_path / "emulator"
    emulator.write_text("#!/bin/sh\necho 'plugins are not compiled in' >&2\nexit 1\n")
    emulator.chmod(0o755)
    with pytest.raises(RelayError) as caught:
        executed(program, emulator=str(emulator))
    assert str(caught.value).endswith("\nhelp: plugins are not compiled in")


def test_functions_without_counts_have_none() -> None:
    run = Executed("", {("f", "add"): 2, ("f", "mul"): 1, ("g", "add"): 5})
    assert dict(run.by_function()) == {"f": 3, "g": 5}
    assert dict(run.by_mnemonic()) == {"add": 7, "mul": 1}
    assert run.by_function()["h"] == 0
