"""Find out where a node comes from: the path of its modules, and the line of the user's code.

Exporters write them in several ways. PyTorch's older exporter puts the module path into the node's name
(`/encoder/layer.0/attention/MatMul`), as Keras and TensorFlow do (`model/dense/MatMul`); its newer one writes
metadata (`namespace`, `pkg.torch.onnx.name_scopes`, `pkg.torch.onnx.stack_trace`).
"""

from __future__ import annotations

import ast
import re
from typing import Any as Anything

from .types import plain

_LONGEST = 300  # characters of a name that are read
_LONGEST_TRACE = 100_000  # characters of a stack trace that are read
_LIBRARY = re.compile(r"[/\\](?:site|dist)-packages[/\\]")
_FRAME = re.compile(r'File "([^"\n]{1,300})", line (\d{1,7})')


def of(proto: Anything) -> tuple[tuple[str, ...], str]:
    """Return the scope and the location of a `NodeProto`."""
    metadata = {plain(e.key): plain(e.value) for e in proto.metadata_props} if proto.metadata_props else {}
    scope: tuple[str, ...] = ()
    if metadata:
        scope = _listed(metadata.get("pkg.torch.onnx.name_scopes", "")) or _namespace(
            metadata.get("namespace", "")
        )
    if not scope:
        scope = _from_name(proto.name)
    trace = metadata.get("pkg.torch.onnx.stack_trace", "") or plain(proto.doc_string)
    return scope, _last_frame(trace) if trace else ""


def _from_name(name: str) -> tuple[str, ...]:
    """Return the directories of a name such as `/encoder/layer.0/MatMul`."""
    if "/" not in name or len(name) > _LONGEST:
        return ()
    return _flat(name.strip("/").split("/")[:-1])


def _flat(parts: list[str]) -> tuple[str, ...]:
    """Split `layer.0` into two levels, and drop one that only repeats the one before (`layer/layer.0`)."""
    path: list[str] = []
    for part in parts:
        names = [name for name in part.split(".") if name]
        shared = 0
        for length in range(min(len(names) - 1, len(path)), 0, -1):
            if path[-length:] == names[:length]:
                shared = length
                break
        path += names[shared:]
    return tuple(path)


def _listed(text: str) -> tuple[str, ...]:
    """Read PyTorch's list of nested scopes: `['', 'encoder', 'encoder.layer.0', 'linear']`.

    The last is the operator itself.
    """
    if not text or len(text) > 10 * _LONGEST:
        return ()
    try:
        names = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ()
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return ()
    modules = [name for name in names[:-1] if name]
    return tuple([part for part in modules[-1].split(".") if part]) if modules else ()


def _namespace(text: str) -> tuple[str, ...]:
    """Read PyTorch's `: Model/encoder: Encoder/encoder.layer.0: Layer/linear: aten.linear.default`."""
    if not text or len(text) > 10 * _LONGEST:
        return ()
    modules = [name for part in text.split("/")[:-1] if (name := part.partition(":")[0].strip())]
    return tuple([part for part in modules[-1].split(".") if part]) if modules else ()


def _last_frame(text: str) -> str:
    """Return `file.py:17` for the innermost frame of a Python stack trace that is the user's code, not
    PyTorch's; empty if the text is no trace.
    """
    frames: list[tuple[str, str]] = _FRAME.findall(text[-_LONGEST_TRACE:])
    if not frames:
        return ""
    users = [frame for frame in frames if not _LIBRARY.search(frame[0])]
    file, line = (users or frames)[-1]
    return f"{file.replace(chr(92), '/').rsplit('/', 1)[-1]}:{line}"
