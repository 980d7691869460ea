"""Load the program that a command works on: a model's file, Relay text, or a model of the package."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple
from zipfile import is_zipfile

from ..frontends import files
from ..ir.errors import RelayError
from ..ir.module import IRModule
from .progress import waiting


class Program(NamedTuple):
    """A program: its module, the values of its weights by name, its name, and the format of its file."""

    mod: IRModule
    params: Mapping[str, Any]
    name: str
    format: str


def load(text: str, parsed: argparse.Namespace) -> Program:
    """Load a program. A file takes precedence over a model of the package with the same name."""
    from .. import models
    from ..text import MAX_BYTES, parse

    path = Path(text)
    if text == "-":
        return Program(parse(sys.stdin.buffer.read(MAX_BYTES + 1), "<stdin>"), {}, "program", files.RELAY)
    shapes, dtypes = shapes_of(parsed.shape), dtypes_of(parsed.dtype)
    if path.is_file() or path.is_dir():
        kind = files.recognized(path)
        if kind not in files.MODELS:
            raise RelayError(f"`{text}` is a {kind}", help=_uses(kind, text))
        if kind == files.RELAY and (shapes or dtypes):
            raise RelayError(
                "--shape and --dtype apply only to imported models: a Relay program declares its types"
            )
        with waiting(f"importing {path.name}"):
            opened = files.open_model(text, shapes, dtypes)
        return Program(opened.mod, opened.params, path.stem, opened.format)
    if text in models.names():
        return Program(models.load(text), {}, text, "model of the package")
    if path.suffix or len(path.parts) > 1:
        raise RelayError(f"there is no file `{text}`")
    raise RelayError(
        f"there is neither a file nor a model called `{text}`",
        help=[f"the models are {', '.join(models.names())}"],
    )


def _uses(kind: str, text: str) -> list[str]:
    """Return the commands for a file that is no model."""
    if kind == files.MEASUREMENT:
        return [f"show it: relay-explorer explore {quote(text)}"]
    uses = [f"run it: relay-explorer run {quote(text)}"]
    if is_zipfile(text):  # a library does not record the times of its kernels
        uses.append(f"profile it: relay-explorer profile {quote(text)}")
    return uses


def kind_of(text: str) -> str:
    """Return the format of a file, or "" if there is no such file."""
    path = Path(text)
    return files.recognized(path) if text != "-" and path.is_file() else ""


def plain(stem: str) -> str:
    """Return a name that is safe for a file and for addresses."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-") or "program"


def shapes_of(texts: Sequence[str]) -> dict[str, list[int | str]]:
    """Return the shapes that `--shape INPUT=1,3,224,224` gives."""
    shapes: dict[str, list[int | str]] = {}
    for text in texts:
        name, equals, dims = text.rpartition("=")
        if not equals or not name:
            raise RelayError(
                f"--shape {text} does not name an input", help=["for example --shape input=1,3,224,224"]
            )
        shapes[name] = [_dim(dim.strip(), text) for dim in dims.strip("()[] ").split(",") if dim.strip()]
    return shapes


def _dim(text: str, whole: str) -> int | str:
    if text.isdecimal():
        return int(text)
    if text == "?" or text.isidentifier():
        return text
    raise RelayError(
        f"{text!r} in --shape {whole} is not a dimension",
        help=["a dimension is a number, a name that stands for any size, or `?`"],
    )


def dtypes_of(texts: Sequence[str]) -> str | dict[str, str] | None:
    """Return the element types that `--dtype` gives: of all inputs, or by name."""
    by_name = {}
    for text in texts:
        name, equals, dtype = text.rpartition("=")
        if not equals:
            if len(texts) > 1:
                raise RelayError(
                    f"--dtype {text} without the name of an input applies to all inputs, so it cannot be "
                    "combined with another --dtype",
                    help=["name the input, for example --dtype ids=int64"],
                )
            return dtype
        by_name[name] = dtype
    return by_name or None
