"""The figure "one program, many targets": what it draws is still what the compiler makes."""

from __future__ import annotations

import json

import pytest

from tools.many_targets import DATA, TARGETS, lines_of


@pytest.mark.parametrize("name", ["x86-64", "AArch64"])  # NVIDIA's part needs nvcc
def test_the_kept_instructions_are_those_of_today(name: str) -> None:
    data = json.loads(DATA.read_text("utf-8"))["targets"][name]
    result = lines_of(TARGETS[name])
    again = "run tools/many_targets.py, then make figures"
    assert [line.split()[0] for line in result["loop"][1:]] == [was.split()[0] for was in data["loop"][1:]], (
        again
    )
    assert {key: result[key] for key in ("multiply_adds", "lanes", "threads")} == {
        key: data[key] for key in ("multiply_adds", "lanes", "threads")
    }, again


def test_all_three_load_multiply_and_jump() -> None:
    targets = json.loads(DATA.read_text("utf-8"))["targets"]
    assert {name: one["lanes"] * one["threads"] for name, one in targets.items()} == {
        "x86-64": 16, "AArch64": 4, "NVIDIA": 128,
    }  # fmt: skip
    assert all(one["multiply_adds"] >= 16 for one in targets.values())
