"""Run the same programs on every target under every executor, to test the paper's promise of portability.

python -m benchmarks.everywhere        (needs apache-tvm, g++, gcc for AArch64, and qemu; no GPU)

Nothing is timed. Each result is compared with the interpreter's, wherever it was computed: on this processor,
on an ARM processor that QEMU emulates, or on an emulated GPU. Writes the table, and
`relay_explorer/lower/profiling/measured/everywhere.json`, which chapter 25 shows.
"""

from __future__ import annotations

import json
import platform
import struct
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import relay_explorer
from benchmarks.common import report, table
from relay_explorer import models, relay
from relay_explorer.execute import make_list
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.models import sentiment
from relay_explorer.models.char_rnn import char_rnn, encode
from relay_explorer.models.tree_lstm import phrase
from relay_explorer.testing.emulated_gpu import emulated_gpu

DATA = Path(relay_explorer.__file__).parent / "lower" / "profiling" / "measured" / "everywhere.json"
EXECUTORS = ("interpreter", "graph", "vm", "aot")
TARGETS: dict[str, object] = {
    "CPU": "cpu", "Pi 4": "raspberry-pi-4", "GPU": {"kind": "cuda", "arch": "sm_80"},
}  # fmt: skip
SENTENCE, NAME = "((the film) (is (not bad)))", "Satoshi"
TYPES = {"float32": 0x220, "int32": 0x020}  # of tensors, in C

# Reads the argument in postfix order, and builds it on a stack.
MAIN = """
#include "program.h"
#include <stdio.h>

static float data[1 << 16];

static program_value tensor(program *m) {
  int64_t shape[8], size = 1;
  int type, rank;
  if (!fread(&type, sizeof type, 1, stdin) || !fread(&rank, sizeof rank, 1, stdin)) return NULL;
  for (int k = 0; k < rank; k++) {
    if (!fread(&shape[k], sizeof shape[k], 1, stdin)) return NULL;
    size *= shape[k];
  }
  if (fread(data, 4, size, stdin) != size) return NULL;
  return program_tensor(m, type, rank, shape, data);
}

int main(void) {
  program *m = program_new();
  program_value stack[256], *top = stack, result;
  for (int what; (what = getchar()) != EOF;)
    switch (what) {
      case 't': *top++ = tensor(m); break;
      PIECES
    }
  if (program_run(m, stack[0], &result)) return fputs(program_error(m), stderr), 1;
  int64_t size = 1;
  for (int k = 0; k < program_rank(result); k++) size *= program_shape(result)[k];
  fwrite(program_data(result), 4, size, stdout);
  program_release(m, result);
  program_release(m, stack[0]);
  return program_live(m) != 0;
}
"""
LIST = """case 'n': *top++ = program_Nil(m); break;
      case 'c': top--; top[-1] = program_Cons(m, top[-1], top[0]); break;"""
TREE = """case 'w': top[-1] = program_Word(m, top[-1]); break;
      case 'p': top--; top[-1] = program_Pair(m, top[-1], top[0]); break;"""


class Program(NamedTuple):
    """A program with its weights and an argument: as a value, and in the form that a program in C reads."""

    module: IRModule
    params: dict[str, Any]
    value: Any
    given: bytes
    pieces: str = ""


def numbers(*shape: int) -> Any:
    return (np.sin(np.arange(np.prod(shape))).reshape(shape) / 4).astype("float32")


def weights(module: IRModule) -> dict[str, Any]:
    """Return a value for every parameter but the first."""
    params = relay.transform.InferType()(module)["main"].params[1:]
    return {p.name_hint: numbers(*as_tensor_type(p).concrete_shape) for p in params}


def tensor(array: Any) -> bytes:
    head = struct.pack("<cii", b"t", TYPES[str(array.dtype)], array.ndim)
    return head + struct.pack(f"<{array.ndim}q", *array.shape) + bytes(array.tobytes())


def lenet() -> Program:
    """Return a network whose kernels have a static order."""
    module, picture = models.load("lenet"), numbers(1, 1, 28, 28)
    return Program(module, weights(module), picture, tensor(picture))


def letters() -> Program:
    """Return a character RNN with an LSTM cell, written as a fold of a closure over a list."""
    module = char_rnn(cell="lstm")
    indices = [np.array(number, "int32") for number in encode(NAME)]
    encoded = b"".join(map(tensor, indices)) + b"n" + b"c" * len(indices)
    return Program(module, weights(module), make_list(module, indices), encoded, LIST)


def tree() -> Program:
    """Return the TreeLSTM that is trained for sentiment analysis, written as two recursive functions."""
    module, sentence, vectors = sentiment.module(), sentiment.parse(SENTENCE), sentiment.vectors()

    def pieces(part: Any) -> bytes:
        if isinstance(part, str):
            return tensor(vectors[part].reshape(1, -1)) + b"w"
        return pieces(part[0]) + pieces(part[1]) + b"p"

    value = phrase(module, sentence, vectors)
    return Program(module, dict(sentiment.weights()), value, pieces(sentence), TREE)


PROGRAMS: dict[str, Callable[[], Program]] = {"LeNet": lenet, "character RNN": letters, "TreeLSTM": tree}


def under_qemu(exe: Any, program: Program) -> Any:
    """Run a program for ARM under QEMU, linked with C code that passes the argument; return its result."""
    with tempfile.TemporaryDirectory() as place:
        main, program_file = Path(place) / "main.c", Path(place) / "made"
        main.write_text(MAIN.replace("PIECES", program.pieces), "utf-8")
        exe.link(program_file, [main], static=True)
        done = subprocess.run(["qemu-aarch64", str(program_file)], input=program.given, stdout=-1, check=True)
    return np.frombuffer(done.stdout, "float32")


def run_on(program: Program, target: object, executor: str, expected: Any) -> dict[str, Any]:
    """Run one program on one target under one executor; return how it ran and how far the result is from the
    expected one, or why it cannot run.
    """
    try:
        exe = relay_explorer.build(program.module, target, program.params, executor=executor, quiet=True)
    except relay.RelayError as problem:
        return {"how": "refused", "why": problem.message}
    if target == "cpu":
        how, answer = "here", exe(program.value)
    elif isinstance(target, dict):
        how, answer = "emulated", exe(program.value)
    elif executor == "aot":
        how, answer = "qemu", under_qemu(exe, program)
    else:  # it would need Python on the board
        return {"how": "compiled"}
    answer = np.asarray(getattr(answer, "numpy", lambda: answer)())
    return {"how": how, "apart": float(f"{abs(answer.reshape(-1) - expected).max():.0e}")}


def results() -> list[dict[str, Any]]:
    """Run every program on every target; the interpreter compiles nothing, so it runs only once."""
    rows = []
    programs = {name: make() for name, make in PROGRAMS.items()}
    for name, one in programs.items():
        means = relay_explorer.build(one.module, "cpu", one.params, executor="interpreter")(one.value)
        expected = np.asarray(means.numpy() if hasattr(means, "numpy") else means).reshape(-1)
        for where, target in TARGETS.items():
            for executor in EXECUTORS[0 if target == "cpu" else 1 :]:
                with emulated_gpu():
                    result = run_on(one, target, executor, expected)
                rows.append({"program": name, "target": where, "executor": executor, **result})
    return rows


def cell(row: dict[str, Any]) -> str:
    """Format a row's result for a table."""
    return f"{row['apart']:.0e} ({row['how']})" if "apart" in row else str(row["how"])


def main() -> None:
    rows = results()
    processor = platform.machine()
    DATA.write_text(json.dumps({"processor": processor, "rows": rows}, indent=1) + "\n", "utf-8")
    lines = []
    for where in TARGETS:
        for executor in EXECUTORS:
            here = {r["program"]: r for r in rows if (r["target"], r["executor"]) == (where, executor)}
            if here:
                lines.append([where, executor, *[cell(here[name]) for name in PROGRAMS]])
    why = sorted({f"* {r['program']}, {r['executor']}: {r['why']}" for r in rows if "why" in r})
    report("everywhere.md", table(["target", "executor", *PROGRAMS], lines) + "\n\n" + "\n".join(why))


if __name__ == "__main__":
    main()
