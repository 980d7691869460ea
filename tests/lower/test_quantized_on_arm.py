"""Quantized networks on an ARM processor, under QEMU: the same bits as on this machine."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer.ir import Call, Function, IRModule, Let
from relay_explorer.ir.narrow import as_a, as_function
from relay_explorer.lower.link.native import NativeExecutable
from relay_explorer.models import digits, sentiment
from relay_explorer.models.tree_lstm import phrase
from relay_explorer.quantize import Scheme, quantize
from relay_explorer.quantize.schemes import Int8Int16, PerChannelAsymmetric
from relay_explorer.typing import infer_types

pytestmark = pytest.mark.slow  # programs are compiled ahead of time for three processors, and run under qemu

BOARDS = {"raspberry-pi-4": "cortex-a72", "raspberry-pi-5": "cortex-a76"}
SCHEMES: dict[str, Scheme] = {"asymmetric": PerChannelAsymmetric(), "int16": Int8Int16()}
TREES = list(sentiment.sentences(1, 200))


# Reads images from the standard input, and prints the logits of each.
READER = r"""
#include "reader.h"
#include <stdio.h>
int main(void) {
  static float image[64];
  static const int64_t shape[] = {1, 1, 8, 8};
  reader *m = reader_new();
  while (m && fread(image, sizeof image, 1, stdin) == 1) {
    reader_value data = reader_tensor(m, reader_float32, 4, shape, image), result = NULL;
    if (reader_run(m, data, &result)) return puts(reader_error(m)), 1;
    for (int k = 0; k < 10; k++) printf("%a ", ((const float *)reader_data(result))[k]);
    printf("\n");
    reader_release(m, result);
    reader_release(m, data);
  }
  reader_end(m);
}
"""


def text(tree: Any) -> str:
    return tree if isinstance(tree, str) else f"({text(tree[0])} {text(tree[1])})"


def without_softmax(module: IRModule) -> IRModule:
    main = as_function(module["main"])
    body = main.body
    softmax = as_a(Call, body.body if isinstance(body, Let) else body)
    logits = softmax.args[0]
    module["main"] = Function(
        main.params, Let(body.var, body.value, logits) if isinstance(body, Let) else logits
    )
    return module


@cache
def quantized(scheme: str) -> IRModule:
    """Quantize the program that ends with the logits: a softmax adds floats, in an order that depends on the
    width of the processor's vectors.
    """
    module = without_softmax(sentiment.module())
    seen = [[phrase(module, tree, sentiment.vectors())] for tree in sentiment.sentences(0, 100)]
    return quantize(infer_types(module), sentiment.weights(), seen, SCHEMES[scheme])


@cache
def compiled(scheme: str, target: str) -> NativeExecutable:
    exe = relay_explorer.build(quantized(scheme), target, executor="aot", name="sentiment", quiet=True)
    assert isinstance(exe, NativeExecutable)
    return exe


@cache
def here(scheme: str) -> np.ndarray[Any, Any]:
    """The logits on this machine."""
    exe = compiled(scheme, "cpu")
    values = [phrase(quantized(scheme), tree, sentiment.vectors()) for tree in TREES]
    return np.stack([exe(value).reshape(-1) for value in values])


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_logits_are_the_same_bits_there_as_here(scheme: str, board: str, tmp_path: Path) -> None:
    main, program = tmp_path / "main.c", tmp_path / "sentiment"
    main.write_text(sentiment.c_main().replace("%.3f", "%a"))  # all bits, in hexadecimal
    compiled(scheme, board).link(program, [main], static=True)
    command = ["qemu-aarch64", "-cpu", BOARDS[board], str(program)]
    printed = subprocess.run(
        command, input="\n".join(map(text, TREES)), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    numbers = [line.split(":")[1].split() for line in printed]
    there = np.array([[float.fromhex(number) for number in row] for row in numbers], "float32")
    np.testing.assert_array_equal(there, here(scheme))
    assert b".debug_info" not in program.read_bytes()  # the kernels' refers to no source
    moods = [line.split(":")[0] for line in printed]
    assert moods == [sentiment.MOODS[k] for k in here(scheme).argmax(1)]


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_digits_have_the_same_bits_there_as_here(scheme: str, board: str, tmp_path: Path) -> None:
    training, unseen = digits.data()
    seen = [[image[None]] for image in training.images[:100]]
    module = infer_types(without_softmax(digits.digits()))
    integers = quantize(module, digits.weights(), seen, SCHEMES[scheme])
    images = unseen.images[:40]
    exe = {
        target: relay_explorer.build(integers, target, executor="aot", name="reader", quiet=True)
        for target in ("cpu", board)
    }
    expected = np.stack([exe["cpu"](image[None]).reshape(-1) for image in images])
    main, program = tmp_path / "main.c", tmp_path / "reader"
    main.write_text(READER)
    as_a(NativeExecutable, exe[board]).link(program, [main], static=True)
    command = ["qemu-aarch64", "-cpu", BOARDS[board], str(program)]
    printed = subprocess.run(command, input=images.tobytes(), capture_output=True, check=True).stdout
    numbers = [[float.fromhex(number) for number in line.split()] for line in printed.decode().splitlines()]
    np.testing.assert_array_equal(np.array(numbers, "float32"), expected)
    assert np.mean(expected.argmax(1) == unseen.classes[:40]) > 0.9


@pytest.mark.parametrize("scheme", SCHEMES)
def test_almost_all_sentences_are_rated_as_the_float_program_rates_them(scheme: str) -> None:
    exe = sentiment.build("cpu", quiet=True)
    values = [phrase(sentiment.module(), tree, sentiment.vectors()) for tree in TREES]
    expected = np.array([exe(value).argmax() for value in values])
    assert np.mean(here(scheme).argmax(1) == expected) >= 0.97


def test_weights_take_a_third_of_the_bytes() -> None:
    """A quarter, and the biases and scales, which have 32 bits each."""
    constants = [
        len(exe.native.constants)
        for exe in (compiled("asymmetric", "cpu"), sentiment.build("cpu", quiet=True))
    ]
    assert constants[0] < constants[1] / 3
