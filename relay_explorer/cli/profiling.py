"""The command `profile`: time the kernels of a program, and write the explorer of the run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..ir.errors import RelayError
from .parsers import PROGRAM_HELP, add_build_options, add_command, add_import_options, add_input_options
from .programs import plain
from .progress import waiting
from .running import arguments, executable


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "profile",
        "time the kernels of a program on this machine",
        """\
  relay-explorer profile model.onnx                         a table, the slowest kernels first
  relay-explorer profile model.onnx -o run.html             also write a page with the roofline and timeline
  relay-explorer profile model.onnx -o run.json             also write the measurement, to explore anywhere
  relay-explorer profile model.rx --repeat 100 --input x.npz
""",
        _profile,
    )
    parser.add_argument(
        "program", metavar="FILE", help=f"{PROGRAM_HELP}; or a program that `compile` wrote (.rx)"
    )
    parser.add_argument(
        "--repeat", type=int, default=10, metavar="N", help="the number of runs (default: 10)"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the file to write: a page (.html) or a measurement (.json) of a run",
    )
    parser.add_argument("--title", help="the heading of the page (default: FILE's name)")
    add_input_options(parser)
    add_build_options(parser, ("graph", "vm", "aot"))
    add_import_options(parser)


def _profile(parsed: argparse.Namespace) -> int:
    if parsed.repeat < 1:
        raise RelayError(f"--repeat is the number of runs, at least 1, not {parsed.repeat}")
    output = Path(parsed.output) if parsed.output else None
    if output is not None and output.suffix not in (".html", ".json"):
        raise RelayError(
            f"the output `{output}` is neither a page (.html) nor a measurement (.json)",
            help=["choose one by the suffix, for example -o run.html"],
        )
    exe = executable(parsed)
    values, random = arguments(exe, parsed)
    if random:
        print(f"random inputs: {', '.join(random[:8])}{' …' if len(random) > 8 else ''}")
    inputs = list(values.values())
    with waiting("running"):
        profile = exe.profile(*inputs, repeat=parsed.repeat)
    print(profile)
    if output is None:
        return 0
    title = parsed.title or Path(parsed.program).stem
    with waiting("measuring the machine's peak performance"):
        measurement = exe.measure(*inputs, program=title, runs=parsed.repeat)
    if output.suffix == ".json":
        measurement.save(output)
        print(f"{output}: the measurement; `relay-explorer explore {output}` shows it")
        return 0
    from ..explorer import explore

    explorer = explore(measurement, "lowering", title=title, name=f"{plain(title)}-run")
    print(f"{explorer.save(output)}: {explorer.view.summary}")
    return 0
