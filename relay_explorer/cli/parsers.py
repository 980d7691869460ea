"""The arguments that several commands have."""

from __future__ import annotations

import argparse
from typing import Any

from ..lower.targets.target import BOARDS

PROGRAM_HELP = (
    "a file: a model of ONNX, TorchScript, torch.export, TensorFlow, Keras, TFLite or MXNet, or a program "
    "in Relay's text format; the folder of a SavedModel; `-` for a program on the standard input; or the "
    "name of a model that the package has (`relay-explorer models`)"
)

TARGETS = f"cpu (this machine), cuda, {', '.join(BOARDS)}, or TVM's dictionary as JSON"


def add_command(commands: Any, name: str, help: str, examples: str, run: Any) -> argparse.ArgumentParser:
    """Add a command, with examples at the end of its help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=f"{help[:1].upper()}{help[1:]}.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"examples:\n{examples}" if examples else None,
    )
    parser.set_defaults(run=run)
    return parser


def add_import_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that an importer takes."""
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="INPUT=1,3,224,224",
        help="the shape of one input of an imported model (may be repeated); for a dimension that is known "
        "only at run time, write a name (equal names are equal sizes) or, in quotes, '?'",
    )
    parser.add_argument(
        "--dtype",
        action="append",
        default=[],
        metavar="[INPUT=]TYPE",
        help="the element type of an input, or of all: float32, int64 … (may be repeated)",
    )


_EXECUTORS = {
    "graph": "the graph executor",
    "vm": "the virtual machine",
    "aot": "C code that is compiled ahead of time",
    "interpreter": "the interpreter, without kernels",
}


def add_build_options(
    parser: argparse.ArgumentParser,
    executors: tuple[str, ...],
    default: str = "graph, or vm if the program needs it",
) -> None:
    """Add the options that a build takes. `default` says which executor is the default."""
    parser.add_argument(
        "--target",
        default="cpu",
        help=f"the machine to compile for: {TARGETS} (default: cpu)",
    )
    parser.add_argument(
        "--executor",
        choices=executors,
        help="how the program is executed: "
        + ", ".join(f"{name} ({_EXECUTORS[name]})" for name in executors)
        + f" (default: {default})",
    )
    parser.add_argument(
        "--opt-level",
        type=int,
        default=3,
        choices=range(5),
        metavar="0…4",
        help="the optimization level of the passes (default: 3)",
    )


def add_input_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that give a run its inputs."""
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="FILE.npz|INPUT=FILE.npy",
        help="inputs by name, from NumPy files (may be repeated); the other inputs are random",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="the seed of random inputs (default: 0)", metavar="N"
    )
