"""The command `relay-explorer`: use the explorers, the compiler and the importers from a shell.

Each command is a module that adds its parser with `add(commands)` and sets `run` on it, a function from the
parsed arguments to the exit status.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from .._project import VERSION
from ..ir.errors import RelayError

INTERRUPTED = 130  # the exit status after Ctrl-C, as shells have it


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 0; 1 for a program or file that cannot be used; 2 for a wrong
    command line; 130 if it was interrupted.
    """
    parser = make_parser()
    parsed = parser.parse_args(arguments)
    if parsed.command is None:
        parser.print_help()
        return 0
    try:
        return int(parsed.run(parsed))
    except RelayError as error:
        print(error, file=sys.stderr)
    except ImportError as error:  # of a package that an importer needs: the message has the command
        print(f"error: {error}", file=sys.stderr)
    except BrokenPipeError:  # the reader of our output, such as `head`, has closed it
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # else the interpreter would complain at its end
    except OSError as error:
        named = error.filename or getattr(parsed, "program", None) or parsed.command
        print(f"error: {named}: {error.strerror or error}", file=sys.stderr)
    except KeyboardInterrupt:
        return INTERRUPTED
    return 1


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, with all commands."""
    from . import compiling, completion, exploring, optimizing, profiling, running, serving

    parser = argparse.ArgumentParser(
        prog="relay-explorer",
        description="Watch a deep-learning compiler work, on programs in Relay's text format and on models "
        "of ONNX, PyTorch, TensorFlow, Keras, TFLite and MXNet.",
        epilog="""\
examples:
  relay-explorer explore model.onnx                   write a page that shows the program
  relay-explorer serve model.onnx                     show it in a local page, also when it changes
  relay-explorer run model.onnx --input photo.npz     compile it, run it, print the top classes
  relay-explorer compile model.onnx -o model.so       write a library and its C header
  relay-explorer profile model.onnx -o run.html       time its kernels

`relay-explorer COMMAND --help` describes a command. The format of a file is recognized by its contents.
""",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"relay-explorer {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for module in (exploring, serving, running, compiling, profiling, optimizing, completion):
        module.add(commands)
    return parser
