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
        help="stop making a view after this time (default: 600)",
    )
    parser.add_argument(
        "--memory",
        type=_gigabytes,
        default=0,
        metavar="GB",
        help="the most memory that making a view may use, at least 1 (default: as much as this machine has)",
    )


def _port(text: str) -> int:
    return int(_number(text, "a port", 0, (1 << 16) - 1))


def _seconds(text: str) -> float:
    return _number(text, "a time in seconds", 1, 1e6)


def _gigabytes(text: str) -> int:
    return int(_number(text, "an amount of memory in gigabytes", 1, 1e6) * (1 << 30))


def _number(text: str, what: str, least: float, most: float) -> float:
    """Return the number that an option gives; a text that is no number is refused like one out of range."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"`{text}` is not {what} from {least:,} to {most:,.0f}")
    return number


def _serve(parsed: argparse.Namespace) -> int:
    from ..widgets.server import serve

    paths = [Path(text) for text in parsed.files]
    opened = webbrowser.open if parsed.open else None
    return serve(paths, parsed.port, opened, parsed.timeout, parsed.memory)
