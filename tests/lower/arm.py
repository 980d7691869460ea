"""Runs programs for ARM processors, compiled ahead of time, under QEMU."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from relay_explorer.ir.module import IRModule
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.ir.nest import leaf_types
from relay_explorer.lower.build import build_native
from relay_explorer.typing import infer_types

WITH_DOT, WITHOUT_DOT = "raspberry-pi-5", "raspberry-pi-4"
PROCESSORS = {WITH_DOT: "max", WITHOUT_DOT: "cortex-a72"}  # QEMU's names, by target

MAIN = """
#include "arm.h"
#include <stdio.h>

static int64_t size(int32_t rank, const int64_t *shape) {
  int64_t count = 1;
  for (int k = 0; k < rank; k++) count *= shape[k];
  return count;
}

static void show(arm_value part) {
  int64_t bytes = size(arm_rank(part), arm_shape(part)) * (arm_type(part) % 256) / 8;
  fwrite(arm_data(part), 1, bytes, stdout);
}

static char bytes[1 << 24];

int main(void) {
  arm *m = arm_new();
  arm_value result;
READS
  if (arm_run(m, ARGUMENTS, &result)) return fputs(arm_error(m), stderr), 1;
  if (arm_type(result) >= 0) show(result);
  for (uint32_t k = 0; arm_type(result) < 0 && k < arm_count(result); k++) show(arm_part(result, k));
  return 0;
}
"""


def link(module: IRModule, target: str, folder: Path) -> Path:
    """Compile a module, whose arguments are tensors, to a program that reads them from its standard input as
    bytes, and writes the tensors of its result.
    """
    reads, names = [], []
    for n, param in enumerate(infer_types(module)["main"].params):
        type_ = as_tensor_type(param.checked_type)
        shape, item = type_.concrete_shape, np.dtype(type_.dtype).itemsize
        count = int(np.prod(shape)) * item
        sizes = ", ".join(map(str, shape)) or "0"
        reads.append(
            f"  if (fread(bytes, 1, {count}, stdin) != {count}) return 2;\n"
            f"  static const int64_t shape{n}[] = {{{sizes}}};\n"
            f"  arm_value x{n} = arm_tensor(m, arm_{type_.dtype}, {len(shape)}, shape{n}, bytes);"
        )
        names.append(f"x{n}")
    text = MAIN.replace("READS", "\n".join(reads)).replace("ARGUMENTS", ", ".join(names))
    (folder / "main.c").write_text(text)
    program = folder / "arm"
    build_native(module, target, name="arm", quiet=True).link(program, [folder / "main.c"], static=True)
    return program


def run(program: Path, module: IRModule, values: Sequence[Any], target: str) -> list[np.ndarray[Any, Any]]:
    """Run a program of `link`, and return the tensors of its result."""
    command = ["qemu-aarch64", "-cpu", PROCESSORS[target], str(program)]
    data = b"".join(np.ascontiguousarray(value).tobytes() for value in values)
    done = subprocess.run(command, input=data, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    results, start = [], 0
    types = leaf_types(infer_types(module)["main"].body.checked_type)
    assert types is not None
    for type_ in map(as_tensor_type, types):
        shape = type_.concrete_shape
        count = int(np.prod(shape))
        results.append(np.frombuffer(done.stdout, type_.dtype, count, start).reshape(shape))
        start += results[-1].nbytes
    assert start == len(done.stdout)
    return results
