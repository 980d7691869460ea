"""The list of all passes, with their options, for the command line and for readers."""

from __future__ import annotations

import inspect
from typing import NamedTuple

from . import registry
from .passes import signature


class CatalogueEntry(NamedTuple):
    """A pass as it is written in a pipeline, with its defaults, and the first sentence of its docstring."""

    usage: str
    summary: str


def list_passes() -> list[CatalogueEntry]:
    """List the passes that pipelines written as text may name."""
    entries = []
    for name in registry.names():
        entry = registry.required(name)
        if entry is not None:
            takes = ", ".join(_option(p) for p in signature(entry).parameters.values())
            entries.append(CatalogueEntry(f"{name}({takes})" if takes else name, _summary(entry)))
    return entries


def _option(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty:
        return parameter.name
    return f"{parameter.name}={parameter.default!r}"


def _summary(entry: registry.Entry) -> str:
    """Return the first sentence of a docstring, on one line."""
    words = " ".join((inspect.getdoc(entry) or "").split())
    sentence, stop, _ = words.partition(". ")
    return sentence.removesuffix(":") + stop.strip()
