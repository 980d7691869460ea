"""Requests of the page for a view: from JSON to the arguments of `relay-explorer explore`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...views.registry import ViewKind, views
from .documents import Document, Documents, RefusedError

MAX_TEXT = 20_000  # characters of an option
#: The options of views that the page offers, with what they are called and an example.
LABELS = {
    "passes": ("passes", "SimplifyInference, FuseOps(max_depth=4)"),
    "kernel": ("kernel, by name or number", "0"),
    "measure": ("measure on this machine", ""),
    "scheme": ("quantization scheme", "per_channel_asymmetric"),
    "args": ("arguments of @main, one a line", "5"),
}
FLAGS = {
    "passes": "--passes",
    "kernel": "--kernel",
    "measure": "--measure",
    "scheme": "--scheme",
    "args": "--arg",
}
IMPORT = {"shape": "--shape", "dtype": "--dtype"}


def offered() -> list[dict[str, Any]]:
    """Return the views, in the registry's order, with their options, for the page."""
    return [{"name": kind.name, "help": kind.help, "options": _options(kind)} for kind in views().values()]


def _options(kind: ViewKind) -> list[dict[str, str]]:
    return [
        {
            "name": option.name,
            "label": LABELS[option.name][0],
            "example": LABELS[option.name][1],
            "type": "flag" if option.name == "measure" else "lines" if option.name == "args" else "text",
        }
        for option in kind.options
        if option.name in LABELS
    ]


def arguments(request: Mapping[str, Any], documents: Documents) -> tuple[Document, list[str]]:
    """Return the document of a request, and the arguments that make its view. Every value is a part of the
    argument that names it, so none can pass for another option.
    """
    document = documents.get(_number(request.get("document")))
    against = request.get("against")
    result = [f"--title={_text(request.get('title') or document.name)}"]
    options = request.get("options")
    options = options if isinstance(options, dict) else {}
    for name, flag in IMPORT.items():
        result += [f"{flag}={line}" for line in _lines(options.get(name))]
    own = f"./{document.path.name}"
    if against is not None:
        documents.snapshot(document)
        return document, [_other(against, document, documents), own, *result[1:]]
    view = request.get("view")
    kind = views().get(view) if isinstance(view, str) else None
    if kind is None:
        raise RefusedError(400, "there is no such view")
    documents.snapshot(document)
    result.append(f"--view={kind.name}")
    for option in kind.option_names():
        value = options.get(option)
        if option not in FLAGS or not value:
            continue
        if option == "measure":
            result.append(FLAGS[option])
        elif option == "args":
            result += [f"{FLAGS[option]}={line}" for line in _lines(value)]
        else:
            result.append(f"{FLAGS[option]}={_text(value)}")
    return document, [own, *result]


def _other(against: object, document: Document, documents: Documents) -> str:
    """Return the path of the program to compare with: another document, or its previous version."""
    if against == "previous":
        if len(document.snapshots) < 2:
            raise RefusedError(409, "there is no other version of this file yet: change it, and compare then")
        return str(document.snapshots[-2])
    return str(documents.get(_number(against)).path)


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise RefusedError(400, "a file is named by its number")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT or "\0" in value:
        raise RefusedError(400, "an option is a text")
    return value.encode("utf-8", "replace").decode()


def _lines(value: object) -> list[str]:
    return [line.strip() for line in _text(value or "").splitlines() if line.strip()]
