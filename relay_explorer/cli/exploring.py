"""The command `explore`: write an explorer as one HTML file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..frontends import files
from ..ir.errors import RelayError
from ..ir.show import counted
from .parsers import PROGRAM_HELP, TARGETS, add_command, add_import_options, add_input_options
from .programs import Program, kind_of, load, plain, shapes_of
from .progress import waiting

if TYPE_CHECKING:
    from ..explorer import Explorer
    from ..ir.module import IRModule

MAX_DIFFERENCES = 60  # lines of a difference that are printed
MAX_NAMES = 12  # of parameters, in a message


def add(commands: Any) -> None:
    """Add the command."""
    from ..views.pipeline import TYPICAL
    from ..views.registry import views

    parser = add_command(
        commands,
        "explore",
        "write an explorer of a program as one HTML file",
        """\
  relay-explorer explore model.onnx                         the program as text and graph
  relay-explorer explore model.onnx --view source           the model's nodes beside the Relay program
  relay-explorer explore model.onnx --view pipeline --passes "SimplifyInference, FuseOps"
  relay-explorer explore before.onnx after.onnx             what differs between two programs
  relay-explorer explore resnet50 --against "SimplifyInference, FoldScaleAxis"
  relay-explorer explore model.tflite --view evaluation --input x.npz
  relay-explorer explore lenet --view types -o types.html
  relay-explorer explore model.onnx --view quantize --scheme ternary --input x.npz
""",
        _explore,
    )
    parser.add_argument(
        "program", metavar="FILE", help=f"{PROGRAM_HELP}; or a measurement that `profile` wrote"
    )
    parser.add_argument(
        "others", metavar="OTHER", nargs="*", help="other versions of the program, to compare with it"
    )
    kinds = views()
    parser.add_argument(
        "--view",
        choices=tuple(kinds),
        help="; ".join(f"{kind.name}: {kind.help}" for kind in kinds.values())
        + " (default: ir; of two programs: compare; of more: pipeline; of a measurement: lowering)",
    )
    parser.add_argument(
        "--target",
        help=f"the target of the kernels, with --view lowering: {TARGETS} (default: cpu)",
    )
    parser.add_argument(
        "--kernel",
        action="append",
        default=[],
        metavar="NAME|NUMBER",
        help="the kernel that --view lowering shows (default: the one with the most operations); for a "
        "measurement, a kernel whose lowering the page includes (may be repeated)",
    )
    parser.add_argument(
        "--measure",
        action="store_true",
        help="with --view lowering or ir: run the program here and time its kernels; with --kernel too, time "
        "that kernel after each step of its schedule",
    )
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="VALUE",
        help="an argument of @main, for views that run it (once for each parameter); for a tensor a number "
        'or, in quotes, a nested list: --arg "[[1, 2], [3, 4]]"; for any other type a Relay expression, in '
        "quotes too",
    )
    add_input_options(parser)
    parser.add_argument(
        "--passes",
        metavar="PIPELINE",
        help=f'the passes of --view pipeline: "SimplifyInference, FuseOps(max_depth=4)" (default: {TYPICAL})',
    )
    parser.add_argument(
        "--against",
        metavar="FILE|PIPELINE",
        help="another program, or passes that run on this one, which --view compare (the default with this "
        "option) shows beside it; with --view pipeline, a second pipeline",
    )
    parser.add_argument(
        "--scheme",
        metavar="NAME",
        help="the quantization scheme of --view quantize (default: per_channel_asymmetric); it is calibrated "
        "with --input, otherwise with random inputs",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the file to write, `-` for the standard output (default: FILE-VIEW.html, or .json)",
    )
    parser.add_argument("--json", action="store_true", help="write the view's data instead of a page")
    parser.add_argument("--title", help="the heading (default: the file's or the model's name)")
    add_import_options(parser)


def _explore(parsed: argparse.Namespace) -> int:
    from ..explorer import explore
    from ..views.compare import is_pipeline

    if parsed.others:
        return _compare(parsed)
    measured = kind_of(parsed.program) == files.MEASUREMENT or (
        parsed.program.endswith(".json") and kind_of(parsed.program) != files.MXNET
    )
    view = parsed.view or ("lowering" if measured else "compare" if parsed.against else "ir")
    if measured and view != "lowering":
        raise RelayError(
            f"a measurement can only be shown in the view `lowering`, not in `{view}`",
            help=["leave out --view"],
        )
    _check_options(view, parsed)
    options: dict[str, Any] = {"measure": parsed.measure, "kernel": _kernels(parsed.kernel)}
    if measured:
        from ..lower.profiling.measurement import Measurement

        x: Any = Measurement.load(parsed.program)
        stem = Path(parsed.program).stem
    else:
        program = load(parsed.program, parsed)
        x, stem = program.mod, program.name
        arguments = _arguments(program, view, parsed)
        if arguments:
            options["args"] = arguments
        if view == "quantize":
            x, options["dataset"] = _quantized(program, parsed)
    for name in ("passes", "against", "scheme"):
        if getattr(parsed, name):
            options[name] = getattr(parsed, name)
    if parsed.against and view == "compare" and not is_pipeline(parsed.against):
        options["against"] = load(parsed.against, parsed).mod
    if view == "lowering" and not measured:
        from ..lower.build import build

        x = build(x, parsed.target or "cpu", program.params or None)
    with waiting(f"drawing the view {view}"):
        explorer = explore(x, view, title=parsed.title or stem, name=f"{plain(stem)}-{view}", **options)
    return _finish(explorer, f"{plain(stem)}-{view}", parsed)


def _finish(explorer: Explorer, stem: str, parsed: argparse.Namespace) -> int:
    """Write the explorer where the command line says."""
    if parsed.output == "-":
        sys.stdout.write(explorer.to_json() + "\n" if parsed.json else explorer.to_html())
        return 0
    target = Path(parsed.output or f"{stem}.{'json' if parsed.json else 'html'}")
    if parsed.json:
        target.write_text(explorer.to_json() + "\n", "utf-8")
    else:
        target = explorer.save(target)
    print(f"{target}: {explorer.view.summary}")
    return 0


def _compare(parsed: argparse.Namespace) -> int:
    """Show two versions of a program side by side, or more one after the other, and print how they differ."""
    from ..explorer import Explorer
    from ..views.compare.view import compare_view
    from ..views.comparison import comparison_view
    from .difference import report

    paths = [parsed.program, *parsed.others]
    view = "compare" if len(paths) == 2 else "pipeline"
    if parsed.view not in (None, "pipeline", view) or parsed.passes or parsed.against:
        raise RelayError(
            f"{'two' if len(paths) == 2 else 'several'} programs are shown in the view `{view}`",
            help=["leave out --view, --passes and --against"],
        )
    programs = [load(text, parsed) for text in paths]
    names = _distinct([program.name for program in programs], paths)
    modules, title = [program.mod for program in programs], parsed.title or ""
    with waiting("comparing"):
        shown = (
            compare_view(modules[0], modules[1], (names[0], names[1]), title)
            if (parsed.view or view) == "compare"
            else comparison_view(modules, title, names)
        )
    explorer = Explorer(shown, plain("-".join(names)))
    if parsed.output != "-":
        print(report(programs, names, MAX_DIFFERENCES, shown))
    return _finish(explorer, plain("-".join(names)), parsed)


def _distinct(names: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Return the programs' names, or, if two are the same, their paths."""
    return list(names) if len(set(names)) == len(names) else list(paths)


def _check_options(view: str, parsed: argparse.Namespace) -> None:
    """Refuse an option that the view does not have, before the program is read."""
    from ..views.registry import views

    every = views()
    inputs = "dataset" if "dataset" in every[view].option_names() else "args"
    for flag, option in (
        ("kernel", "kernel"),
        ("measure", "measure"),
        ("target", "kernel"),
        ("arg", "args"),
        ("input", inputs),
        ("passes", "passes"),
        ("against", "against"),
        ("scheme", "scheme"),
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


def _arguments(program: Program, view: str, parsed: argparse.Namespace) -> list[Any]:
    """Return the arguments of `@main` for a view that runs it: those of --arg, or, of a model that was
    imported, those of --input and random ones.
    """
    from ..views.registry import views
    from .inputs import main_arguments

    if parsed.arg:
        return _given(program.mod, parsed.arg)
    names = views()[view].option_names()
    runs = "args" in names and "measure" not in names  # a view that measures finds random inputs itself
    imported = program.format not in (files.RELAY, "model of the package")
    if (parsed.input and view != "quantize") or (runs and imported and "main" in program.mod):
        return main_arguments(program.mod, program.params, parsed.input, parsed.seed, shapes_of(parsed.shape))
    return []


def _quantized(program: Program, parsed: argparse.Namespace) -> tuple[object, list[dict[str, Any]] | None]:
    """Return a program with its weights, and the inputs with which its quantization is calibrated: those of
    --input, or None. Parameters of a program without weights that --input does not give are random.
    """
    from ..views.quantize.inputs import random_weights
    from .inputs import read_inputs

    params = program.params
    if not parsed.input:
        return ((program.mod, params) if params else program.mod), None
    names = [param.name_hint for param in program.mod["main"].params if param.name_hint not in params]
    inputs = read_inputs(parsed.input, names)
    if not params:
        params = random_weights(program.mod, [name for name in names if name not in inputs])
    return (program.mod, params), [inputs]


def _given(module: IRModule, texts: Sequence[str]) -> list[object]:
    from ..views.arguments import argument

    params = module["main"].params
    if len(texts) != len(params):
        names = ", ".join(f"%{param.name_hint}" for param in params[:MAX_NAMES])
        more = " …" if len(params) > MAX_NAMES else ""
        raise RelayError(
            f"`@main` expects {counted(len(params), 'argument')}, got {len(texts)} --arg",
            help=[
                f"its parameters are {names}{more}: give --arg once for each, in this order"
                if params
                else "it has no parameters: leave out --arg"
            ],
        )
    return [argument(param, text, module) for param, text in zip(params, texts)]
