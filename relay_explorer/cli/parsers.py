"""The arguments that several commands have."""

from __future__ import annotations

import argparse
from typing import Any

PROGRAM_HELP = (
    "a file: a model of ONNX, TorchScript, torch.export, TensorFlow, Keras, TFLite or MXNet, or a program "
    "in Relay's text format; the folder of a SavedModel; `-` for a program on the standard input; or the "
    "name of a model that the package has (`relay-explorer models`)"
)


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
        help="the shape of an input of an imported model; a dimension may be a name, which stands for any "
        "size, or `?` (once for each input)",
    )
    parser.add_argument(
        "--dtype",
        action="append",
        default=[],
        metavar="[INPUT=]TYPE",
        help="the element type of an input, or of all: float32, int64 … (may be repeated)",
    )


def add_build_options(parser: argparse.ArgumentParser, executors: tuple[str, ...]) -> None:
    """Add the options that a build takes."""
    parser.add_argument(
        "--target",
        default="cpu",
        help="cpu (this machine), cuda, arm64, a board, or TVM's dictionary as JSON (default: cpu)",
    )
    parser.add_argument(
        "--executor",
        choices=executors,
        help="what runs the kernels: the graph executor, the virtual machine, or C code compiled ahead of "
        "time (default: the first that can run the program)",
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
