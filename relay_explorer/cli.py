"""The command `relay-explorer`: explorers from a shell."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._project import VERSION
from .ir.errors import RelayError
from .ir.show import counted

if TYPE_CHECKING:
    from .explorer import Explorer
    from .ir.module import IRModule


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 0, 1 for a program or file that cannot be used, 2 for a wrong
    command line.
    """
    parser = _parser()
    parsed = parser.parse_args(arguments)
    try:
        if parsed.command == "models":
            return _models()
        if parsed.command == "explore":
            return _explore(parsed)
        if parsed.command == "passes":
            return _passes()
        if parsed.command == "opt":
            return _opt(parsed)
    except RelayError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output, such as `head`, has closed it
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # else the interpreter would complain at its end
        return 1
    except OSError as error:
        print(f"error: {error.filename or parsed.program}: {error.strerror}", file=sys.stderr)
        return 1
    parser.print_help()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="relay-explorer", description="Watch a deep-learning compiler work."
    )
    parser.add_argument("--version", action="version", version=f"relay-explorer {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser("models", help="list the models that `explore` knows")
    _add_opt(commands)
    explore = commands.add_parser("explore", help="write an explorer of a program as one HTML file")
    explore.add_argument(
        "program",
        metavar="PROGRAM|MODEL",
        help="a file in Relay's text format, `-` for the standard input, a model's name, or a saved "
        "measurement (a file that ends in .json)",
    )
    from .views.registry import views

    kinds = views()
    explore.add_argument(
        "--view",
        choices=tuple(kinds),
        help="; ".join(f"{kind.name}: {kind.help}" for kind in kinds.values())
        + " (default: ir; of a measurement: lowering)",
    )
    explore.add_argument(
        "--target",
        help="the target of the kernels, with --view lowering: cpu, cuda, arm64, a board, or TVM's "
        "dictionary as JSON (default: cpu, this machine)",
    )
    explore.add_argument(
        "--kernel",
        action="append",
        default=[],
        metavar="NAME|NUMBER",
        help="the kernel that --view lowering shows (default: the one with the most operations); of a "
        "run, one that the page shows at every level (may be repeated)",
    )
    explore.add_argument(
        "--measure",
        action="store_true",
        help="with --view lowering: run the program here and time its kernels; with --kernel too, time that "
        "kernel after each step of its schedule",
    )
    explore.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="VALUE",
        help="an argument of @main, for views that run it (once for each parameter): a number or "
        "[[1, 2], [3, 4]] for a tensor, otherwise a Relay expression",
    )
    explore.add_argument(
        "--passes",
        metavar="PIPELINE",
        help='the passes of --view pipeline: "SimplifyInference, FuseOps(max_depth=4)"',
    )
    explore.add_argument(
        "--against",
        metavar="PIPELINE",
        help="a second pipeline, which --view pipeline shows beside the first",
    )
    explore.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the file to write, `-` for the standard output (default: PROGRAM-VIEW.html, or .json)",
    )
    explore.add_argument("--json", action="store_true", help="write the view's data instead of a page")
    explore.add_argument("--title", help="the heading (default: the file's or the model's name)")
    return parser


def _add_opt(commands: Any) -> None:
    """Add the commands `passes` and `opt`."""
    commands.add_parser("passes", help="list the passes that `opt` knows, with their options")
    opt = commands.add_parser(
        "opt",
        help="run passes on a program, and print the result",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="""\
examples:
  relay-explorer opt lenet --passes "SimplifyInference, FuseOps(max_depth=4)"
  relay-explorer opt program.relay --passes "ConvertLayout({'nn.conv2d': ['NHWC', 'default']})" -o out.relay
  relay-explorer opt mlp --passes ToANormalForm | relay-explorer explore - --view memory

`relay-explorer passes` lists the passes. Every pass that is named runs, whatever its optimization level.
""",
    )
    opt.add_argument(
        "program",
        metavar="PROGRAM|MODEL",
        help="a file in Relay's text format, `-` for the standard input, or a model's name",
    )
    opt.add_argument(
        "--passes",
        required=True,
        metavar="PIPELINE",
        help="names of passes with commas between them, each with its options in parentheses",
    )
    opt.add_argument(
        "-o", "--output", metavar="FILE", help="the file to write (default: the standard output)"
    )


def _passes() -> int:
    from .transform import list_passes

    for entry in list_passes():
        print(f"{entry.usage}\n    {entry.summary}")
    return 0


def _opt(parsed: argparse.Namespace) -> int:
    from .transform import PassContext, parse_pipeline

    pipeline = parse_pipeline(parsed.passes)
    module, _ = _load(parsed.program)
    with PassContext(opt_level=4):
        text = pipeline(module).astext()
    if parsed.output in (None, "-"):
        sys.stdout.write(text.rstrip("\n") + "\n")
    else:
        Path(parsed.output).write_text(text.rstrip("\n") + "\n", "utf-8")
    return 0


def _models() -> int:
    from . import models

    width = max(map(len, models.names()))
    for name in models.names():
        print(f"{name:<{width}}  {models.MODELS[name].description}")
    return 0


def _explore(parsed: argparse.Namespace) -> int:
    from .explorer import explore

    measured = parsed.program.endswith(".json")
    view = parsed.view or ("lowering" if measured else "ir")
    if measured and view != "lowering":
        raise RelayError("a measurement is shown as a run", help=["leave out --view"])
    _check_options(view, parsed)
    if measured:
        from .lower.profiling.measurement import Measurement

        x: Any = Measurement.load(parsed.program)
        stem = Path(parsed.program).stem
    else:
        x, stem = _load(parsed.program)
    options: dict[str, Any] = {"measure": parsed.measure, "kernel": _kernels(parsed.kernel)}
    for name in ("passes", "against"):
        if getattr(parsed, name):
            options[name] = getattr(parsed, name)
    if parsed.arg:
        options["args"] = _arguments(x, parsed.arg)
    if view == "lowering" and not measured:
        from .lower.build import build

        x = build(x, parsed.target or "cpu")
    explorer = explore(x, view, title=parsed.title or stem, name=f"{_plain(stem)}-{view}", **options)
    if parsed.output == "-":
        sys.stdout.write(explorer.to_json() + "\n" if parsed.json else explorer.to_html())
        return 0
    ending = "json" if parsed.json else "html"
    target = _write(explorer, Path(parsed.output or f"{_plain(stem)}-{view}.{ending}"), parsed.json)
    print(f"{target}: {explorer.view.summary}")
    return 0


def _check_options(view: str, parsed: argparse.Namespace) -> None:
    """Refuse an option that the view does not have, before the program is read."""
    from .views.registry import views

    every = views()
    for flag, option in (
        ("kernel", "kernel"),
        ("measure", "measure"),
        ("target", "kernel"),
        ("arg", "args"),
        ("passes", "passes"),
        ("against", "against"),
    ):
        if getattr(parsed, flag) and option not in every[view].option_names():
            having = [kind.name for kind in every.values() if option in kind.option_names()]
            raise RelayError(
                f"the view `{view}` has no option --{flag}", help=[f"views that have it: {', '.join(having)}"]
            )


def _kernels(names: Sequence[str]) -> Any:
    """Return one kernel, a list of kernels, or None; a text of digits is a kernel's index."""
    kernels = [int(name) if name.isdigit() else name for name in names]
    return None if not kernels else kernels[0] if len(kernels) == 1 else kernels


def _arguments(module: IRModule, texts: Sequence[str]) -> list[object]:
    from .views.evaluation.rerun import argument

    params = module["main"].params
    if len(texts) != len(params):
        raise RelayError(f"`@main` expects {counted(len(params), 'argument')}, got {len(texts)} --arg")
    return [argument(param, text, module) for param, text in zip(params, texts)]


def _write(explorer: Explorer, target: Path, json: bool) -> Path:
    if not json:
        return explorer.save(target)
    target.write_text(explorer.to_json() + "\n", "utf-8")
    return target


def _plain(stem: str) -> str:
    """Return a name that is safe for a file and for addresses."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-") or "program"


def _load(program: str) -> tuple[IRModule, str]:
    """Load a module; return it with its name. A file takes precedence over a model of the same name."""
    from . import models
    from .text import MAX_BYTES, parse

    path = Path(program)
    if program == "-":
        return parse(sys.stdin.buffer.read(MAX_BYTES + 1), "<stdin>"), "program"
    if path.is_file():
        with path.open("rb") as file:
            return parse(file.read(MAX_BYTES + 1), str(path)), path.stem
    if program in models.names():
        return models.load(program), program
    if path.is_dir():
        raise RelayError(f"`{program}` is a folder", help=["give a file in Relay's text format"])
    if path.suffix or len(path.parts) > 1:
        raise RelayError(f"there is no file `{program}`")
    raise RelayError(
        f"there is neither a file nor a model called `{program}`",
        help=[f"the models are {', '.join(models.names())}"],
    )
