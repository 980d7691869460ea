"""The command `serve`: a local page that opens programs and models, and follows their files."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from typing import Any

from .parsers import add_command


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "serve",
        "open programs and models in a local page, which follows their files",
        """\
  relay-explorer serve                          a page on which files are dropped
  relay-explorer serve model.onnx               show a model, and again whenever the file changes
  relay-explorer serve models/ --port 8000      choose among the models of a folder
  relay-explorer serve net.relay --no-open      print the address only

The page is on 127.0.0.1, and its address contains a token: it answers this machine only, and sends nothing
anywhere. Ctrl-C stops it.
""",
        _serve,
    )
    parser.add_argument(
        "files", metavar="FILE|FOLDER", nargs="*", help="files to open, and folders whose models are listed"
    )
    parser.add_argument(
        "--port", type=_port, default=0, metavar="N", help="the port of the page (default: a free one)"
    )
    parser.add_argument(
        "--open",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="open the page in the browser (default: yes)",
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=600,
        metavar="SECONDS",
        help="the time that a view may take (default: 600)",
    )
    parser.add_argument(
        "--memory",
        type=_gigabytes,
        default=0,
        metavar="GB",
        help="the memory that a view may take, 1 GB or more (default: all of this machine)",
    )


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number < 1 << 16:
        raise argparse.ArgumentTypeError("a port is a number from 0 to 65535")
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not 1 <= number <= 1e6:
        raise argparse.ArgumentTypeError("the time is a number of seconds from 1 to 1,000,000")
    return number


def _gigabytes(text: str) -> int:
    number = float(text)
    if not 1 <= number <= 1e6:
        raise argparse.ArgumentTypeError("the memory is a number of gigabytes from 1 to 1,000,000")
    return int(number * (1 << 30))


def _serve(parsed: argparse.Namespace) -> int:
    from ..widgets.server import serve

    paths = [Path(text) for text in parsed.files]
    opened = webbrowser.open if parsed.open else None
    return serve(paths, parsed.port, opened, parsed.timeout, parsed.memory)
