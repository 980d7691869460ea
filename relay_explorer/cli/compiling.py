"""The command `compile`: write a compiled program to a file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..ir.errors import RelayError
from .parsers import PROGRAM_HELP, add_build_options, add_command, add_import_options
from .programs import load, plain
from .progress import on_terminal

LIBRARY, ARCHIVE = ".so", ".rx"


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "compile",
        "compile a program to a library, or to a file that `run` runs",
        """\
  relay-explorer compile model.onnx -o model.so             a library and its C header, model.h
  relay-explorer compile model.onnx -o model.rx             an archive, for `relay-explorer run`
  relay-explorer compile model.onnx -o model.so --target arm64
  relay-explorer compile model.pt -o model.rx --shape x=1,3,224,224
""",
        _compile,
    )
    parser.add_argument("program", metavar="FILE", help=PROGRAM_HELP)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the file to write: .so for a library, compiled ahead of time, or .rx (default: FILE.so with "
        "--executor aot, otherwise FILE.rx)",
    )
    parser.add_argument("--name", help="the prefix of the names in the C interface (default: FILE's name)")
    add_build_options(
        parser,
        ("graph", "vm", "aot"),
        default="aot for a .so, otherwise graph, or vm if the program needs it",
    )
    add_import_options(parser)


def _compile(parsed: argparse.Namespace) -> int:
    from ..lower.build import build
    from ..lower.link.native import NativeExecutable

    executor, output = _chosen(parsed)
    program = load(parsed.program, parsed)
    path = Path(output or f"{plain(program.name)}{LIBRARY if executor == 'aot' else ARCHIVE}")
    if not path.parent.is_dir():
        raise RelayError(f"there is no folder `{path.parent}` to write to")
    name = plain(parsed.name or program.name).replace("-", "_")
    exe = build(
        program.mod, parsed.target, program.params or None, parsed.opt_level, executor=executor,
        name=name if not name[0].isdigit() else f"m_{name}", quiet=not on_terminal(),
    )  # fmt: skip
    exe.save(path)
    kernels = f"{len(exe.kernels)} kernel{'' if len(exe.kernels) == 1 else 's'}"
    print(
        f"{path}: {path.stat().st_size:,} bytes, {kernels} for {exe.target}, compiled in {exe.seconds:.1f} s"
    )
    if isinstance(exe, NativeExecutable):
        header = path.with_suffix(".h")
        header.write_text(exe.header, "utf-8")
        print(f"{header}: its C header, with {exe.name}_run")
    return 0


def _chosen(parsed: argparse.Namespace) -> tuple[str | None, str | None]:
    """Return the executor and the output; if one is not given, derive it from the other."""
    executor, output = parsed.executor, parsed.output
    suffix = Path(output).suffix if output else ""
    if suffix == LIBRARY:
        if executor not in (None, "aot"):
            raise RelayError(
                f"a library (.so) is compiled ahead of time, not for the executor `{executor}`",
                help=["leave out --executor", f"or write an archive: -o {Path(output).with_suffix(ARCHIVE)}"],
            )
        return "aot", output
    if suffix == ARCHIVE and executor == "aot":
        raise RelayError(
            "a program that is compiled ahead of time is a library (.so)",
            help=[f"write a library: -o {Path(output).with_suffix(LIBRARY)}"],
        )
    if output and suffix not in (LIBRARY, ARCHIVE):
        raise RelayError(
            f"the output `{output}` is neither a library (.so) nor an archive (.rx)",
            help=["choose one by the suffix, for example -o model.so"],
        )
    return executor, output
