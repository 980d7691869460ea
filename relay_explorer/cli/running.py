"""The command `run`: run a program, and print its results."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..frontends import files
from ..ir.errors import RelayError
from .inputs import gathered
from .parsers import PROGRAM_HELP, add_build_options, add_command, add_import_options, add_input_options
from .programs import kind_of, load, shapes_of
from .progress import on_terminal

if TYPE_CHECKING:
    from numpy import ndarray as Array

    from ..lower.runtime.executable import Executable

MAX_RESULTS = 50  # that are printed
FEWEST_CLASSES = 3


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "run",
        "compile and run a program, and print its results",
        """\
  relay-explorer run model.onnx                             on random inputs
  relay-explorer run model.onnx --input photo.npz --top 3   inputs by name, from NumPy's files
  relay-explorer run model.onnx --input ids=ids.npy --output out.npz
  relay-explorer run model.rx                               a program that `compile` wrote
""",
        _run,
    )
    parser.add_argument(
        "program", metavar="FILE", help=f"{PROGRAM_HELP}; or a program that `compile` wrote (.rx, .so)"
    )
    add_input_options(parser)
    parser.add_argument("--output", metavar="OUT.npz", help="the file to write the results to")
    parser.add_argument(
        "--top", type=int, default=5, metavar="N", help="the number of classes to print (default: 5)"
    )
    parser.add_argument("--labels", metavar="FILE", help="a file with the names of the classes, one per line")
    add_build_options(parser, ("graph", "vm", "aot", "interpreter"))
    add_import_options(parser)


def _run(parsed: argparse.Namespace) -> int:
    exe = executable(parsed)
    labels = Path(parsed.labels).read_text("utf-8").splitlines() if parsed.labels else []
    values, random = arguments(exe, parsed)
    for name in random:
        print(f"{name}: random {_described(values[name])}")
    results = list(_arrays(exe(*values.values()), "output"))
    for name, array in results[:MAX_RESULTS]:
        print(f"{name}: {_described(array)}, {_range(array)}")
        for line in _classes(array, parsed.top, labels):
            print(line)
    if len(results) > MAX_RESULTS:
        print(f"… {len(results) - MAX_RESULTS} more")
    if parsed.output:
        import numpy as np

        arrays: dict[str, Any] = dict(results)
        np.savez(parsed.output, **arrays)
        print(f"{parsed.output}: {', '.join(name for name, _ in results[:12])}")
    return 0


def executable(parsed: argparse.Namespace) -> Executable:
    """Return the compiled program of a command: loaded, or built from a model."""
    from ..lower.build import build
    from ..lower.saving import load as load_program

    if kind_of(parsed.program) == files.EXECUTABLE:
        for flag in ("dtype", "executor"):
            if getattr(parsed, flag, None):
                raise RelayError(
                    f"`{parsed.program}` is compiled already, so --{flag} has no effect",
                    help=[f"leave out --{flag}, or give the original model"],
                )
        return load_program(parsed.program)
    program = load(parsed.program, parsed)
    return build(
        program.mod, parsed.target, program.params or None, parsed.opt_level, executor=parsed.executor,
        quiet=not on_terminal(),
    )  # fmt: skip


def arguments(exe: Executable, parsed: argparse.Namespace) -> tuple[dict[str, Array], list[str]]:
    """Return the inputs of a run by name, and the names of the random ones."""
    from ..lower.runtime.virtual import parsed_type

    types = {param.name: parsed_type(param.type) for param in exe.inputs}
    return gathered(types, parsed.input, parsed.seed, shapes_of(parsed.shape))


def _arrays(value: Any, name: str) -> Iterator[tuple[str, Array]]:
    """Yield the tensors of a result, with a name for each: `output`, `output_0`, `output_1_0` …"""
    import numpy as np

    if isinstance(value, (tuple, list)):
        for index, part in enumerate(value):
            yield from _arrays(part, f"{name}_{index}")
    elif isinstance(value, (np.ndarray, np.generic, int, float, bool)):
        yield name, np.asarray(value)
    else:
        raise RelayError(
            f"the result `{name}` is a {type(value).__name__}, not a tensor",
            help=["relay-explorer explore FILE --view evaluation shows values of all types"],
        )


def _described(array: Array) -> str:
    return f"{array.dtype} {tuple(array.shape)}"


def _range(array: Array) -> str:
    import numpy as np

    if array.size == 0:
        return "empty"
    if array.dtype == bool:
        return f"{int(array.sum()):,} true"
    if array.dtype.kind not in "fiu":
        return "not numeric"
    wrong = int(array.size - np.isfinite(array).sum()) if array.dtype.kind == "f" else 0
    if wrong == array.size:
        return "no finite numbers"
    finite = array[np.isfinite(array)] if wrong else array
    text = f"from {_number(finite.min())} to {_number(finite.max())}, mean {_number(finite.mean())}"
    return f"{text}, {wrong:,} not finite" if wrong else text


def _number(value: Any) -> str:
    return f"{value:.4g}"


def _classes(array: Array, top: int, labels: Sequence[str]) -> Iterator[str]:
    """Yield the classes with the highest scores, if a result looks like the scores of a classifier: a vector
    of floating-point numbers, or a batch of such vectors.
    """
    import numpy as np

    if array.size == 0:
        return
    scores = array.reshape([dim for dim in array.shape if dim != 1])
    if array.dtype.kind != "f" or (array.ndim not in (1, 2) and scores.ndim != 1) or top < 1:
        return
    rows = scores.reshape(-1, array.shape[-1]) if scores.ndim == 2 else scores.reshape(1, -1)
    if rows.shape[-1] < FEWEST_CLASSES or not np.isfinite(rows).all():
        return
    shares, kind = _shares(rows)
    yield f"  {'class':>6}  {'score':>9}  {kind}"
    for number, row in enumerate(rows[:8]):
        if len(rows) > 1:
            yield f"  example {number}"
        for index in np.argsort(-row, kind="stable")[:top]:
            label = f"  {labels[index]}" if index < len(labels) else ""
            yield f"  {index:>6}  {_number(row[index]):>9}  {shares[number][index]:{len(kind)}.1%}{label}"


def _shares(rows: Array) -> tuple[Array, str]:
    """Return the scores of each example as shares of 1, and the heading of their column: the scores
    themselves if they are probabilities already, otherwise their softmax.
    """
    import numpy as np

    if rows.min() >= 0 and np.abs(rows.sum(axis=-1, dtype="float64") - 1).max() < 1e-3:
        return rows, "probability"
    powers = np.exp((rows - rows.max(axis=-1, keepdims=True)).astype("float64"))
    return powers / powers.sum(axis=-1, keepdims=True), "softmax"
