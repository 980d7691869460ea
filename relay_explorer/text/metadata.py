"""Read and write the `#[metadata]` section at the end of a program, to which `meta[relay.Constant][0]`
refers.

It is JSON. Ours lists, for each kind, one readable entry per constant:

    #[metadata]
    {
      "relay.Constant": [
        {"shape": [2], "dtype": "float32", "values": [0.5, 1.5]},
        {"shape": [512, 512], "dtype": "float32", "base64": "AAAA…"}
      ]
    }

`values` are the elements in row-major order; `base64` encodes their bytes, little-endian. TVM's own section
(a graph of nodes with `b64ndarrays`) is also read, for its constants and named sizes.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import struct
from collections.abc import Mapping
from typing import Any

from ..ir.expr import Constant
from ..ir.ndarray import NDArray, itemsize
from ..ir.size import SizeVar
from .literals import SUFFIXES

CONSTANT = "relay.Constant"
ARRAY = "runtime.NDArray"
_DTYPES = ("bool", *sorted(set(SUFFIXES.values())))
_MAX_LISTED = 64  # in elements; larger constants are written as base64
_TVM_ARRAY = 0xDD5E40F096B4A13F  # the magic number that begins a tensor in TVM's files


def write(tables: Mapping[str, list[object]]) -> str:
    """Write the metadata section of a printed program, including its heading."""
    kinds = []
    for kind, entries in tables.items():
        lines = ",\n".join(f"    {json.dumps(_entry(e))}" for e in entries)
        kinds.append(f"  {json.dumps(kind)}: [\n{lines}\n  ]")
    return "#[metadata]\n{\n" + ",\n".join(kinds) + "\n}\n"


def _entry(value: object) -> object:
    data = value.data if isinstance(value, Constant) else value
    if not isinstance(data, NDArray):
        return None  # parsing the entry reports that its data was not written
    head: dict[str, object] = {"shape": list(data.shape), "dtype": data.dtype}
    count = math.prod(data.shape)
    if count <= _MAX_LISTED and data.dtype != "bfloat16":
        values = data.values()
        if all(isinstance(v, (bool, int)) or math.isfinite(v) for v in values) and _packs_to(values, data):
            return {**head, "values": values}
    return {**head, "base64": base64.b64encode(data.data).decode("ascii")}


def _packs_to(values: list[Any], data: NDArray) -> bool:
    return NDArray.from_list(values, data.shape, data.dtype).data == data.data


class MetaTable:
    """The entries to which a program may refer: those passed to the parser, then those of its own section."""

    def __init__(self, tables: Mapping[str, Any] | None, section: str | None) -> None:
        self._tables = tables or {}
        self._section = section
        self._read: dict[str, list[object]] | None = None
        self._objects: dict[tuple[str, int], object] = {}

    def get(self, kind: str, index: int) -> object:
        """Return entry `index` of a kind, the same object each time. Raise a ValueError with a readable
        message where there is none.
        """
        key = (kind, index)
        if key not in self._objects:
            self._objects[key] = self._find(kind, index)
        return self._objects[key]

    def _find(self, kind: str, index: int) -> object:
        entries = self._tables.get(kind)
        if entries is None:
            if self._read is None:
                self._read = read(self._section) if self._section is not None else {}
            entries = self._read.get(kind)
        if entries is None:
            raise ValueError(f"the program has no `#[metadata]` section with `{kind}`")
        if not 0 <= index < len(entries):
            many = f"{len(entries)} entr{'y' if len(entries) == 1 else 'ies'}"
            raise ValueError(f"`{kind}` has {many}, so there is no number {index}")
        value = entries[index]
        if value is None:
            raise ValueError(
                f"entry {index} of `{kind}` is not a tensor, but only tensors can be written and read"
            )
        if kind == CONSTANT and not isinstance(value, Constant):
            return Constant(value)
        return value


def read(section: str) -> dict[str, list[object]]:
    """Read the tables of a section, ours or TVM's. Raise a ValueError with a readable message for any other
    text.
    """
    try:
        content = json.loads(section)
    except (ValueError, RecursionError) as error:
        where = f" (see its line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise ValueError(f"the `#[metadata]` section is not JSON{where}") from None
    if not isinstance(content, dict):
        raise ValueError("the `#[metadata]` section must be a JSON object")
    if "nodes" in content and "root" in content:
        return _read_tvm(content)
    tables: dict[str, list[object]] = {}
    for kind, entries in content.items():
        if not isinstance(entries, list):
            raise ValueError(f"`{kind}` in the `#[metadata]` section must be a list")
        tables[kind] = [
            None if e is None else _array(e, f"entry {k} of `{kind}`") for k, e in enumerate(entries)
        ]
    return tables


def _array(entry: object, what: str) -> NDArray:
    """Read an entry of our own section as a tensor."""
    if (
        not isinstance(entry, dict)
        or not isinstance(entry.get("shape"), list)
        or not isinstance(entry.get("dtype"), str)
    ):
        raise ValueError(f'{what} must have a "shape" and a "dtype"')
    shape, dtype = entry["shape"], entry["dtype"]
    if not all(type(d) is int and d >= 0 for d in shape):
        raise ValueError(f"{what} has the shape {shape!r:.60}, which is not a list of dimensions")
    if dtype not in _DTYPES:
        raise ValueError(f"{what} has the element type `{dtype[:40]}`; supported are {', '.join(_DTYPES)}")
    try:
        if "values" in entry:
            if len(entry["values"]) != math.prod(shape):
                raise ValueError(f"the shape is {tuple(shape)}, the number of values {len(entry['values'])}")
            if not all(isinstance(v, (bool, int, float)) for v in entry["values"]):
                raise TypeError
            return NDArray.from_list(entry["values"], tuple(shape), dtype)
        return NDArray(tuple(shape), dtype, base64.b64decode(entry["base64"], validate=True))
    except KeyError:
        raise ValueError(f'{what} must have "values" or "base64"') from None
    except (TypeError, OverflowError, binascii.Error):
        raise ValueError(f"{what} does not hold {dtype} numbers") from None
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None


def _read_tvm(content: dict[str, Any]) -> dict[str, list[object]]:
    """Read the constants of a section that TVM's `SaveJSON` wrote: `root` maps kinds to arrays of nodes, and
    nodes refer to tensors by index.
    """
    try:
        nodes = content["nodes"]
        arrays = [_tvm_array(base64.b64decode(blob)) for blob in content.get("b64ndarrays", ())]
        root = nodes[int(content["root"])]
        tables: dict[str, list[object]] = {}
        for kind, at in zip(root.get("keys", ()), root["data"]):
            members = [nodes[int(k)] for k in nodes[int(at)].get("data", ())]
            tables[kind] = [_tvm_node(node, arrays, nodes) for node in members]
        return tables
    except (KeyError, IndexError, TypeError, AttributeError, struct.error, binascii.Error):
        raise ValueError("the `#[metadata]` section is not as TVM writes it") from None


def _tvm_node(node: dict[str, Any], arrays: list[NDArray], nodes: list[dict[str, Any]]) -> object:
    attrs = node.get("attrs", {})
    if node["type_key"] == CONSTANT:
        return arrays[int(attrs["data"])]
    if node["type_key"] in ("tir.SizeVar", "tir.Var", "SizeVar", "Variable"):
        name = str(attrs["name"])
        if name.isdigit():  # the index of the node that holds the text
            name = str(nodes[int(name)].get("repr_str", ""))
        return SizeVar(name, str(attrs.get("dtype", "int32")))
    return None


def _tvm_array(blob: bytes) -> NDArray:
    """Read a tensor in TVM's format: magic number, reserved, device (two int32), rank, type (code, bits,
    lanes), extents, byte count, bytes.
    """
    mark, _, _, _, rank, code, bits, lanes = struct.unpack_from("<QQiiiBBH", blob)
    if mark != _TVM_ARRAY or not 0 <= rank <= 64:
        raise ValueError("a tensor in the `#[metadata]` section does not begin as TVM's do")
    at = struct.calcsize("<QQiiiBBH")
    shape = struct.unpack_from(f"<{rank}q", blob, at)
    kind = {0: "int", 1: "uint", 2: "float", 4: "bfloat"}.get(code)
    if kind is None or lanes != 1:
        raise ValueError(
            f"a tensor in the `#[metadata]` section has an unknown element type (code {code}, {lanes} lanes)"
        )
    dtype = "bool" if (kind, bits) == ("uint", 1) else f"{kind}{bits}"
    if dtype not in _DTYPES:
        raise ValueError(f"a tensor in the `#[metadata]` section has the unsupported element type {dtype}")
    (size,) = struct.unpack_from("<q", blob, at + 8 * rank)
    start = at + 8 * rank + 8
    if size != math.prod(shape) * itemsize(dtype):
        raise ValueError("a tensor in the `#[metadata]` section has the wrong size")
    return NDArray(tuple(shape), dtype, blob[start : start + size])
