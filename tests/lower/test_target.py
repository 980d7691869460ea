"""Targets: names, boards, TVM's dictionaries, old strings; and what is none."""

from __future__ import annotations

import re

import pytest

from relay_explorer.ir.errors import RelayError
from relay_explorer.lower.targets.target import Target


def test_this_machine() -> None:
    target = Target.of("cpu")
    assert target.kind in ("cpu", "arm64")
    assert target.runs_here
    assert target.lanes() * 4 == target.lanes("float64") * 8 == target.vector_bytes
    assert target.cores >= 1
    assert Target.of(None) is Target.of(target) is target


@pytest.mark.parametrize(
    ("given", "kind", "cpu", "lanes"),
    [
        ("raspberry-pi-4", "arm64", "cortex-a72", 4),
        ("raspberry-pi-5", "arm64", "cortex-a76", 4),
        ("phone", "arm64", "cortex-a78", 4),
        (
            {"kind": "llvm", "mtriple": "x86_64-linux-gnu", "mcpu": "skylake-avx512"},
            "cpu",
            "skylake-avx512",
            16,
        ),
        ("llvm -mtriple=x86_64-linux-gnu -mcpu=core-avx2", "cpu", "core-avx2", 8),
        ("llvm -mtriple=x86_64-linux-gnu -mcpu=nehalem -opt-level=3", "cpu", "nehalem", 4),
        ("llvm -device=arm_cpu -mtriple=aarch64-linux-gnu -mattr=+neon", "arm64", None, 4),
        ('{"kind": "cuda", "arch": "sm_90"}', "cuda", None, 4),
        ("nvidia/nvidia-a100", "cuda", None, 4),
    ],
)
def test_other_machines(given: object, kind: str, cpu: str | None, lanes: int) -> None:
    target = Target.of(given)
    assert (target.kind, target.dict.get("mcpu"), target.lanes()) == (kind, cpu, lanes)
    assert target == Target.of(target.dict)
    assert Target.of(target.tvm).kind == kind
    assert not Target.of("cuda").runs_here


def test_without_an_architecture_a_usual_one_is_taken() -> None:
    assert re.fullmatch(r"sm_\d+", Target.of("cuda").dict["arch"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("gpu", "error: there is no target called 'gpu'\nhelp: did you mean 'cuda'?"),
        ("raspberry-pi", "error: there is no target called 'raspberry-pi'\nhelp: did you mean 'raspberry-pi"),
        ("", "error: there is no target called ''\nhelp: there are 'cpu', 'cuda', 'arm64', "),
        ({"kind": "x"}, "error: TVM does not know the target {'kind': 'x'}\nhelp: Target kind \"x\""),
        ({"kind": "llvm", "cores": 3}, "error: TVM does not know the target {'kind': 'llvm', 'cores': 3}"),
        ('{"kind"', "error: the target is not JSON: "),
        (
            {"kind": "llvm", "mtriple": "x86_64-linux-gnu", "mcpu": "znver"},
            "error: LLVM knows no processor 'znver' for x86_64-linux-gnu\nhelp: did you mean 'znver",
        ),
        ("llvm -mcpu=cortex-a72 -mtriple=x86_64-linux-gnu", "error: LLVM knows no processor 'cortex-a72'"),
        (3, "error: a target is a name or a dictionary of TVM's, not a value of type int\nhelp: there are"),
        ("llvm -mtriple=aarch46-linux-gnu", "error: LLVM has no code generator for 'aarch46', with which"),
        ("c", "error: there are no schedules for targets of the kind 'c'"),
    ],
)  # fmt: skip
def test_what_is_no_target(given: object, message: str) -> None:
    with pytest.raises(RelayError) as caught:
        Target.of(given)
    assert str(caught.value).startswith(message)
