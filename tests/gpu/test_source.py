"""What NVIDIA's compiler makes of kernels. It needs no GPU."""

from __future__ import annotations

import re

import pytest

import relay_explorer
from relay_explorer.ir.errors import RelayError
from relay_explorer.text import parse
from tests.lower.test_gpu import in_cuda
from tests.ops.examples import EXAMPLES

ARCH = {"kind": "cuda", "arch": "sm_80"}
DENSE = """#[version = "0.0.5"]
def @main(%x: Tensor[(128, 256), float32], %w: Tensor[(64, 256), float32]) { nn.relu(nn.dense(%x, %w)) }"""
SOFTMAX = """#[version = "0.0.5"]
def @main(%x: Tensor[(32, 1000), float32]) { nn.softmax(%x) }"""
CONVOLUTION = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 16, 28, 28), float32], %w: Tensor[(32, 16, 3, 3), float32]) {
  nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3])) }"""

BYTES = {
    "dense": """#[version = "0.0.5"]
def @main(%x: Tensor[(64, 128), int8], %w: Tensor[(128, 128), int8]) {
  nn.dense(%x, %w, out_dtype="int32") }""",
    "convolution": """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 16, 28, 28), int8], %w: Tensor[(32, 16, 3, 3), int8]) {
  nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3], out_dtype="int32") }""",
}


@pytest.mark.parametrize("program", [DENSE, SOFTMAX, CONVOLUTION], ids=["dense", "softmax", "convolution"])
def test_ptx_and_what_it_takes(program: str) -> None:
    (kernel,) = relay_explorer.build(parse(program), ARCH).kernels
    text = kernel.source("ptx")
    assert ".target sm_80" in text
    names = re.findall(r"\.visible \.entry (\w+)\(", text)
    result = kernel.usage
    assert [function.name for function in result] == names
    for function in result:
        assert 0 < function.registers <= 255
        assert function.shared <= 48 << 10
        assert 0 < function.threads <= 1024
        assert 0 < function.occupied <= 1


def test_an_architecture_that_nvcc_does_not_know() -> None:
    (kernel,) = relay_explorer.build(parse(DENSE), {"kind": "cuda", "arch": "sm_20"}).kernels
    with pytest.raises(RelayError, match=r"nvcc cannot compile the kernel for cuda \(sm_20\)"):
        kernel.source("ptx")


def test_every_operator() -> None:
    operators, tiled = in_cuda(EXAMPLES)
    assert operators > 220
    assert tiled > 30


@pytest.mark.parametrize("name", BYTES)
def test_products_of_bytes_become_dot_instructions(name: str) -> None:
    (kernel,) = relay_explorer.build(parse(BYTES[name]), ARCH).kernels
    lines = [line.split() for line in kernel.source("ptx").splitlines() if "dp4a.s32.s32" in line]
    assert len(lines) >= 4
    # The operands are words in registers, and the third one is the accumulator, not 0.
    assert all(line[-1].startswith("%r") for line in lines)
