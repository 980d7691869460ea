"""The commands `opt`, `passes` and `models`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from .parsers import PROGRAM_HELP, add_command, add_import_options
from .programs import load


def add(commands: Any) -> None:
    """Add the commands."""
    opt = add_command(
        commands,
        "opt",
        "run passes on a program, and print the result",
        """\
  relay-explorer opt lenet --passes "SimplifyInference, FuseOps(max_depth=4)"
  relay-explorer opt program.relay --passes "ConvertLayout({'nn.conv2d': ['NHWC', 'default']})" -o out.relay
  relay-explorer opt model.onnx --passes FoldConstant --no-weights
  relay-explorer opt mlp --passes ToANormalForm | relay-explorer explore - --view memory

`relay-explorer passes` lists the passes. Every pass that is named runs, whatever its optimization level.
""",
        _opt,
    )
    opt.add_argument("program", metavar="FILE", help=PROGRAM_HELP)
    opt.add_argument(
        "--passes",
        required=True,
        metavar="PIPELINE",
        help="names of passes with commas between them, each with its options in parentheses",
    )
    opt.add_argument(
        "-o", "--output", metavar="FILE", help="the file to write (default: the standard output)"
    )
    opt.add_argument(
        "--no-weights",
        action="store_true",
        help="leave out the values of large constants: the result can be read, but not parsed again",
    )
    add_import_options(opt)
    add_command(commands, "passes", "list the passes that `opt` knows, with their options", "", _passes)
    add_command(commands, "models", "list the models that come with the package", "", _models)


def _opt(parsed: argparse.Namespace) -> int:
    from ..transform import PassContext, parse_pipeline

    pipeline = parse_pipeline(parsed.passes)
    program = load(parsed.program, parsed)
    with PassContext(opt_level=4):
        text = pipeline(program.mod).astext(show_meta_data=not parsed.no_weights)
    if parsed.output in (None, "-"):
        sys.stdout.write(text.rstrip("\n") + "\n")
    else:
        Path(parsed.output).write_text(text.rstrip("\n") + "\n", "utf-8")
    return 0


def _passes(parsed: argparse.Namespace) -> int:
    from ..transform import list_passes

    for entry in list_passes():
        print(f"{entry.usage}\n    {entry.summary}")
    return 0


def _models(parsed: argparse.Namespace) -> int:
    from .. import models

    width = max(map(len, models.names()))
    for name in models.names():
        print(f"{name:<{width}}  {models.MODELS[name].description}")
    return 0
